"""MDA of a predictor that is no forest of this package, on a sample (thesis, eq. 4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from duramen.data.containers import names_of, table_like
from duramen.importances.passes.permutation import ALL
from duramen.results.importances import Importances
from duramen.support import checks
from duramen.support.arrays import refuse_masked
from duramen.support.provenance import versions


def predictor_mda(
    model: Any,
    X: Any,
    y: Any,
    scoring: Any,
    n_repeats: int | str | None,
    random_state: Any,
    n_jobs: int | None,
) -> Importances:
    """Measure a fitted predictor with scikit-learn's `permutation_importance`.

    The loss of the default score is 0/1 for classes and the squared error for numbers.
    """
    from sklearn.base import is_classifier
    from sklearn.inspection import permutation_importance

    if n_repeats == ALL:
        raise ValueError('mda: n_repeats="all" works with forests of duramen only; give a number.')
    repeats = 5 if n_repeats is None else checks.check_integer("mda", "n_repeats", n_repeats, 1)
    if scoring is None:
        scoring = "accuracy" if is_classifier(model) else "neg_mean_squared_error"
    seed = checks.draw_seed(random_state)
    table = table_like(X)
    y = refuse_masked(y, "y", "mda")
    found = permutation_importance(
        model,
        table,
        y,
        scoring=scoring,
        n_repeats=repeats,
        random_state=seed % 2**32,
        n_jobs=n_jobs,
    )
    drops = np.asarray(found.importances)
    names = names_of(table) or [f"x{j}" for j in range(len(drops))]
    error = drops.std(axis=1, ddof=1) / np.sqrt(repeats) if repeats > 1 else None
    what = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    return Importances(
        names=tuple(map(str, names)),
        values=drops.mean(axis=1),
        measure="mda",
        unit=f"score: {what}",
        standard_error=error,
        metadata={
            "mda": {"scoring": str(what), "n_repeats": repeats, "permutation_seed": seed},
            "model": repr(model),
            "versions": versions(),
        },
    )
