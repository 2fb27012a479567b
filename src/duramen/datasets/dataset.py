"""Data sets: records, and the functions that load or make exact and simulated problems."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.results.summary import Summarized, Summary
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.arrow import pq
from duramen.theory.distributions.examples import SEGMENTS


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Summarized):
    """A table, its target, and the known truth about them.

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
    """Make the exclusive or of two bits; each bit alone is independent of the target.

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


_GENE_NETWORK = "gene_network"
_ACTIVATING = 0.6  # fraction of the links
_STEPS = 300  # of the iteration towards the steady state
_DAMPING = 0.3


@dataclass(frozen=True, eq=False, repr=False)
class GeneNetwork:
    """Expression of p genes in n samples, and the links that made it.

    Attributes
    ----------
    expression : float64 array of shape (n, p)
        Measured expression, samples by genes.
    names : tuple of str
        Names of the genes, G1, G2, ...
    links : bool array of shape (p, p)
        True where the gene of the row regulates the gene of the column.
    activating : bool array of shape (p, p) or None
        True for links that raise the expression of their target; None where that is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.datasets import GeneNetwork
    >>> GeneNetwork(np.ones((4, 2)), ("a", "b"), np.array([[False, True], [False, False]]), None)
    GeneNetwork(4 samples x 2 genes, 1 links)
    """

    expression: FloatArray
    names: tuple[str, ...]
    links: BoolArray
    activating: BoolArray | None

    def __repr__(self) -> str:
        n, p = self.expression.shape
        return f"GeneNetwork({n} samples x {p} genes, {int(self.links.sum())} links)"


def gene_network(
    n_samples: int = 100,
    n_genes: int = 100,
    *,
    n_links: int | None = None,
    regulators: float = 0.4,
    hubs: float | None = 1.5,
    perturbation: float = 0.2,
    noise: float = 0.05,
    random_state: int | np.random.Generator | None = None,
) -> GeneNetwork:
    r"""Simulate steady states of a gene network under multifactorial perturbations.

    In every sample the production of each gene is multiplied by a factor of its own, as in samples
    of different individuals. The expression x of gene i then settles where production and decay
    are equal:

    .. math:: x_i = e^{s \epsilon_i} \left( b_i + (1 - b_i) F_i(x) \right)

    with :math:`\epsilon_i` standard normal, s the strength of the perturbations, :math:`b_i` a
    basal rate and :math:`F_i` the product or, with probability 1/2, the mean of the Hill functions
    of its regulators, :math:`x^h / (x^h + k^h)` or one minus this for those that repress. A gene
    without regulators has F = 1/2. Feedback is possible.

    Parameters
    ----------
    n_samples, n_genes : int
        Numbers n of samples and p of genes.
    n_links : int, optional
        Number of links; 2 p by default.
    regulators : float
        Fraction of the genes that may regulate others.
    hubs : float or None
        Exponent of the Pareto distribution of the odds with which a regulator takes a link: the
        smaller, the more links have few hubs. None for equal odds.
    perturbation : float
        Strength s of the perturbations: standard deviation of the logarithm of the production.
    noise : float
        Standard deviation of the measurement: of its multiplicative part, and, as a fraction of the
        gene's mean, of its additive part.
    random_state : int, numpy.random.Generator or None
        Source of the random numbers.

    Returns
    -------
    GeneNetwork

    Raises
    ------
    ValueError
        If a number is out of its range, or there are more links than pairs.

    Examples
    --------
    >>> import duramen as dm
    >>> dm.datasets.gene_network(50, 20, random_state=0)
    GeneNetwork(50 samples x 20 genes, 40 links)
    """
    n = checks.check_integer(_GENE_NETWORK, "n_samples", n_samples, 2)
    p = checks.check_integer(_GENE_NETWORK, "n_genes", n_genes, 2)
    fraction = checks.check_real(_GENE_NETWORK, "regulators", regulators, 0, 1)
    if hubs is not None:
        hubs = checks.check_real(_GENE_NETWORK, "hubs", hubs, 0, ends="(]")
    s = checks.check_real(_GENE_NETWORK, "perturbation", perturbation, 0)
    spread = checks.check_real(_GENE_NETWORK, "noise", noise, 0)
    n_regulators = min(p, max(1, round(fraction * p)))
    most = n_regulators * (p - 1)
    asked = min(2 * p, most) if n_links is None else n_links
    hint = "raise regulators or n_genes"
    count = checks.check_integer(_GENE_NETWORK, "n_links", asked, 0, most=most, hint=hint)
    rng = np.random.default_rng(random_state)
    links = _wiring(rng, p, n_regulators, count, hubs)
    activating = links & (rng.random((p, p)) < _ACTIVATING)
    settled = _steady_states(rng, links, activating, n, s)
    measured = settled * np.exp(spread * rng.standard_normal((n, p)))
    measured += spread * settled.mean(axis=0) * rng.standard_normal((n, p))
    names = tuple(f"G{i + 1}" for i in range(p))
    return GeneNetwork(np.maximum(measured, 0.0), names, links, activating)


def _wiring(
    rng: np.random.Generator, p: int, n_regulators: int, count: int, hubs: float | None
) -> BoolArray:
    """Draw links without replacement, with a probability for each regulator."""
    weight = np.zeros(p)
    extra = 0.0 if hubs is None else rng.pareto(hubs, n_regulators)
    weight[rng.permutation(p)[:n_regulators]] = 1.0 + extra
    odds = np.repeat(weight[:, None], p, axis=1)
    np.fill_diagonal(odds, 0.0)
    links = np.zeros(p * p, dtype=np.bool_)
    links[rng.choice(p * p, count, replace=False, p=odds.ravel() / odds.sum())] = True
    return links.reshape(p, p)


def _steady_states(
    rng: np.random.Generator,
    links: BoolArray,
    activating: BoolArray,
    n: int,
    strength: float,
) -> FloatArray:
    """Iterate production against decay until it has settled, for all samples at a time."""
    p = len(links)
    basal = rng.uniform(0.05, 0.3, p)
    exponent, threshold = rng.uniform(1.0, 4.0, (p, p)), rng.uniform(0.2, 0.7, (p, p))
    multiplies = rng.random(p) < 0.5
    factor = np.exp(strength * rng.standard_normal((n, p)))
    # Links in the order of their targets: those of a target side by side.
    j, i = np.nonzero(links.T)
    regulated, first, counts = np.unique(j, return_index=True, return_counts=True)
    h, k, raises = exponent[i, j], threshold[i, j], activating[i, j]
    x = np.full((n, p), 0.5)
    rate = np.full((n, p), 0.5)
    for _ in range(_STEPS):
        if len(j):
            ratio = (x[:, i] / k) ** h
            acts = np.where(raises, ratio, 1.0) / (1.0 + ratio)
            products = np.multiply.reduceat(acts, first, axis=1)
            means = np.add.reduceat(acts, first, axis=1) / counts
            rate[:, regulated] = np.where(multiplies[regulated], products, means)
        x += _DAMPING * (factor * (basal + (1.0 - basal) * rate) - x)
    return x


_DREAM4 = "load_dream4"
# Names of the files: as the challenge gave them, and as tables.
_EXPRESSION = ("insilico_size{size}_{i}_multifactorial.tsv", "net{i}/expression.parquet")
_GOLD = (
    "DREAM4_GoldStandard_InSilico_Size{size}_multifactorial_{i}.tsv",
    "net{i}/gold.parquet",
)


def load_dream4(i: int, folder: str | PathLike[str], *, size: int = 100) -> GeneNetwork:
    """Load a DREAM4 in silico network with its multifactorial expression.

    The data do not ship with this package, since their license is not stated; they can be had
    from the DREAM challenges at Synapse (syn3049712).

    Parameters
    ----------
    i : int
        Number of the network, 1 to 5.
    folder : path
        Folder that holds, at any depth, the files of the challenge, such as
        ``insilico_size100_1_multifactorial.tsv`` and
        ``DREAM4_GoldStandard_InSilico_Size100_multifactorial_1.tsv``; or the same columns as
        ``net1/expression.parquet`` and ``net1/gold.parquet``.
    size : {10, 100}
        Number of genes.

    Returns
    -------
    GeneNetwork
        Expression of `size` genes in as many samples, and the true links; whether they activate is
        not known.

    Raises
    ------
    FileNotFoundError
        If a file is not there, naming it.
    ValueError
        If `i` or `size` is another number.

    References
    ----------
    D. Marbach et al. (2010). Revealing strengths and weaknesses of methods for gene network
    inference. PNAS 107.

    Examples
    --------
    Where the two files are in the folder ``dream4``:

    >>> import duramen as dm
    >>> from pathlib import Path
    >>> if Path("dream4").is_dir():
    ...     made = dm.datasets.load_dream4(1, "dream4")
    ...     dm.genie3(made.expression, names=made.names).score(made.links)
    """
    checks.check_integer(_DREAM4, "i", i, 1, most=5)
    if size not in (10, 100):
        raise checks.refuse(_DREAM4, "size", "10 or 100", size)
    expression = _columns_of(Path(folder), _EXPRESSION, i, size)
    names = tuple(expression)
    place = {name: j for j, name in enumerate(names)}
    links = np.zeros((len(names), len(names)), dtype=np.bool_)
    for source, target, is_link in zip(
        *_columns_of(Path(folder), _GOLD, i, size).values(), strict=True
    ):
        links[place[source], place[target]] = bool(int(is_link))
    values = np.column_stack(
        [np.asarray(column, dtype=np.float64) for column in expression.values()]
    )
    return GeneNetwork(values, names, links, None)


def _columns_of(folder: Path, forms: tuple[str, str], i: int, size: int) -> dict[str, list[Any]]:
    """Return the columns of the first file that is there, by name."""
    from pyarrow import csv

    names = [form.format(i=i, size=size) for form in forms]
    for file in (file for name in names for file in sorted(folder.rglob(name))):
        if file.suffix == ".parquet":
            table = pq.read_table(file)
        else:
            header = csv.ReadOptions(autogenerate_column_names=forms is _GOLD)
            table = csv.read_csv(file, header, csv.ParseOptions(delimiter="\t"))
        columns: dict[str, list[Any]] = table.to_pydict()
        return columns
    raise FileNotFoundError(
        f"{_DREAM4}: {folder} must hold {names[0]}, at any depth. Hint: unpack the archives of "
        "the DREAM4 in silico challenge there."
    )
