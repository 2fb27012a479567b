"""Who may import what, where import-linter cannot see it: the kernel, and other packages."""

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.contracts.sources import SOURCE, texts, trees
from tests.grid import one_test

# Taken from the package's root: the version. All else is imported from its package.
FROM_ROOT = {"__version__"}
# duramen._kernel picks one of the compiled modules; the packages above call it, not them.
KERNEL = "_kernel.py"
CALLS_KERNEL = {"contexts", "data", "datasets", "forests", "importances", "io", "support", "theory"}
ONLY_IN = {
    "cyclopts": {"cli"},
    "rich": {"cli"},
    "jinja2": {"reports"},
    "matplotlib": {"plots", "reports"},
}


def imports(file: str) -> Iterator[tuple[str, str | None, int]]:
    """Yield every import of a file: the module, the name taken from it, the line."""
    for node in ast.walk(trees()[file]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: line {node.lineno} imports relatively"
            yield from ((node.module or "", alias.name, node.lineno) for alias in node.names)


def may_come_from_root(name: str | None) -> bool:
    if name is None:  # import duramen
        return False
    return name in FROM_ROOT or (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").is_file()


@one_test
@pytest.mark.parametrize("file", texts())
def test_imports_of_a_file(file: str) -> None:
    here = file.partition("/")[0] if "/" in file else "root"
    complaints = []
    for module, name, line in imports(file):
        top = module.split(".")[0]
        if module == "duramen" and here != "root" and not may_come_from_root(name):
            complaints.append(f"line {line}: takes {name} from the package's root")
        parts = [*module.split("."), name or ""]
        if "_kernel" in parts and here not in CALLS_KERNEL:
            complaints.append(f"line {line}: only {sorted(CALLS_KERNEL)} call the kernel")
        if any(part.startswith("_kernel_") for part in parts) and file != KERNEL:
            complaints.append(f"line {line}: a build of the kernel is picked by {KERNEL} alone")
        if top in ONLY_IN and here not in ONLY_IN[top]:
            complaints.append(f"line {line}: {top} belongs to {sorted(ONLY_IN[top])}")
    assert complaints == []


def test_the_theory_needs_neither_data_frames_nor_learners() -> None:
    program = """
import sys
REFUSED = {"narwhals", "pandas", "polars", "pyarrow", "sklearn", "matplotlib"}
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in REFUSED:
            raise ImportError(name)
sys.meta_path.insert(0, Refused())
import numpy as np
from duramen.theory import FiniteDistribution, population_importances
dates = np.array([["2020-01-01", "2020-01-02"], ["2021-01-01", "2020-01-02"]], dtype="M8[D]")
print(population_importances(FiniteDistribution.from_table(dates, ["a", "b"])).values.tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[1.0, 0.0]\n", done.stderr
