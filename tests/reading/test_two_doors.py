"""Both doors, `duramen.read` and the options of commands that are not made from it, read alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import duramen
from tests.grid import one_test
from tests.record import inputs
from tests.record.cases import cases

import duramen as dm

SEVERAL = {
    "--drop": "drop",
    "--covariate": "covariates",
    "--categorical": "categorical",
    "--samples-feature": "samples_features",
    "--as-text": "as_text",
    "--na": "na_values",
}
ONE = {
    "--target": "target",
    "--task": "task",
    "--event": "event",
    "--strata": "strata",
    "--groups": "groups",
    "--samples": "samples",
    "--samples-id": "samples_id",
    "--samples-match": "samples_match",
    "--decimal": "decimal",
    "--separator": "separator",
    "--encoding": "encoding",
    "--skip-rows": "skip_rows",
    "--member": "member",
    "--sheet": "sheet",
    "--layer": "layer",
}
FLAGS = {
    "--keep-identifiers": "keep_identifiers",
    "--drop-missing-target": "drop_missing_target",
    "--transpose": "transpose",
}


def reading(words: list[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the words of a command line that are about reading, and the arguments of `read`."""
    kept, arguments = [words[0]], {"source": words[0]}
    left = iter(words[1:])
    for word in left:
        if word in FLAGS:
            kept.append(word)
            arguments[FLAGS[word]] = True
        elif word in ONE or word in SEVERAL:
            value = next(left)
            kept += [word, value]
            if word in ONE:
                arguments[ONE[word]] = int(value) if word == "--skip-rows" else value
            else:
                arguments.setdefault(SEVERAL[word], []).append(value)
    return tuple(kept), arguments


def lines() -> dict[tuple[str, ...], tuple[dict[str, Any], list[str]]]:
    """Return what recorded commands of `rank` read, each once."""
    found = {}
    for case in cases().values():
        words = list(case.words or ())
        if words[:1] == ["rank"] and len(words) > 1 and not words[1].startswith("-"):
            kept, arguments = reading(words[1:])
            if "target" not in arguments:  # without one a table is read, and not ranked
                continue
            before = [list(line) for line in getattr(case, "before", ())]
            found[kept] = (arguments, before)
    return found


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("words", list(lines()))
def test_both_doors_give_the_same_learning_set(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, before = lines()[words]
    monkeypatch.chdir(tmp_path)
    inputs.write([*words, *(word for line in before for word in line)], tmp_path)
    for line in before:
        duramen(*line)
    done = duramen(
        "rank",
        *words,
        "--significance",
        "altmann",
        "--permutations",
        2,
        "--trees",
        2,
        "--jobs",
        1,
        "--out",
        "read-out",
        "-q",
    )
    if "categories" in done.stderr:  # which the forest refuses
        return
    if done.exit_code:
        with pytest.raises((ValueError, TypeError, OSError)):
            pytest.fail(f"{done.stderr}: {dm.read(**arguments)}")
        return
    run = json.loads(Path("read-out/run.json").read_text(encoding="utf-8"))
    data = dm.read(**arguments)
    assert (data.n_rows, data.n_columns) == (run["n_rows"], run["n_features"])
    assert data.in_memory().fingerprint == run["fingerprint"]
    assert data.task == run["task"]
    kinds = [finding.kind for finding in data.provenance.findings]
    others = ("unequal values",)  # of the ranking
    assert kinds == [one["kind"] for one in run["findings"] if one["kind"] not in others]
