"""A criterion is its own file, a value and a case in one file of the kernel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from duramen.forests import settings

TOY = Path(__file__).parent / "toys" / "toy_criterion"
SWITCH = Path("grow/criteria/criteria.hpp")
COMPILER = os.environ.get("CXX") or shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")

VALUE = (
    ("log_rank = 3 }", "log_rank = 3, toy = 4 }"),
    ("kLastCriterion = Criterion::log_rank", "kLastCriterion = Criterion::toy"),
)
CASE = (
    ('#include "grow/criteria/variance.hpp"', '#include "grow/criteria/toy.hpp"'),
    ("case Criterion::gini:", "case Criterion::toy: return use(Toy{});\n    case Criterion::gini:"),
)


@pytest.fixture
def kernel(root: Path) -> Path:
    return root / "cpp"


def with_edits(kernel: Path, folder: Path, *edits: tuple[str, str]) -> Path:
    """Write the file with the switch, edited, beside the toy into a folder; return the folder."""
    text = (kernel / SWITCH).read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, old + "\n" + new if new.startswith("#include") else new)
    file = folder / SWITCH
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    shutil.copy(TOY / "toy.hpp", file.parent)
    return folder


def compile_(kernel: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the compiler with the headers of the folder before those of the kernel."""
    flags = ("-std=c++20", "-Werror=switch", "-ffp-contract=off", f"-I{folder}", f"-I{kernel}")
    line = [str(COMPILER), *flags, *words]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@needs_compiler
@pytest.mark.parametrize(("edits", "compiles"), [((), True), (VALUE, False), (VALUE + CASE, True)])
def test_a_value_without_a_case_does_not_compile(edits, compiles, kernel, tmp_path):
    folder = with_edits(kernel, tmp_path, *edits)
    done = compile_(kernel, folder, "-fsyntax-only", "-xc++", str(folder / SWITCH))
    assert (done.returncode == 0) == compiles, done.stderr
    if not compiles:
        assert "enumeration value" in done.stderr
        assert "toy" in done.stderr


def test_records_are_in_the_order_of_the_kernel(kernel: Path) -> None:
    enumeration = re.search(
        r"enum class Criterion : int \{(.*?)\}", (kernel / SWITCH).read_text(encoding="utf-8")
    )
    assert enumeration is not None
    values = [f"{record.name} = {k}" for k, record in enumerate(settings.CRITERIA.values())]
    assert [value.strip() for value in enumeration[1].split(",")] == values
