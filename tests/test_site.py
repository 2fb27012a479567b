"""The documentation site and the files of a release: what the pages promise is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.version import Version
from tests.cli.commands import arguments
from tests.scripts import script

import duramen as dm
from duramen import doctor
from duramen.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = {  # by a word of the heading that answers it
    "correlated features": "correlated",
    "how many trees": "how many trees",
    "imbalance": "imbalanced",
    "repeated measurements": "several rows",
    "confirmed": 'what does "confirmed" mean',
    "MDI or MDA": "which importance",
    "citing": "cite",
    "cluster": "cluster",
    "SHAP": "shap",
    "missing values": "missing values",
    "0 features found": "nothing is confirmed",
    "everything is confirmed": "everything is confirmed",
    "speed": "how long",
    "memory": "memory",
    "reading the report": "read the report",
    "R": "from r",
    "pipelines": "pipeline",
    "reproducibility": "same numbers",
    "batches": "batches",
    "weights": "weights",
}


def headings(page: Path) -> list[str]:
    """Headings of the third level."""
    return re.findall(r"^### (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def test_each_of_twenty_questions_has_an_answer_of_a_screen() -> None:
    text = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    answers = dict(re.findall(r"^### (.+)\n\n((?:(?!^##).*\n)+)", text, re.MULTILINE))
    assert len(answers) == len(QUESTIONS) == 20
    for subject, word in QUESTIONS.items():
        (answer,) = (text for heading, text in answers.items() if word in heading.lower())
        assert len(answer.split()) <= 160, subject
        assert "](" in answer or "`CITATION.cff`" in answer or subject == "R", subject


def test_every_page_is_reached_from_a_table_of_contents() -> None:
    listed = set()
    for page in (ROOT / "docs").rglob("*.md"):
        for block in re.findall(r":::\{toctree\}\n(.*?):::", page.read_text("utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / name).resolve() for name in names}
    pages = {path.with_suffix("").resolve() for path in (ROOT / "docs").rglob("*.md")}
    outside = {"index", "api", "paper/paper"}
    assert pages - listed == {ROOT / "docs" / name for name in outside}


def test_every_answer_of_the_page_of_decisions_is_reached() -> None:
    form = (ROOT / "docs" / "_site" / "which-importance.html").read_text("utf-8")
    tree = json.loads(form.partition('id="which-tree">')[2].partition("</script>")[0])
    text = (ROOT / "docs" / "start" / "which-importance.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    anchors = [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in headings]

    def leaves(node: Any) -> list[str]:
        if isinstance(node, str):
            return [node]
        return [leaf for answer in node["answers"].values() for leaf in leaves(answer)]

    assert sorted(leaves(tree)) == sorted(anchors)


def test_the_paper_cites_what_its_bibliography_has() -> None:
    text = (ROOT / "docs" / "paper" / "paper.md").read_text("utf-8")
    entries = (ROOT / "docs" / "paper" / "paper.bib").read_text("utf-8")
    assert set(re.findall(r"@([a-z]+\d{4})", text)) == set(
        re.findall(r"^@\w+\{(\w+),", entries, re.M)
    )


def test_versions_are_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert project["version"] == dm.__version__
    assert f"\nversion: {dm.__version__}\n" in citation


def test_the_doctor_says_what_a_report_of_a_fault_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "duramen.doctor"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"duramen {dm.__version__}: ")
    assert done.stdout.count(": used\n") == 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert set(re.findall(r"^extra (\w+): ", done.stdout, re.MULTILINE)) == extras
    assert set(doctor.kernels().values()) <= {"used", "not used", "not installed"}


def how_to() -> list[Path]:
    """The pages of tasks."""
    pages = sorted((ROOT / "docs" / "how-to").rglob("*.md"))
    return [page for page in pages if page.name != "index.md"]


def prose(page: Path) -> str:
    """The text of a page without its code."""
    return re.sub(r"^```.*?^```\s*$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub and the site give the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_at_most_50_pages_of_how_to_of_at_most_900_words() -> None:
    assert len(how_to()) <= 50
    for page in how_to():
        words = [word for word in prose(page).split() if re.search(r"\w", word)]
        assert len(words) <= 900, page.name


def test_pages_of_how_to_begin_with_code() -> None:
    for page in how_to():
        beginning = page.read_text("utf-8").partition("\n```")[0]
        assert len(beginning.split()) <= 90, page.name


def test_every_former_page_leads_to_a_section() -> None:
    """The list is that of a published site: lines are added to it, and none is taken away."""
    targets = script("docs/_site/former.py").targets()
    assert len(targets) >= 101
    for name, target in targets.items():
        page, _, anchor = target.partition("#")
        file = ROOT / "docs" / f"{page}.md"
        assert file.is_file(), name
        assert not anchor or anchor in anchors(file), name
        assert page == name or not (ROOT / "docs" / f"{name}.md").exists(), name


def test_links_to_sections_lead_somewhere() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        for path, anchor in re.findall(r"\]\(([^)\s:#]*)#([^)\s]+)\)", prose(page)):
            file = page.parent / path if path else page
            if file.suffix == ".md":
                assert anchor in anchors(file), (page.name, path, anchor)


def test_every_option_of_a_command_is_in_its_list() -> None:
    pages = dict(script("docs/_site/commands.py").pages())
    for name in COMMANDS:
        text = pages[f"command-{name}"]
        for option in arguments(name):
            assert f"``{option.names[0]}``" in text, name
            assert option.parameter.help, (name, option.names)


def test_options_of_pages_are_options_of_a_command() -> None:
    options = {
        "--help",
        "--help-all",
        "--version",
        "--man",
        "--install-completion",
        "--output",
        "--example",
    }
    options |= {"--clump", "--indep-pairwise"}  # of PLINK
    for name in COMMANDS:
        options |= {word for option in arguments(name) for word in option.names}
    for page in (*how_to(), *(ROOT / "docs" / "start").glob("*.md")):
        text = page.read_text("utf-8")
        calls = re.findall(r"^duramen (?:.*\\\n)*.*$", text, re.MULTILINE)
        named = re.findall(r"`(--[a-z][a-z-]*)", text)
        named += [word for call in calls for word in re.findall(r" (--[a-z][a-z-]*)", call)]
        assert set(named) <= options, page.name


PINNED = ("build", "test", "lint", "dist", "docs", "browser")  # groups


def requirements(project: dict[str, Any]) -> set[tuple[str, str]]:
    """Names and lower bounds of all that pyproject.toml asks for but for benchmarks and fuzzing."""
    groups = project["dependency-groups"]
    listed = [
        *project["project"]["dependencies"],
        *(name for extra in project["project"]["optional-dependencies"].values() for name in extra),
        *(name for group in PINNED for name in groups[group]),
    ]
    matches = (re.match(r"([\w.-]+)(?:\[.*\])?(?:[>=]=([\d.]+))?", name) for name in listed)
    return {(match[1].lower().replace("_", "-"), match[2] or "0") for match in matches if match}


def test_pins_have_all_that_is_asked_for_in_versions_that_are_allowed() -> None:
    pins = re.findall(
        r"^([\w.-]+)==([\w.]+)", (ROOT / ".ci" / "pins.txt").read_text("utf-8"), re.MULTILINE
    )
    for name, least in requirements(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))):
        versions = [Version(version) for pinned, version in pins if pinned == name]
        assert versions, name
        assert min(versions) >= Version(least), name


def test_workflows_name_actions_by_the_hash_of_a_commit() -> None:
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for action in re.findall(r"uses: (\S+)", file.read_text("utf-8")):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action


def test_the_recipe_of_conda_asks_for_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = (ROOT / "tools" / "conda" / "recipe.yaml").read_text("utf-8")
    assert f'version: "{project["version"]}"' in recipe
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    listed = {line.strip("- ").replace(" ", "") for line in run.splitlines()} - {"python"}
    names = {"matplotlib": "matplotlib-base", "docstring-parser": "docstring_parser"}  # of conda
    asked = {
        re.sub(r"^[\w-]+", lambda name: names.get(name[0], name[0]), line)
        for line in project["dependencies"]
    }
    assert listed == asked
