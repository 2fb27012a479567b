"""Saved results of every class, altered: bytes, members, content under a digest that fits."""

from __future__ import annotations

import copy
import functools
import json
import os
import tempfile
import warnings
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.contracts.cases.theory import empirical
from tests.contracts.registry import cases
from tests.faults.batches import READ, REFUSED
from tests.faults.files.crafted_forests import ODD, alter_array
from tests.faults.fuzzing import altered
from tests.faults.hostile import CLASSES, CONTEXT, KEY, NAMES, TARGET, raw_characters

import duramen as dm
import duramen.analyses.compare
import duramen.analyses.rank
import duramen.analyses.select
import duramen.effects
import duramen.networks
import duramen.selection.known_truth
from duramen import theory
from duramen.reports import Report
from duramen.results.archive import Saved, _kinds, read_archive, write_archive
from duramen.results.result import Result

# Cases of tests/contracts that return, or compute on their way, results of most classes.
CASES = (
    *("max_t/classification", "context_importances/classification"),
    *("forests.cost_complexity_pruning_path", "permutation_test/any function"),
    *("local_mdi/regression rows=in-bag", "interactions/classification features=None"),
)
WORDS = [b"PK\x01\x02", b"PK\x05\x06", b"\xff" * 4, b"\x00" * 8, b"{", b"9" * 20, b"<U9", b"|O"]
# Whoever makes the digest fit makes a result of any content: what it says is not judged, and an
# error in place of it is as good.
ERRORS = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
HOSTILE = [*NAMES[:-1], TARGET, CONTEXT, KEY, *CLASSES]
HOSTILE += ["\ud800", "a\tb\nc", "", "\x9b31m", "a" * 5000]


def compute_others() -> None:
    """Compute a result of each class that no case has."""
    dist = empirical()
    theory.population.conditioning_terms(dist, 0)
    covariance = [[1.0, 0.6, 0.1], [0.6, 2.0, 0.3], [0.1, 0.3, 1.5]]
    both = {"both": [0, 1]}
    theory.population.gaussian_mda(covariance, [0.5, 0.3, 0.1], feature_groups=both)
    theory.properties(dist)
    theory.redundancy(dist)
    expression = np.random.default_rng(0).normal(size=(30, 5)).cumsum(axis=1)
    network = dm.genie3(expression, estimator=dm.RandomForestRegressor(4), random_state=0)
    gold = [("x0", "x1", 1), ("x2", "x3", 1), ("x4", "x0", 0), ("x1", "x4", 0)]
    scores = {
        pairs: network.score(gold, pairs=pairs) for pairs in ("candidates", "listed", "dream5")
    }
    dm.networks.challenge_score(scores, n_random=1000)
    network.orientation(gold)
    dm.networks.connectome.components(network)
    data = dm.datasets.linear_sign(40, 4, n_relevant=2, random_state=0)
    forest = dm.RandomForestClassifier(20, random_state=0).fit(data.X, data.y)
    dm.importances.minimal_depth(forest)
    dm.importances.mcfs(data.X, data.y, n_subsets=4, n_permutations=2, random_state=0)
    dm.importances.clusters(dm.importances.mdi(forest), data.X, threshold=0.2)
    dm.significance.trees_needed(forest, k=2)
    dm.significance.conditional(forest, data.X, data.y, random_state=0)
    dm.significance.fdr_curve(forest, data.X, data.y, n_permutations=5, random_state=0)
    dm.effects.interaction_strength(forest, data.X)
    dm.selection.scores([0, 1], data.relevant, ranking=forest.feature_importances_)
    levels = (data.X > 0).astype(int)
    dm.contexts.context_network(levels, data.y, n_permutations=3, random_state=0)
    dm.significance.confidence_intervals(forest, data.X, data.y, n_resamples=6, random_state=0)
    dm.rank(data.X, data.y, n_estimators=10, test="none", n_jobs=1)
    dm.select(data.X, data.y, n_jobs=1)
    dm.compare(data.X, data.y, n_estimators=4, n_resamples=3, n_features=[1, 2], n_jobs=1)


