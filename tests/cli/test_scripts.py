"""Support of scripts and shells: --json, --example, completion, --man, exit codes."""

import csv
import json
import re
import shlex
import shutil
import subprocess

import pytest
from tests.cli.commands import arguments, duramen, undrawn

from duramen import significance
from duramen.cli.app import COMMANDS, EXAMPLES, application

# Small enough that all commands together take seconds.
SMALL = {
    "rank": "--demo --trees 10 --test none",
    "select": "--demo --trees 5",
    "compare": "--demo --methods mdi --n-features 5 --trees 5 --n-resamples 2",
    "context": "--demo --trees 5 --permutations 5",
    "network": "--demo --trees 2",
    "connectome": "--demo --method pearson",
    "exact": "--demo --max-depth 1",
    "plan": "--n-rows 100 --n-features 5000 --memory 20KB --relevant 0:3",
    "pack": "small.csv",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("duramen.reports.report.svg", undrawn)
    return tmp_path


def rows_of(table):
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def calls(text):
    """The calls of duramen in an example, as words."""
    lines = [shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines()]
    return [words[1:] for words in lines if words and words[0] == "duramen"]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_json_has_the_record_and_the_first_rows_of_the_results(name, folder):
    (folder / "small.csv").write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
    ended = duramen(name, *SMALL[name].split(), "--json", "--quiet", "--out", "out")
    assert ended.exit_code == 0, ended.output
    assert ended.stderr == ""
    assert ended.stdout.count("\n") == 1
    printed = json.loads(ended.stdout)
    assert printed["run"] == json.loads((folder / "out" / "run.json").read_text("utf-8"))
    assert set(printed["files"]) <= {path.name for path in (folder / "out").iterdir()}
    table = rows_of(folder / "out" / "result.csv")
    assert 0 < len(printed["rows"]) <= len(table)
    for row, line in zip(printed["rows"], table, strict=False):
        assert list(row) == list(line)
        for key, value in row.items():
            if isinstance(value, float):
                assert value == pytest.approx(float(line[key]), rel=1e-5)
            elif isinstance(value, str):
                assert value == line[key]


def test_numbers_that_are_not_finite_are_null(folder):
    words = "--n-rows 100 --n-features 5000 --memory 13KB --relevant 20 --keep 0 --keep 1"
    words += " --explain-output"
    printed = json.loads(duramen("plan", *words.split(), "--json", "--out", "out").stdout)
    assert printed["methods"].startswith("Trees were planned for ")
    assert "Limitations" in printed["explanations"]
    table = rows_of(folder / "out" / "result.csv")
    infinite = [(i, key) for i, row in enumerate(table) for key in row if row[key] == "inf"]
    assert infinite
    assert all(printed["rows"][i][key] is None for i, key in infinite)


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_printed_and_their_options_exist(name):
    ended = duramen(name, "--example")
    assert (ended.exit_code, ended.stdout) == (0, EXAMPLES[name])
    lines = calls(EXAMPLES[name])
    assert {words[0] for words in lines} <= {name, "pack"}
    for first, *words in lines:
        assert first in COMMANDS
        application().parse_args([first, *words], exit_on_error=False)  # refuses unknown options
    assert all(len(line) <= 100 for line in EXAMPLES[name].splitlines())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("exact", "plan", "pack") else pytest.mark.slow)
        for name in COMMANDS
        if name != "rank"  # make demo runs it, with the defaults
    ],
)
def test_first_line_of_an_example_runs_as_it_stands(name, folder):
    for line in EXAMPLES[name].splitlines():
        if line.startswith("printf"):
            subprocess.run(["sh", "-c", line], check=True, cwd=folder)
    ended = duramen(*calls(EXAMPLES[name])[0])
    assert ended.exit_code == 0, ended.output


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_shell_completes_commands_options_and_names(folder):
    script = folder / "completion.sh"
    duramen("--install-completion", "--shell", "bash", "--output", script)
    assert script.exists()

    def completed(*words):
        """The words that a shell offers after some words, the last of them begun."""
        line = " ".join(map(shlex.quote, ("duramen", *words)))
        code = f"""
            source {script}
            COMP_WORDS=(duramen {" ".join(map(shlex.quote, words))})
            COMP_CWORD={len(words)}
            COMP_LINE={shlex.quote(line)}
            COMP_POINT={len(line)}
            $(complete -p duramen | sed -E 's/.*-F ([^ ]+).*/\\1/') duramen
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        shown = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
        return [word.strip() for word in shown.stdout.split("\n") if word.strip()]

    assert completed("con") == ["context", "connectome"]
    assert completed("rank", "--no-b") == ["--no-bootstrap"]
    tests = [test.option for test in significance.catalogue]
    assert completed("rank", "--test", "") == ["auto", "none", *tests]
    assert completed("exact", "--splits", "one") == ["one-vs-rest"]


def test_the_manual_has_every_option():
    ended = duramen("--man")
    assert ended.exit_code == 0
    plain = ended.stdout.replace("\\-", "-").replace("\\e", "\\")
    for name in COMMANDS:
        assert f".SH DURAMEN {name.upper()}" in plain
        assert all(option.name in plain for option in arguments(name))
    lines = ended.stdout.splitlines()
    assert {line.split()[0] for line in lines if line[0] in ".'"} <= {
        ".TH", ".SH", ".SS", ".B", ".TP", ".PP",
    }  # fmt: skip


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_the_manual_is_without_faults_for_groff():
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-"],
        input=duramen("--man").stdout,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "--test TEST" in re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
