"""Data sets: their record, the small ones that ship, exact and generated ones."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.summary import Summarized, Summary
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray
from duramen.support.arrow import pq
from duramen.theory.distributions.examples import SEGMENTS


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Summarized):
    """A table, its target, and what is known about them.

    Attributes
    ----------
    name : str
        Short name.
    X : ndarray of shape (n, p), or pyarrow.Table
        The features: an array where all are numbers, else a table.
    y : ndarray of shape (n,)
        The target.
    names : tuple of str
        Names of the p features.
    description : str
        What the rows, the features and the target are.
    citation : str
        Source to cite; empty for a simulated problem without one.
    relevant : tuple of str or None
        Names of the features that are relevant to the target; None where they are not known.
    details : mapping
        Further truths of a simulated problem, such as the weights of a linear one.

    Examples
    --------
    >>> import duramen as dm
    >>> digits = dm.datasets.digits7()
    >>> digits.n_rows, digits.n_features, digits.relevant[0]
    (10, 7, 'X1')
    """

    name: str
    X: Any
    y: NDArray[Any]
    names: tuple[str, ...]
    description: str
    citation: str = ""
    relevant: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return len(self.names)

    def __repr__(self) -> str:
        relevant = "" if self.relevant is None else f", {len(self.relevant)} relevant"
        return f"Dataset({self.name}: {self.n_rows} rows x {self.n_features} features{relevant})"

    def _summary(self, rows: int) -> Summary:
        return Summary((repr(self), self.description))


LEUKEMIA = "leukemia.parquet"
LEUKEMIA_CITATION = (
    "T. R. Golub, D. K. Slonim, P. Tamayo et al. (1999). Molecular classification of cancer: class "
    "discovery and class prediction by gene expression monitoring. Science 286, 531-537."
)
PRIMARY_TUMOR = "primary_tumor.parquet"
PRIMARY_TUMOR_CITATION = (
    "This primary tumor domain was obtained from the University Medical Centre, Institute of "
    "Oncology, Ljubljana, Yugoslavia. Thanks go to M. Zwitter and M. Soklic for providing the data."
)


def load_leukemia() -> Dataset:
    """Load the leukemia set of Golub et al.: 72 patients, 7129 probe sets, ALL against AML.

    Returns
    -------
    Dataset
        X float64 of shape (72, 7129), y of ``"ALL"`` (47) and ``"AML"`` (25).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.load_leukemia()
    Dataset(leukemia: 72 rows x 7129 features)
    """
    table = _read(LEUKEMIA)
    names = tuple(table.column_names[1:])
    return Dataset(
        name="leukemia",
        X=np.column_stack([column.to_numpy() for column in table.columns[1:]]).astype(np.float64),
        y=np.array(table.column("y").to_pylist()),
        names=names,
        description="Expression of 7129 probe sets in 72 acute leukemias, of the type ALL or AML.",
        citation=LEUKEMIA_CITATION,
    )


def load_primary_tumor() -> Dataset:
    """Load the primary tumor set (UCI, Ljubljana): 339 patients, 17 categorical attributes.

    Returns
    -------
    Dataset
        X a pyarrow table of dictionary columns with missing values, y the site of the primary
        tumor (21 sites).

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.load_primary_tumor().names[:3]
    ('age', 'sex', 'histologic-type')
    """
    table = _read(PRIMARY_TUMOR)
    return Dataset(
        name="primary_tumor",
        X=table.drop_columns("y"),
        y=np.array(table.column("y").to_pylist()),
        names=tuple(name for name in table.column_names if name != "y"),
        description="Findings in 339 patients with metastases, and the site of the primary tumor.",
        citation=PRIMARY_TUMOR_CITATION,
    )


def bundled_file(name: str) -> AbstractContextManager[Path]:
    """Return a context that gives the path of a file that ships with the package."""
    return as_file(files("duramen.datasets") / "data" / name)


def _read(name: str) -> Any:
    with bundled_file(name) as path:
        return pq.read_table(path)


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


# A hypercube of d dimensions has 2^d vertices, each the center of a cloud.
_MOST_INFORMATIVE = 16
_SEPARATION = 2.0
_KINDS = ("informative", "redundant", "repeated")

RandomState = int | np.random.Generator | None


def madelon_like(
    n_samples: int = 2600,
    *,
    n_informative: int = 5,
    n_redundant: int = 5,
    n_repeated: int = 10,
    n_probes: int = 480,
    flip: float = 0.01,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> Dataset:
    """Make a problem like Madelon: an exclusive or of many dimensions, copies of it, and probes.

    Normal clouds, each with covariances of its own, sit on the vertices of a hypercube in the
    informative dimensions, at -2 and 2; half of the vertices, drawn at random, belong to class 1,
    so that some dimensions may be relevant alone, but only all together determine the class.
    Redundant features are linear combinations of the informative ones with weights uniform on
    (-1, 1), repeated ones copies of both kinds; all have noise of their own. Probes are standard
    normal. The columns are shuffled.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_informative, n_redundant, n_repeated, n_probes : int
        Number of features of each kind; the first three kinds are relevant.
    flip : float
        Fraction of rows whose class is drawn at random.
    noise : float
        Standard deviation of the noise of a relevant feature, as a fraction of the feature's own.
        With .1 a feature and its copy have correlation .99, as in Madelon.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    Dataset
        X float64, y of 0 and 1; `details` holds ``informative``, ``redundant`` and ``repeated``
        names.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.madelon_like(100, n_probes=30, random_state=0)
    Dataset(madelon_like: 100 rows x 50 features, 20 relevant)
    """
    checks.check_integer("madelon_like", "n_samples", n_samples, 1)
    checks.check_integer("madelon_like", "n_informative", n_informative, 1, most=_MOST_INFORMATIVE)
    checks.check_integer("madelon_like", "n_redundant", n_redundant, 0)
    checks.check_integer("madelon_like", "n_repeated", n_repeated, 0)
    checks.check_integer("madelon_like", "n_probes", n_probes, 0)
    checks.check_real("madelon_like", "flip", flip, 0, 1)
    checks.check_real("madelon_like", "noise", noise, 0, 1)
    rng = np.random.default_rng(random_state)
    informative, labels = _clouds(rng, n_samples, n_informative)
    redundant = informative @ rng.uniform(-1, 1, (n_informative, n_redundant))
    own = np.hstack([informative, redundant])
    relevant = np.hstack([own, own[:, rng.integers(0, own.shape[1], n_repeated)]])
    relevant += noise * relevant.std(axis=0) * rng.standard_normal(relevant.shape)
    drawn = rng.integers(0, 2, n_samples)
    y = np.where(rng.random(n_samples) < flip, drawn, labels)
    columns = rng.permutation(relevant.shape[1] + n_probes)
    X = np.empty((n_samples, len(columns)))
    place = np.argsort(columns)
    X[:, place[: relevant.shape[1]]] = relevant
    for j in place[relevant.shape[1] :].tolist():
        X[:, j] = rng.standard_normal(n_samples)
    counts = [n_informative, n_redundant, n_repeated, n_probes]
    kind = np.repeat([*_KINDS, "probe"], counts)[columns].tolist()
    names = tuple(f"f{j}" for j in range(len(columns)))
    return Dataset(
        name="madelon_like",
        X=X,
        y=y,
        names=names,
        description=(
            f"Clouds on the vertices of a hypercube in {n_informative} dimensions with classes at "
            f"random, {n_redundant} linear combinations of them, {n_repeated} copies of these, "
            f"{n_probes} probes."
        ),
        citation=(
            "I. Guyon, J. Li, T. Mader, P. Pletscher, G. Schneider, M. Uhr (2007). Competitive "
            "baseline methods set new standards for the NIPS 2003 feature selection benchmark. "
            "Pattern Recognition Letters 28, 1438-1444."
        ),
        relevant=tuple(names[j] for j in range(len(names)) if kind[j] != "probe"),
        details={
            wanted: tuple(names[j] for j in range(len(names)) if kind[j] == wanted)
            for wanted in _KINDS
        },
    )


def _clouds(
    rng: np.random.Generator, n_samples: int, n_informative: int
) -> tuple[FloatArray, IntArray]:
    """Draw points of the clouds on the vertices of a hypercube, and the classes of these."""
    # scikit-learn's make_classification gives all vertices their classes in turn: the last
    # dimension alone then decides.
    n_vertices = 2**n_informative
    vertex = rng.permutation(np.arange(n_samples) % n_vertices)
    classes = rng.permutation(np.arange(n_vertices) % 2)
    corners = 2.0 * _SEPARATION * (vertex[:, None] >> np.arange(n_informative) & 1) - _SEPARATION
    points = rng.standard_normal((n_samples, n_informative))
    for number in range(n_vertices):
        points[vertex == number] @= rng.uniform(-1, 1, (n_informative, n_informative))
    return points + corners, classes[vertex]


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
    so that some of these hardly matter; the other weights are 0.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table.
    n_relevant : int
        Number of features with a weight.
    flip : float
        Fraction of labels that are flipped, rounded to whole rows.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    Dataset
        X float64, y of -1 and 1; `details` holds ``weights``.

    Examples
    --------
    >>> import duramen as dm
    >>> problem = dm.datasets.linear_sign(100, 30, n_relevant=3, random_state=0)
    >>> problem.X.shape, problem.relevant
    ((100, 30), ('x1', 'x2', 'x3'))
    """
    checks.check_integer("linear_sign", "n_samples", n_samples, 1)
    checks.check_integer("linear_sign", "n_features", n_features, 1)
    checks.check_integer("linear_sign", "n_relevant", n_relevant, 0)
    checks.check_real("linear_sign", "flip", flip, 0, 1)
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
