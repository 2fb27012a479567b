"""Samples of the rows for what takes too long on all rows of a tall table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from duramen.analyses.execution import Execution
from duramen.analyses.ranking.measuring import is_let_go
from duramen.analyses.sampling import proportions, sampled_rows

if TYPE_CHECKING:
    from duramen.analyses.ranking.request import Request
    from duramen.data import EncodedTable, LearningSet
    from duramen.importances import Inputs

# Rows from which on the test that nobody asked for is of a sample, and the rows of samples. A test
# grows about 100 forests, so that its time is about that of the ranking on 100 times as many rows.
MANY, FEW = 100_000, 20_000
_TREES = 200  # that describe effects if those of the ranking were let go, at most


def tested_rows(
    request: Request, given: Inputs, execution: Execution
) -> tuple[Inputs, tuple[str, ...]]:
    """Return the rows that the test is about, and what is to be said of them."""
    data = given.data
    if not request.default or data.n_rows <= MANY:
        return given, ()
    told = (
        f"the significance test is of a random sample of {FEW:,} of the {data.n_rows:,} rows"
        f"{proportions(data.target)}, since it grows many forests; features with small effects may "
        f"be found on all rows alone: {execution.wording.test(request.test)} tests them on all"
    )
    return replace(given, data=_sample(given)), (told,)


def described(given: Inputs) -> tuple[Any, LearningSet[EncodedTable]]:
    """Return a fitted forest and its rows, by which effects are described.

    Where the trees of the ranking were let go, those of a sample of the rows.
    """
    if not is_let_go(given.estimator):
        return given.estimator, given.data
    data = given.data if given.data.n_rows <= MANY else _sample(given)
    estimator = given.unfitted().estimator
    estimator.set_params(n_estimators=min(_TREES, estimator.n_estimators))
    return estimator.fit(data), data


def _sample(given: Inputs) -> LearningSet[EncodedTable]:
    seed = given.random_state or 0
    rows = sampled_rows(given.data.target, FEW, seed)
    return given.data.of_rows(rows, key=("sample", FEW, seed))
