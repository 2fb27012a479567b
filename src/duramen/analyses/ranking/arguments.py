"""Arguments of `duramen.rank`: forest, measures, test and groups that they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from duramen.analyses.execution import PYTHON, Execution
from duramen.analyses.inputs import names_of_rows
from duramen.analyses.ranking.request import (
    Groups,
    Request,
    default_forest,
    fewer_trees,
    trees_by_default,
    with_estimates,
)
from duramen.analyses.ranking.rows import RowsAsked
from duramen.data import LearningSet
from duramen.estimators.catalogue import FORESTS
from duramen.importances import catalogue as measures
from duramen.importances.refit import template_of
from duramen.io.groups import CLUSTERS, members_of
from duramen.significance import catalogue as tests
from duramen.support import checks

_OWNER = "rank"
_BESIDE = ("direct", "interactions")  # tests that give no verdicts


def measures_of(asked: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of measures; none for "auto"."""
    if isinstance(asked, str) and asked == "auto":
        return ()
    allowed = ("auto", *(measure.name for measure in measures))
    chosen = [checks.check_choice(_OWNER, "measure", name, allowed) for name in _names(asked)]
    if not chosen or "auto" in chosen:
        raise checks.refuse(_OWNER, "measure", "'auto' or names of measures", asked)
    return tuple(chosen)


def forest_for(
    data: LearningSet[Any],
    estimator: Any,
    execution: Execution,
    notes: list[str],
) -> tuple[Any, str]:
    """Return the forest to grow, not fitted, and the name of its kind.

    An estimator without a seed or a number of threads takes those of the call.

    Raises
    ------
    ValueError, TypeError
        If it is none of duramen, or is for another task.
    """
    work = {"n_jobs": execution.n_jobs, "verbose": execution.verbose}
    if estimator is None:
        notes += fewer_trees(data.n_rows, "n_estimators of estimator")
        n_trees = trees_by_default(data.n_rows)
        forest = default_forest(data.task, n_trees, random_state=execution.random_state, **work)
        return forest, FORESTS[0].name
    forest = template_of(estimator, _OWNER)
    if forest.task != data.task:
        raise ValueError(
            f"{_OWNER}: estimator must be for {data.task}, which is the task of this target, got "
            f"{type(forest).__name__}."
        )
    if forest.random_state is None:
        forest.set_params(random_state=execution.random_state)
    own = {name: value for name, value in work.items() if getattr(forest, name) in (None, 0)}
    name = next(
        (kind.name for kind in FORESTS if type(forest).__name__ in kind.names),
        type(forest).__name__,
    )
    return with_estimates(forest.set_params(**own)), name


def _names(asked: Any) -> list[Any]:
    """Return names as catalogues spell them, of a name or several."""
    names = [asked] if isinstance(asked, str) or not isinstance(asked, Iterable) else asked
    return [name.replace("-", "_") if isinstance(name, str) else name for name in names]


def tests_of(asked: str | Sequence[str] | Literal[False]) -> tuple[str, ...]:
    """Return the names of tests, of which at most one gives verdicts; none for False.

    Raises
    ------
    ValueError
        If they are no such names.
    """
    if asked is False:
        return ()
    allowed = ["auto", *(test.name for test in tests), *_BESIDE]
    names = _names(asked)
    if not names or not all(name in allowed for name in names):
        words = ", ".join(map(repr, allowed))
        raise checks.refuse(_OWNER, "test", f"False, or one or more of {words}", asked)
    if sum(name not in _BESIDE for name in names) > 1:
        words = " and ".join(map(repr, _BESIDE))
        raise checks.refuse(_OWNER, "test", f"one name at most beside {words}", asked)
    if {"direct", "conditional"} <= set(names):
        hint = "leave out one of them, which are the same test"
        raise checks.refuse(_OWNER, "test", "'direct' or 'conditional'", asked, hint)
    return tuple(names)


