"""Made-up problems of any size, with the truth at hand."""

from __future__ import annotations

import numpy as np

from duramen.datasets.dataset import Dataset

# A hypercube of d dimensions has 2^d vertices, each the centre of a cloud.
_MOST_INFORMATIVE = 16

RandomState = int | np.random.Generator | None


def madelon_like(
    n_samples: int = 2600,
    *,
    n_informative: int = 5,
    n_redundant: int = 15,
    n_probes: int = 480,
    flip: float = 0.01,
    random_state: RandomState = None,
) -> Dataset:
    """Make a problem like Madelon: an exclusive or of many dimensions, copies of it, and probes.

    Normal clouds sit on the vertices of a hypercube in the informative dimensions, half of the
    vertices at random belong to class 1; redundant features are linear combinations of the
    informative ones; probes are noise. The columns are shuffled.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_informative, n_redundant, n_probes : int
        Number of features of each kind; the first two kinds are relevant.
    flip : float
        Share of rows whose class is drawn at random.
    random_state : int, numpy.random.Generator or None
        Where the random numbers come from.

    Returns
    -------
    Dataset
        X float64, y of 0 and 1; `details` holds ``informative`` and ``redundant`` names.
    """
    _check_count("madelon_like", "n_samples", n_samples, 1)
    _check_count("madelon_like", "n_informative", n_informative, 1, _MOST_INFORMATIVE)
    _check_count("madelon_like", "n_redundant", n_redundant, 0)
    _check_count("madelon_like", "n_probes", n_probes, 0)
    _check_share("madelon_like", "flip", flip)
    from sklearn.datasets import make_classification

    rng = np.random.default_rng(random_state)
    n_features = n_informative + n_redundant + n_probes
    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_clusters_per_class=2 ** (n_informative - 1),
        class_sep=2.0,
        flip_y=flip,
        shuffle=False,
        random_state=int(rng.integers(2**31)),
    )
    rows, columns = rng.permutation(n_samples), rng.permutation(n_features)
    names = tuple(f"f{j}" for j in range(n_features))
    kinds = np.repeat(["informative", "redundant", "probe"], [n_informative, n_redundant, n_probes])
    kind = dict(zip(names, kinds[columns].tolist(), strict=True))
    return Dataset(
        name="madelon_like",
        X=np.ascontiguousarray(X[rows][:, columns]),
        y=y[rows],
        names=names,
        description=(
            f"Clouds on the vertices of a hypercube in {n_informative} dimensions with classes at "
            f"random, {n_redundant} linear combinations of them, {n_probes} probes."
        ),
        citation=(
            "I. Guyon, J. Li, T. Mader, P. Pletscher, G. Schneider, M. Uhr (2007). Competitive "
            "baseline methods set new standards for the NIPS 2003 feature selection benchmark. "
            "Pattern Recognition Letters 28, 1438-1444."
        ),
        relevant=tuple(name for name in names if kind[name] != "probe"),
        details={
            wanted: tuple(name for name in names if kind[name] == wanted)
            for wanted in ("informative", "redundant")
        },
    )


def linear_sign(
    n_samples: int = 500,
    n_features: int = 120,
    *,
    n_relevant: int = 20,
    flip: float = 0.1,
    random_state: RandomState = None,
) -> Dataset:
    """Make the linear problem of Paul, Verleysen and Dupont: y = sign(X w), some labels flipped.

    Features are standard normal. The weights of the first `n_relevant` ones are uniform on (0, 1),
    so that some of these matter hardly at all; the other weights are 0.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table.
    n_relevant : int
        Number of features with a weight.
    flip : float
        Share of labels that are flipped, rounded to whole rows.
    random_state : int, numpy.random.Generator or None
        Where the random numbers come from.

    Returns
    -------
    Dataset
        X float64, y of -1 and 1; `details` holds ``weights``.
    """
    _check_count("linear_sign", "n_samples", n_samples, 1)
    _check_count("linear_sign", "n_features", n_features, 1)
    _check_count("linear_sign", "n_relevant", n_relevant, 0)
    _check_share("linear_sign", "flip", flip)
    if n_relevant > n_features:
        raise ValueError(
            f"linear_sign: n_relevant must be at most n_features={n_features}, got {n_relevant}."
        )
    rng = np.random.default_rng(random_state)
    weights = np.zeros(n_features)
    weights[:n_relevant] = rng.uniform(size=n_relevant)
    X = rng.standard_normal((n_samples, n_features))
    y = np.where(X @ weights >= 0, 1, -1)
    flipped = rng.choice(n_samples, size=round(flip * n_samples), replace=False)
    y[flipped] *= -1
    names = tuple(f"x{j}" for j in range(1, n_features + 1))
    return Dataset(
        name="linear_sign",
        X=X,
        y=y,
        names=names,
        description=f"Sign of a weighted sum of {n_relevant} normal features; {flip:.0%} flipped.",
        citation=(
            "J. Paul, M. Verleysen, P. Dupont (2013). Identification of statistically significant "
            "features from random forests. ECML workshop on solving complex machine learning "
            "problems with ensemble methods."
        ),
        relevant=names[:n_relevant],
        details={"weights": weights},
    )


def _check_count(function: str, what: str, count: int, least: int, most: int | None = None) -> None:
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not whole or count < least or (most is not None and count > most):
        allowed = f">= {least}" if most is None else f"in {least}..{most}"
        raise ValueError(f"{function}: {what} must be an int {allowed}, got {count!r}.")


def _check_share(function: str, what: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"{function}: {what} must be a share from 0 to 1, got {share!r}.")
