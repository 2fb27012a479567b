"""A significance test in one file: p-values by ranks of the importances."""

from typing import Any

import numpy as np

from duramen import Significance
from duramen.significance import SignificanceTest
from duramen.significance.measured import measured


def toy_ranks(
    estimator: Any, X: Any, y: Any = None, *, measure: Any = "mdi", n_rounds: int = 4
) -> Significance:
    """Return the fraction of features that are as important, averaged over so many forests."""
    subject = measured(estimator, X, y, measure, "toy_ranks")
    scores = np.mean([subject.scores(seed) for seed in range(n_rounds)], axis=0)
    return Significance(
        names=subject.names,
        scores=scores,
        p_values=np.mean(scores[:, np.newaxis] <= scores, axis=1),
        method="toy_ranks",
        null="The features could be in any order.",
        metadata=subject.identity("toy_ranks", n_rounds=n_rounds),
    )


TOY = SignificanceTest(
    "toy_ranks",
    toy_ranks,
    "toy ranks",
    "Nothing is promised at the level {level:g}.",
    reference="A. Toy (2021). Ranks.",
    repeats="n_rounds",
    forests=lambda rounds, p: rounds,
    least=2,
)
