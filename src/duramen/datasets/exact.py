"""Small problems whose rows are the whole population."""

from __future__ import annotations

import numpy as np

from duramen.datasets.dataset import Dataset
from duramen.theory.distributions.examples import SEGMENTS


def digits7() -> Dataset:
    """Make the ten digits on a seven-segment display.

    Seven binary features tell which segments are lit, the target is the digit; every digit comes
    once. All features are relevant. The exact importances of totally randomized multiway trees are
    .413 .582 .531 .542 .657 .226 .372 bits, log2(10) in all.

    Returns
    -------
    Dataset
        X int64 of shape (10, 7), y int64 with the digits 0..9 in order.

    Examples
    --------
    >>> import duramen as dm
    >>> digits = dm.datasets.digits7()
    >>> digits.X[8].tolist(), digits.y[8].item()
    ([1, 1, 1, 1, 1, 1, 1], 8)
    """
    names = tuple(f"X{m}" for m in range(1, 8))
    return Dataset(
        name="digits7",
        X=np.array([[int(lit) for lit in row] for row in SEGMENTS], dtype=np.int64),
        y=np.arange(10),
        names=names,
        description="The ten digits on a seven-segment display: segments lit, and the digit.",
        citation=(
            "L. Breiman, J. Friedman, R. Olshen, C. Stone (1984). Classification and Regression "
            "Trees. Wadsworth. Without noise as in G. Louppe, L. Wehenkel, A. Sutera, P. Geurts "
            "(2013). Understanding variable importances in forests of randomized trees. NIPS 26."
        ),
        relevant=names,
    )


def xor() -> Dataset:
    """Make the exclusive or of two bits: each alone is independent of the target, both give it.

    Returns
    -------
    Dataset
        X int64 of shape (4, 2) with the four pairs, y = X1 xor X2.

    Examples
    --------
    >>> import duramen as dm
    >>> problem = dm.datasets.xor()
    >>> problem.X.tolist(), problem.y.tolist()
    ([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    """
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int64)
    return Dataset(
        name="xor",
        X=X,
        y=X[:, 0] ^ X[:, 1],
        names=("X1", "X2"),
        description="The four pairs of two bits, and their exclusive or.",
        relevant=("X1", "X2"),
    )
