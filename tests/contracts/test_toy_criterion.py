"""A criterion is its own file, a value and a case in one file of the kernel, and a record."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
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


def test_the_kernel_is_compiled_with_this_error(root: Path) -> None:
    assert "-Werror=switch" in (root / "CMakeLists.txt").read_text(encoding="utf-8")


def test_values_are_named_in_one_file(kernel: Path) -> None:
    files = {
        file.relative_to(kernel): set(re.findall(r"\bCriterion::(\w+)", file.read_text("utf-8")))
        for file in sorted(kernel.rglob("*.?pp"))
    }
    named = {file: names for file, names in files.items() if names}
    assert named.pop(Path("grow/settings.hpp")) == {"gini"}  # the default
    assert set(named) == {SWITCH}


def test_records_are_in_the_order_of_the_kernel(kernel: Path) -> None:
    enumeration = re.search(
        r"enum class Criterion : int \{(.*?)\}", (kernel / SWITCH).read_text(encoding="utf-8")
    )
    assert enumeration is not None
    values = [f"{record.name} = {k}" for k, record in enumerate(settings.CRITERIA.values())]
    assert [value.strip() for value in enumeration[1].split(",")] == values


def test_estimators_offer_what_has_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = replace(settings.CRITERIA["gini"], name="toy", aliases=("toy",))
    monkeypatch.setitem(settings.CRITERIA, "toy", toy)
    assert settings.aliases_for("classification")["toy"] == "toy"
    assert "toy" not in settings.aliases_for("regression")


@needs_compiler
@pytest.mark.slow
def test_toy_grows_the_trees_of_half_its_score(kernel: Path, tmp_path: Path) -> None:
    folder = with_edits(kernel, tmp_path, *VALUE, *CASE)
    program = tmp_path / "trees"
    done = compile_(kernel, folder, "-pthread", "-g0", str(TOY / "trees.cpp"), "-o", str(program))
    assert done.returncode == 0, done.stderr
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    trees = [json.loads(line) for line in lines.splitlines()]
    assert len(trees) == 8
    for gini, toy in zip(trees[::2], trees[1::2], strict=True):
        assert len(gini["feature"]) > 20
        impurity = [np.array(arrays.pop("impurity")) for arrays in (gini, toy)]
        np.testing.assert_array_equal(impurity[1], 2 * impurity[0])
        assert impurity[0].max() > 0.5
        assert toy == gini
