"""Properties of the package as a whole."""

import importlib.metadata
import importlib.resources
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.grid import one_test

import duramen as dm

# They cost up to half a second and tens of megabytes each, and many a use needs none of them.
HEAVY = ["pandas", "polars", "matplotlib", "pyarrow", "jinja2", "cyclopts", "rich"]


@pytest.mark.smoke
def test_version_is_that_of_the_distribution() -> None:
    assert dm.__version__ == importlib.metadata.version("duramen")


@pytest.mark.smoke
def test_the_package_says_that_it_is_typed() -> None:
    assert importlib.resources.files("duramen").joinpath("py.typed").is_file()


@pytest.mark.smoke
def test_public_names_are_listed_once_and_exist() -> None:
    assert len(dm.__all__) == len(set(dm.__all__))
    assert [name for name in dm.__all__ if not hasattr(dm, name)] == []


@one_test
@pytest.mark.parametrize("name", [name for name in dm.__all__ if not name.startswith("_")])
def test_public_name_has_a_docstring_of_its_own(name: str) -> None:
    thing = getattr(dm, name)
    assert (thing.__doc__ or "").strip()
    if inspect.isclass(thing):
        assert "__doc__" in vars(thing)
        assert not thing.__doc__.startswith(f"{name}(")  # what a dataclass writes by itself


# What is imported step by step beside the dependencies, and what changes, in a process of its own.
IMPORT = """
import json, random, sys, threading, warnings
import joblib, narwhals, numpy as np, scipy.sparse, sklearn.base

def state():
    return random.getstate(), np.random.get_state()[1].tobytes(), list(warnings.filters)

before, by_dependencies = state(), set(sys.modules)
imported = {}

def step(name):
    imported[name] = sorted(set(sys.modules) - by_dependencies)

import duramen as dm
dm.encode, dm.RandomForestClassifier, dm.importances.mdi
step("package")
same, threads = state() == before, threading.active_count()
data = dm.learning_set([[0, 1], [1, 0], [2, 5], [3, 1]], ["a", "a", "b", "b"])
result = dm.importances.mdi(dm.RandomForestClassifier(n_estimators=3, random_state=0).fit(data))
dm.theory.population_importances(dm.theory.examples.xor())
step("computing")
repr(result), result._repr_html_()
step("showing")
result.plot()
step("drawing")
print(json.dumps({"imported": imported, "same state": same, "threads": threads}))
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_import_loads_no_heavy_optional_package(imported: dict[str, Any]) -> None:
    modules = set(imported["imported"]["package"])
    assert "duramen" in modules
    assert sorted(set(HEAVY) & modules) == []


def test_computing_imports_no_presentation(imported: dict[str, Any]) -> None:
    presentation = {"matplotlib", "jinja2", "cyclopts", "rich"}
    assert sorted(presentation & set(imported["imported"]["computing"])) == []


def test_matplotlib_is_imported_when_something_is_drawn(imported: dict[str, Any]) -> None:
    before, after = (set(imported["imported"][step]) for step in ("showing", "drawing"))
    assert not {"matplotlib", "duramen.plots"} & before
    assert "matplotlib.figure" in after
    assert "matplotlib.pyplot" not in after


RANKING = """
import json, sys
from duramen.cli.app import run

run(["rank", *sys.argv[1:], "--target", "y", "--test", "none", "--trees", "50", "-q"])
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.slow
def test_a_ranking_imports_what_its_steps_need(tmp_path: Path) -> None:
    """scikit-learn's base of estimators brings pandas and scipy.stats; nothing brings the rest."""
    values = [17 * j % 80 / 8 for j in range(80)]
    rows = [f"{u},{j * 7 % 11},{'ab'[u > 4]}" for j, u in enumerate(values)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["u,v,y", *rows]))
    words = [sys.executable, "-c", RANKING, table, "--out", tmp_path / "out"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<svg") >= 3
    parts = ("ensemble", "feature_selection", "inspection", "linear_model", "metrics", "tree")
    needless = {"matplotlib", "PIL", "polars", "dask", "networkx", "duramen.selection"}
    needless |= {f"sklearn.{part}" for part in parts}
    assert sorted(needless & set(json.loads(done.stdout))) == []


def test_import_starts_no_thread_and_touches_no_state(imported: dict[str, Any]) -> None:
    assert imported["same state"]
    assert imported["threads"] == 1
