"""A call passes from the public function to the kernel without coming back to a package.

Whenever the kernel is entered, the packages on the stack of calls are read. A package that occurs,
is left, and occurs again would be two packages in one, or a callback of a higher one. Two packages
are not read: `support`, on which all build, and `jobs`, which calls back the tasks that it is
given, so that a task begins a path of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from tests.contracts import inputs

import duramen as dm
from duramen import _kernel
from duramen.io import read_recording

Path_ = tuple[str, ...]


def paths_of(frame: FrameType | None) -> Iterator[Path_]:
    """Yield the packages on a stack, from the kernel out, of each task and of what began it."""
    path: list[str] = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("duramen."):
            package = module.split(".")[1]
            if package == "jobs":
                yield tuple(path)
                path = []
            elif package != "support" and path[-1:] != [package]:
                path.append(package)
        frame = frame.f_back
    yield tuple(path)


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> set[Path_]:
    """Packages through which the kernel was entered, from the kernel out."""
    seen: set[Path_] = set()

    def watched(value: Any) -> Callable[..., Any]:
        @wraps(value, updated=())
        def call(*args: Any, **options: Any) -> Any:
            seen.update(paths_of(sys._getframe(1)))
            return value(*args, **options)

        return call

    entries = {id(value): value for value in vars(_kernel).values() if callable(value)}
    watches = {key: watched(value) for key, value in entries.items()}
    for name, module in list(sys.modules.items()):
        if name.startswith("duramen.") and not name.startswith("duramen._kernel_"):
            for attribute, value in list(vars(module).items()):
                if id(value) in entries:
                    monkeypatch.setattr(module, attribute, watches[id(value)])
    return seen


def assert_straight(paths: set[Path_], *through: Path_) -> None:
    """Check that no package was entered twice, and that the kernel was entered through some."""
    assert [path for path in paths if len(set(path)) < len(path)] == []
    assert {path[::-1] for path in paths} >= set(through)


FOREST = dm.RandomForestClassifier(5, random_state=0)
GROWN = ("estimators", "forests")


def test_y_of_a_forest_and_its_importances(paths: set[Path_]) -> None:
    X, y = inputs.features(), inputs.classes()
    forest = dm.RandomForestClassifier(5, random_state=0).fit(X, y)
    dm.importances.mdi(forest)
    dm.importances.mda(forest, X, y)
    dm.importances.holdout_mda(FOREST, X, y, random_state=0)
    straight = [GROWN, ("estimators", "data"), ("importances",), ("importances", *GROWN)]
    assert_straight(paths, *straight)


def test_y_of_a_ranking(paths: set[Path_]) -> None:
    X, y = inputs.features(), inputs.classes()
    dm.rank(X, y, estimator=FOREST, n_permutations=19, random_state=0)
    of_tests = ("analyses", "significance", "importances", "forests")
    assert_straight(paths, ("analyses", "reading", "data"), ("analyses", *GROWN), of_tests)


def test_y_of_significance_tests(paths: set[Path_]) -> None:
    X, y = inputs.features(), inputs.classes()
    dm.significance.altmann(FOREST, X, y, n_permutations=3, random_state=0)
    dm.significance.one_probe(FOREST, X, y, n_permutations=3, random_state=0)
    forest = dm.RandomForestClassifier(20)
    dm.significance.conditional(forest, X, inputs.binary(), random_state=0)
    assert_straight(paths, ("significance", *GROWN), ("significance", "importances", "forests"))


def test_a_store(paths: set[Path_], tmp_path: Path) -> None:
    y = inputs.classes()
    store = dm.pack(inputs.features(), tmp_path / "store")
    dm.RandomForestClassifier(5, random_state=0).fit(dm.open_store(tmp_path / "store"), y)
    dm.Boruta(n_estimators=5, max_rounds=2, random_state=0).fit(store, y)
    dm.SequentialRandomSubspace(n_estimators=5, random_state=0).fit(store, y)
    dm.BackwardElimination(n_estimators=5, random_state=0).fit(store, y)
    dm.rank(store, y, estimator=FOREST, random_state=0, test=False)
    of_store = [("selection", *GROWN, "io", "data"), ("selection", "significance", *GROWN)]
    of_store += [("analyses", "io", "data"), ("estimators", "forests", "io", "data")]
    assert_straight(paths, *of_store)


def test_a_context(paths: set[Path_]) -> None:
    context = inputs.strata()
    forest = dm.TotallyRandomizedTreesClassifier(10, random_state=0)
    options = {"context": context, "n_permutations": 3, "random_state": 0}
    dm.contexts.context_importances(
        inputs.features(), inputs.classes(), estimator=forest, **options
    )
    dm.contexts.context_network(inputs.features(), estimator=forest, **options)
    assert_straight(paths, ("contexts",), ("contexts", "data"), ("contexts", "forests"))


def test_a_recording(paths: set[Path_], tmp_path: Path) -> None:
    spikes = inputs.uniform(200, 3) < 0.1
    calcium = [0.2 * spikes[0]]
    for fired in spikes[1:]:
        calcium.append(0.9 * calcium[-1] + 0.2 * fired)
    np.save(tmp_path / "recording.npy", np.array(calcium))
    recording = read_recording(tmp_path / "recording.npy")
    dm.connectome(recording, method="averaged")
    dm.connectome(recording, method="genie3", n_estimators=5)
    forest = dm.RandomForestRegressor(5)
    dm.genie3(np.array(calcium), estimator=forest, random_state=0)
    assert_straight(paths, ("networks", "data"), ("networks", "forests"))


def test_a_package_that_is_entered_twice_is_seen(paths: set[Path_]) -> None:
    code = "def call(function, *rest): return function(*rest)"
    callers = []
    for package in ("importances", "selection", "importances"):
        namespace: dict[str, Any] = {"__name__": f"duramen.{package}.toy"}
        exec(code, namespace)
        callers.append(namespace["call"])
    callers[0](*callers[1:], _kernel.digest, b"")
    assert paths == {("importances", "selection", "importances")}
    with pytest.raises(AssertionError):
        assert_straight(paths)
