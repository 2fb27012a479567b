"""Every code block of the documentation runs.

Python blocks of a file share one namespace and run in a folder of their own, in order; in a
shell block, the lines that call ``duramen`` run in the same folder. What the blocks draw or
print is thrown away: the text around them says what they show. Commands run in this process, which
has imported what each would import again, and draw each figure once: drawing takes most of their
time.
"""

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.commands import duramen, undrawn
from tests.grid import one_test
from tests.scripts import script

import duramen as dm
from duramen.reports import report

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Pages and folders run with the slow tests.
SLOW = {
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "start", "how-to", "explanation")),
}
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SCREENS = script("tools/screens.py")
LANGUAGES = {"python", "r", "sh", "text", "yaml"}


def blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    """The code blocks of a page: language, code, line of its first line."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield match[1], match[2], text.count("\n", 0, match.start(2)) + 1


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@one_test
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_its_language(page: Path) -> None:
    assert {language for language, _, _ in blocks(page)} <= LANGUAGES


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            marks=pytest.mark.slow if not SLOW.isdisjoint((page, *page.parents)) else (),
            id=name_of(page),
        )
        for page in PAGES
    ],
)
def test_blocks_of_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(report, "svg", drawn_once)
    namespace: dict[str, object] = {"__name__": "__main__"}
    marked, printed = screens(page), ""
    for language, code, line in blocks(page):
        if language == "python":
            # Leading empty lines make a traceback point at the line of the page.
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
            printed = capsys.readouterr().out
        elif language == "sh":
            for command in commands(code):
                done = duramen(*command)
                assert done.exit_code == 0, f"{name_of(page)}:{line}: {command}\n{done.output}"
                printed = done.stdout
        elif language == "r" and shutil.which("Rscript"):
            run_in_r(code, f"{name_of(page)}:{line}")
        elif line in marked:
            assert code == SCREENS.screen(printed), f"{name_of(page)}:{line}: {SCREENS.__doc__}"
    capsys.readouterr()


svg, DRAWN = report.svg, set[tuple[str, type]]()


def drawn_once(section: report.Section, prefix: str) -> str:
    """Draw a figure of a report the first time that it shows a class of results."""
    kind = section.figure[0].draw.__name__, type(section.figure[1])
    if kind in DRAWN:
        return undrawn(section, prefix)
    DRAWN.add(kind)
    return svg(section, prefix)


def run_in_r(code: str, place: str) -> None:
    """Run a block of R, unless it needs a package that is not there."""
    python = Path(sys.executable)
    environment = {
        **os.environ,
        "RETICULATE_PYTHON": str(python),
        "PATH": os.pathsep.join((str(python.parent), os.environ["PATH"])),
    }
    done = subprocess.run(
        ["Rscript", "-e", code], env=environment, capture_output=True, text=True, check=False
    )
    absent = "there is no package called" in done.stderr
    assert done.returncode == 0 or absent, f"{place}: {done.stderr}"


def screens(page: Path) -> set[int]:
    """The first lines of the blocks that show what the block before them prints."""
    text = page.read_text(encoding="utf-8")
    marked = re.finditer(r"^<!-- screen -->\n```text\n", text, re.MULTILINE)
    return {text.count("\n", 0, match.end()) + 1 for match in marked}


@pytest.mark.slow
def test_the_readme_passes_strict_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    code = "\n".join(
        code for language, code, _ in blocks(ROOT / "README.md") if language == "python"
    )
    (tmp_path / "readme.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(tmp_path / "readme.py")],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    faults = [line for line in done.stdout.splitlines() if line.startswith("readme.py")]
    assert faults == [], done.stdout


def test_six_pages_show_the_first_screen_of_rank() -> None:
    shown = [page.name for page in SCREENS.PAGES if screens(page)]
    assert len(shown) == 6
    for page in (page for page in SCREENS.PAGES if screens(page)):
        printed = [code for _, code, line in blocks(page) if line in screens(page)]
        assert "reliably associated with" in printed[-1]


def test_a_screen_is_what_the_last_command_before_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "```sh\nduramen --version\n```\n\n<!-- screen -->\n```text\nold\n```\nend\n"
    new = SCREENS.written(text)
    assert new == text.replace("old", f"duramen {dm.__version__}")
    assert SCREENS.written(new) == new


def commands(code: str) -> Iterator[list[str]]:
    """The calls of duramen in a shell block, without its name."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "duramen":
            yield words[1:]


@functools.cache
def drawn() -> set[str]:
    """The names of the pictures that are drawn when the site is built."""
    docs = ROOT / "docs"
    programs = [program.read_text("utf-8") for program in (docs / "images").glob("make_*.py")]
    examples = [f"sphx_glr_{example.stem}_001.png" for example in (docs / "examples").rglob("*.py")]
    return {*re.findall(r'"([\w-]+\.png)"', "".join(programs)), *examples}


@one_test
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    targets = [target.split("#")[0] for target in LINK.findall(page.read_text(encoding="utf-8"))]
    local = [page.parent / target for target in targets if target and "://" not in target]
    absent = [path for path in local if not path.exists()]
    assert [path for path in absent if path.name not in drawn()] == []


def test_commands_are_found_in_a_shell_block() -> None:
    code = "# a comment\nmake demo\nduramen rank genes.csv \\\n    --target kind  # why\n"
    assert list(commands(code)) == [["rank", "genes.csv", "--target", "kind"]]


def test_the_guide_lists_every_selector() -> None:
    text = (ROOT / "docs" / "how-to" / "selection" / "selectors.md").read_text(encoding="utf-8")
    for record in dm.selection.catalogue:
        assert f"`{record.name}`" in text
        assert f"[`{record.kind.__name__}`]" in text