@functools.cache
def sound() -> dict[type[Saved], Saved]:
    """A result of every class."""
    made: dict[type[Saved], Saved] = {}

    def noting(init: Any) -> Any:
        def noted(self: Saved, *arguments: Any, **fields: Any) -> None:
            init(self, *arguments, **fields)
            made[type(self)] = self

        return noted

    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        for kind in _kinds(Saved):
            stack.enter_context(patch.object(kind, "__init__", noting(kind.__init__)))
        for key in CASES:
            cases()[key].compute()
        compute_others()
    results = sorted(made.items(), key=lambda item: item[0].__name__)
    return {kind: r.drawn() if isinstance(r, Report) else r for kind, r in results}


@functools.cache
def saved(kind: type[Saved]) -> bytes:
    """The file of a result."""
    with tempfile.TemporaryDirectory() as folder:
        Saved.save(sound()[kind], Path(folder) / "r.npz")
        return (Path(folder) / "r.npz").read_bytes()


def attempt(number: int, folder: Path) -> str:
    """Alter the file of a result, load it, and use it."""
    random = np.random.default_rng(number)
    kinds = list(sound())
    kind = kinds[number % len(kinds)]
    path = folder / "report.npz"
    path.write_bytes(saved(kind))
    how = ("bytes", "members", "content", "content")[number // len(kinds) % 4]
    if how == "bytes":
        path.write_bytes(altered(random, [saved(kind)], WORDS))
    elif how == "members":
        swap_members(path, random)
    else:
        header, arrays = read_archive(path, what=None, newest=9, function="attempt")
        header = copy.deepcopy(header)
        for _ in range(int(random.integers(1, 3))):
            if arrays and random.random() < 0.5:
                alter_array(arrays, random)
            else:
                alter_header(header, random)
        write_archive(path, header, arrays)
    result = kind.load(folder if issubclass(kind, Report) else path)
    if how != "content":
        assert same(result, sound()[kind]), "a result that was altered is read"
    try:
        use(result, folder)
    except ERRORS:
        if how != "content":
            raise
        return REFUSED
    return READ


def same(result: Saved, other: Saved) -> bool:
    """Tell whether two results have equal saved forms."""
    return json.dumps(result._parts()[0]) == json.dumps(other._parts()[0]) and (
        not isinstance(result, Result) or result.equals(other)
    )


def swap_members(path: Path, random: np.random.Generator) -> None:
    """Exchange, rename, repeat or remove members, whose checksums stay right."""
    with zipfile.ZipFile(path) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    one, other = (int(place) for place in random.integers(len(members), size=2))
    how = int(random.integers(4))
    if how == 0:
        (a, first), (b, second) = members[one], members[other]
        members[one], members[other] = (a, second), (b, first)
    elif how == 1:
        members[one] = (str(random.choice(HOSTILE[:3])), members[one][1])
    elif how == 2:
        members.append((members[one][0], members[other][1]))
    else:
        del members[one]
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # of two members of one name
        for name, content in members:
            archive.writestr(name, content)


def alter_header(header: dict[str, Any], random: np.random.Generator) -> None:
    """Replace or remove one of the values of the header, of any depth."""
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        keys = list(part) if isinstance(part, dict) else range(len(part))
        for key in keys:
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(header["fields"])
    part, key = places[int(random.integers(len(places)))]
    value, how = part[key], int(random.integers(5))
    if how == 0:
        del part[key]
    elif how <= 2 and isinstance(value, str):
        part[key] = str(random.choice(HOSTILE))
    elif how == 1 and isinstance(value, list) and value:
        part[key] = value * int(random.integers(2, 4))
    elif how == 1 and isinstance(value, int | float) and not isinstance(value, bool):
        part[key] = value * -3 + int(random.integers(3))
    else:
        part[key] = copy.deepcopy(ODD[int(random.integers(len(ODD)))])


def use(result: Any, folder: Path) -> None:
    """Print, show and tabulate a result, and save it again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = str(result) + (result._repr_html_() or "" if hasattr(result, "to_frame") else "")
        if hasattr(result, "to_frame"):
            result.to_frame()
        Saved.save(result, folder / "again.npz")
    assert os.path.getsize(folder / "again.npz") < 10**7
    assert not raw_characters(text), ascii(sorted(raw_characters(text)))