def requested_test(
    names: Sequence[str], n_permutations: int | None, checkpoint: Any, *, beside: bool
) -> Request | None:
    """Return the test that gives verdicts; None where there is none among the names.

    `beside` tells whether something else is computed that uses groups and the checkpoint.

    Raises
    ------
    ValueError
        If it has no use for an argument.
    """
    checks.check_optional_integer(_OWNER, "n_permutations", n_permutations, 1)
    name = next((name for name in names if name not in _BESIDE), None)
    if name is None:
        unused = {"n_permutations": n_permutations, "checkpoint": None if beside else checkpoint}
        for parameter, value in unused.items():
            if value is not None:
                shown = " and ".join(map(repr, names)) or False
                raise ValueError(
                    f"{_OWNER}: {parameter} has no effect with test={shown}; leave it out."
                )
        return None
    default = name == "auto"
    test = next(test for test in tests if test.default) if default else tests[name]
    wasted = {
        "n_permutations": None if test.repeats else n_permutations,
        "checkpoint": None if beside or test.grows else checkpoint,
    }
    why = "whose number of forests is fixed" if test.grows else "which grows no forests"
    for parameter, value in wasted.items():
        if value is not None:
            raise ValueError(
                f"{_OWNER}: {parameter} has no effect with test={test.name!r}, {why}; leave it out."
            )
    request = Request(test, n_permutations, default=default)
    request.check(PYTHON, f"{_OWNER}: ")
    return request


def check_exchanges(
    request: Request | None, data: LearningSet[Any], *, beside: bool, direct: bool
) -> None:
    """Check that the test, or what is computed beside it, has a use for strata and groups.

    Raises
    ------
    ValueError
        If not.
    """
    rows = data.exchangeability
    asked = {"strata": (rows.strata, direct), "groups": (rows.groups, beside)}
    for name, (labels, used) in asked.items():
        if labels is None or used or request is None or request.test.takes(name):
            continue
        able = ", ".join(repr(test.name) for test in tests if test.takes(name))
        raise ValueError(
            f"{_OWNER}: {name} has no effect with test={request.test.name!r}; allowed with {able}."
        )


def groups_of(feature_groups: Any, features: Sequence[str]) -> Groups | None:
    """Return groups of features, by the group of each.

    Raises
    ------
    ValueError, TypeError
        If they are no such groups, or overlap.
    """
    if feature_groups is None:
        return None
    owner = f"{_OWNER}: feature_groups"
    members = members_of(feature_groups, features, owner)
    of_names = {name: [features[j] for j in group] for name, group in members.items()}
    is_path = isinstance(feature_groups, str | PathLike)
    source = Path(feature_groups).name if is_path else "feature_groups"
    return Groups(source, checks.group_of_each(of_names, owner))


def is_clusters(feature_groups: Any, clusters: float | None) -> bool:
    """Tell whether the groups are the clusters that are found.

    Raises
    ------
    ValueError
        If no clusters are asked for.
    """
    if not (isinstance(feature_groups, str) and feature_groups == CLUSTERS):
        return False
    if clusters is None:
        raise ValueError(f"{_OWNER}: feature_groups='clusters' needs clusters, such as 0.8.")
    return True


def rows_asked(explain: Any) -> RowsAsked | None:
    """Return the rows to explain: those of the table that are named, or new ones.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if explain is None:
        return None
    if np.ndim(explain) == 2 or hasattr(explain, "columns"):
        return RowsAsked(table=explain, row_names=names_of_rows(explain))
    names = [explain] if isinstance(explain, str) or np.ndim(explain) == 0 else list(explain)
    if not names or not all(isinstance(name, str | int | np.integer) for name in names):
        allowed = "labels or numbers of rows, or a table with the columns of X"
        raise checks.refuse(_OWNER, "explain", allowed, explain)
    return RowsAsked(tuple(map(str, names)))


def threshold_of(name: str, value: float | None) -> float | None:
    """Return a correlation in (0, 1], or None."""
    return None if value is None else checks.check_real(_OWNER, name, value, 0, 1, ends="(]")
