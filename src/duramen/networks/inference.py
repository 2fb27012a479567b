"""GENIE3: a forest for each target; the importances of its inputs are the weights of links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.data import EncodedTable, encode
from duramen.data.learning_sets import table_of
from duramen.data.memory import require_memory
from duramen.data.sources import table_like
from duramen.data.target import refuse_missing
from duramen.jobs.replicates import Plan, run_jobs
from duramen.networks.targets import (
    Scoring,
    TargetForest,
    Variables,
    settings_of,
    template_of_targets,
)
from duramen.networks.time_series import decay_rates, pairs_of, responses_of
from duramen.results.network import Network
from duramen.results.result import warn_of
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.provenance import fingerprint, versions
from duramen.support.text import joined, quoted

_FUNCTION = "genie3"
_ROWS = 256  # sources that are scaled together
_DENSE_BYTES = 1 << 28  # weights of all pairs up to this size are a dense matrix
_ENTRY_BYTES = 12  # of a link in a sparse matrix
_BUILT_BYTES = 40  # of a link while the sparse matrix is made of the results of the targets


@dataclass(frozen=True, eq=False)
class Experiment:
    r"""Times and interventions of the n samples of an experiment, for :func:`genie3`.

    Parameters
    ----------
    time : array-like of shape (n,), optional
        Time of each sample, NaN for steady states. The forests then predict rates of change:
        :math:`(x_j(t') - x_j(t)) / (t' - t) + \alpha_j x_j(t)` from the levels at t, with t' the
        next time of the series (dynGENIE3).
    series : array-like of shape (n,), optional
        Label of the time series of each sample; one series by default.
    decay : "estimate", float or array-like of shape (p,)
        Decay rates :math:`\alpha_j`, in 1 / unit of `time`; "estimate" takes them from the steepest
        series of each gene.
    knocked_out : sequence of length n, optional
        For each sample the gene, or genes, whose expression was set by the experiment, by name;
        None for none. Such samples are left out where that gene is the target.

    Raises
    ------
    ValueError
        If `series` or `decay` is given without `time`.

    Examples
    --------
    >>> import duramen as dm
    >>> made = dm.datasets.gene_network(60, 5, n_links=3, random_state=1)
    >>> experiment = dm.networks.Experiment(knocked_out=["G1"] * 5 + [None] * 55)
    >>> dm.genie3(made.expression, names=made.names, experiment=experiment, random_state=0).names
    ('G1', 'G2', 'G3', 'G4', 'G5')
    """

    time: Any = None
    series: Any = None
    decay: Any = "estimate"
    knocked_out: Any = None

    def __post_init__(self) -> None:
        estimated = isinstance(self.decay, str) and self.decay == "estimate"
        if self.time is None and not (self.series is None and estimated):
            raise ValueError(
                f"Experiment: {'decay' if self.series is None else 'series'} needs time. Hint: "
                "give time, the time of each sample."
            )


def genie3(
    expression: Any,
    *,
    regulators: Any = None,
    targets: Any = None,
    names: Iterable[str] | None = None,
    estimator: Any = None,
    measure: str = "mdi",
    normalization: str = "unit",
    source_scaling: str = "none",
    n_permutations: int = 0,
    null: str = "auto",
    experiment: Experiment | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    verbose: int = 0,
) -> Network:
    r"""Infer which variables, such as genes, regulate which (GENIE3 and dynGENIE3).

    Each target in turn is predicted from all regulators but itself by a forest. The importance of
    regulator i in the forest of target j is the weight of the link from i to j:

    .. math:: W_{ij} = Imp_j(X_i), \qquad W_{jj} = 0

    Parameters
    ----------
    expression : table of shape (n, p)
        Samples by genes: an array, data frame, sparse matrix, `EncodedTable`, `ColumnStore` or
        `LearningSet`, whose target is not used. Numbers are predicted by regression, categories by
        classification.
    regulators, targets : iterable of str or int, or bool array of shape (p,), optional
        Genes that may be the source, or the target, of a link, by name or index; all by default.
    names : iterable of str, optional
        Names of the genes; by default those of the table. Other kinds of columns are those of an
        `EncodedTable` (:func:`duramen.encode`).
    estimator : estimator of duramen, optional
        Parameters of the forests; it is cloned, not changed. By default
        ``RandomForestRegressor(1000, max_features="sqrt")``. Targets that are categories, or
        numbers if a classifier is given, get the estimator of the same kind and parameters for
        their task, with the entropy as the criterion of classes. More candidates at a node mask
        indirect links by direct ones, and stopping early avoids splits of few samples (thesis,
        8.2.2).
    measure : str
        Importance measure of a fitted forest, such as "mdi", "mdi_oob" or "mda"; or "last_level",
        the MDI of splits below all other inputs, which is 0 for indirect links of totally
        randomized multiway trees on infinite samples (thesis, eq. 8.1).
    normalization : {"unit", "sum", "none"}
        "unit": numeric targets have unit variance; scores of categorical ones are divided by their
        impurity (MDI) or by the error rate of the most frequent class. "sum": the weights of a
        target add up to 1. "none": the unit of each target.
    source_scaling : {"none", "variance"}
        "variance": the weights of each source are multiplied by their variance over the targets,
        so that links of regulators of many targets go first (ENNET; Slawek and Arodz 2013).
    n_permutations : int
        Number of permutations of each target for p-values of links; 0 for none.
    null : {"auto", "pooled", "source"}
        Permuted scores that a link is compared with: of all sources of the target ("pooled"), or of
        its own source only. "auto" pools where all regulators are numbers without ties.
    experiment : Experiment, optional
        Times of the samples, for dynGENIE3, and genes whose expression was set in some of them
        (:class:`duramen.networks.Experiment`).
    random_state : int, RandomState, Generator or None
        Seed. The forest of a target depends on it and on the index of the target alone.
    n_jobs : int, optional
        Number of threads; None for 1, -1 for all processors. The result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that grows the forests in place of threads; the result is the same.
    checkpoint : path, optional
        File that keeps the targets that are done; the same call continues from it.
    verbose : int
        Above 0: a progress bar over the targets, with the time left.

    Returns
    -------
    Network
        Weights of shape (p, p), source by target; with `p_values` if asked for. Links to constant
        targets have weight 0 and p-value 1. Weights that would take more than 256 MB, and less
        than half of that as a sparse matrix of the candidates, are one.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as described, a gene is unknown, or a target has missing values.
    MemoryError
        If the weights would not fit in memory.

    Warns
    -----
    UserWarning
        Naming constant genes.

    References
    ----------
    V. A. Huynh-Thu, A. Irrthum, L. Wehenkel, P. Geurts (2010). Inferring regulatory networks from
    expression data using tree-based methods. PLoS ONE 5(9). V. A. Huynh-Thu, P. Geurts (2018).
    dynGENIE3: dynamical GENIE3 for the inference of gene networks from time series expression
    data. Scientific Reports 8. A. Sutera (2019), thesis, sections 8.1 and 8.2.

    Examples
    --------
    >>> import duramen as dm
    >>> made = dm.datasets.gene_network(60, 5, n_links=3, random_state=1)
    >>> forest = dm.RandomForestRegressor(50, max_features="sqrt")
    >>> network = dm.genie3(made.expression, names=made.names, estimator=forest, random_state=0)
    >>> network.score(made.links).n_true
    3
    """
    plan = Plan.checked(_FUNCTION, n_jobs, checkpoint, verbose, client)
    scoring = Scoring(measure, normalization, source_scaling, n_permutations, null)
    scoring.check(_FUNCTION)
    template = template_of_targets(estimator, _FUNCTION)
    if experiment is None:
        experiment = Experiment()
    elif not isinstance(experiment, Experiment):
        raise TypeError(
            f"{_FUNCTION}: experiment must be a duramen.networks.Experiment, got "
            f"{type(experiment).__name__}."
        )
    table = encode(table_like(table_of(expression)), names=names, n_jobs=plan.n_threads)
    if min(table.shape) < 2:
        raise ValueError(
            f"{_FUNCTION}: expression must have at least 2 samples of 2 genes, got "
            f"{table.n_rows} samples of {table.n_columns} genes."
        )
    variables = _variables(table, regulators, targets, experiment)
    _require_memory(variables, n_permutations)
    seed = checks.draw_seed(random_state)
    identity = {
        **settings_of(template),
        **asdict(scoring),
        "fingerprint": fingerprint(
            variables.table.fingerprint(), variables.responses, variables.usable
        ),
    }
    links = {"sources": variables.sources.tolist(), "targets": variables.targets.tolist()}
    results = run_jobs(
        TargetForest(variables, template, scoring, seed, _FUNCTION),
        len(variables.targets),
        seed=seed,
        identity={**identity, **links},
        plan=plan,
        function=_FUNCTION,
        unit="target",
    )
    shape = {"n_rows": variables.table.n_rows, "n_estimators": template.n_estimators}
    settings = {**identity, **shape, "seed": seed, "versions": versions()}
    network = _network(variables, results, scoring, settings)
    warn_of(_FUNCTION, network.notes)
    return network


def _stays_sparse(variables: Variables) -> bool:
    """Tell whether the weights of the candidates take half the memory of those of all pairs."""
    p, n_links = variables.table.n_columns, len(variables.sources) * len(variables.targets)
    return 8 * p * p > max(_DENSE_BYTES, 2 * _ENTRY_BYTES * n_links)


def _require_memory(variables: Variables, n_permutations: int) -> None:
    """Raise MemoryError where the weights would not fit."""
    p, n_links = variables.table.n_columns, len(variables.sources) * len(variables.targets)
    sparse = _stays_sparse(variables)
    weights = _BUILT_BYTES * n_links if sparse else 8 * p * p
    require_memory(
        weights + (8 * p * p if n_permutations else 0),
        what=f"the weights of {n_links if sparse else f'{p} x {p}'} links",
        function=_FUNCTION,
        hint="give fewer genes",
    )


def _variables(
    table: EncodedTable, regulators: Any, targets: Any, experiment: Experiment
) -> Variables:
    """Settle sources, targets, and the rows and numbers of the learning sets."""
    sources = _chosen(regulators, "regulators", table)
    wanted = _chosen(targets, "targets", table)
    refuse_missing(table, wanted, _FUNCTION)
    time, series, set_genes = experiment.time, experiment.series, experiment.knocked_out
    usable = None if set_genes is None else _usable(set_genes, table)
    if time is None:
        return Variables(table, sources, wanted, None, usable)
    for j in wanted.tolist():
        if table.kinds[j] != "numeric":
            raise ValueError(
                f"{_FUNCTION}: with time all targets must be numbers, got {quoted(table.names[j])} "
                f"of kind {table.kinds[j]}."
            )
    now, following, elapsed = pairs_of(time, series, table.n_rows, _FUNCTION)
    values = np.zeros(table.shape)
    for j in wanted.tolist():
        values[:, j] = np.asarray(table.values(j))[table.codes(j)]
    rates = decay_rates(values, time, series, experiment.decay, _FUNCTION)
    responses = responses_of(values, now, following, elapsed, rates)
    if usable is not None:
        usable = usable[now] & usable[following]
    return Variables(table.take_rows(now), sources, wanted, responses, usable)


def _usable(knocked_out: Any, table: EncodedTable) -> BoolArray:
    """Tell which rows tell of the regulation of each gene: those where it was not set."""
    genes = list(knocked_out)
    if len(genes) != table.n_rows:
        raise checks.refuse(
            _FUNCTION, "knocked_out", f"one entry per sample ({table.n_rows})", len(genes)
        )
    usable = np.ones(table.shape, dtype=np.bool_)
    for row, gene in enumerate(genes):
        if gene is None or gene == "" or gene != gene:
            continue
        usable[row, _chosen(gene, "knocked_out", table)] = False
    return usable


def _chosen(asked: Any, what: str, table: EncodedTable) -> IntArray:
    """Return the indices of genes, ascending; all for None."""
    if asked is None:
        return np.arange(table.n_columns)
    places = checks.places_of(asked, table.names, f"{_FUNCTION}: {what}", "gene")
    return np.sort(np.array(places, dtype=np.int64))


def _network(
    variables: Variables,
    results: list[dict[str, NDArray[Any]]],
    scoring: Scoring,
    settings: dict[str, Any],
) -> Network:
    """Put the weights of all targets side by side."""
    table, sources = variables.table, variables.sources
    p = table.n_columns
    links = np.column_stack([result["weights"] for result in results])
    tested = any(len(result["p_values"]) for result in results)
    p_values = np.ones((p, p)) if tested else None
    if p_values is not None:
        for j, result in zip(variables.targets.tolist(), results, strict=True):
            p_values[sources, j] = result["p_values"]
    if scoring.source_scaling == "variance":
        links = scaled_by_variance(links, sources, variables.targets, p)
    weights = _of_all_pairs(links, variables)
    is_source, is_target = np.zeros((2, p), dtype=np.bool_)
    is_source[sources] = True
    is_target[variables.targets] = True
    for matrix in (weights, p_values):
        if isinstance(matrix, np.ndarray):
            matrix.setflags(write=False)
    notes = _notes(table, is_source | is_target)
    return Network(
        table.names,
        weights,
        is_source,
        is_target,
        measure=scoring.measure,
        p_values=p_values,
        notes=notes,
        metadata=settings,
    )


def _of_all_pairs(links: FloatArray, variables: Variables) -> Any:
    """Return weights of shape (p, p), sparse where few of many pairs are candidates."""
    p, sources, targets = variables.table.n_columns, variables.sources, variables.targets
    if links.shape == (p, p):
        return links
    if not _stays_sparse(variables):
        weights = np.zeros((p, p))
        weights[sources[:, np.newaxis], targets] = links
        return weights
    from scipy.sparse import csr_array

    starts = np.zeros(p + 1, dtype=np.int64)
    starts[sources + 1] = len(targets)
    columns = np.tile(targets.astype(np.int32), len(sources))
    return csr_array((links.ravel(), columns, np.cumsum(starts)), shape=(p, p))


def scaled_by_variance(
    links: FloatArray, sources: IntArray, targets: IntArray, p: int
) -> FloatArray:
    """Multiply the weights of each source by their variance over its targets.

    Parameters
    ----------
    links : float64 array of shape (n_sources, n_targets)
        Source by target.
    sources, targets : int64 arrays
        Indices of the sources and targets; a source is no target of itself.
    p : int
        Number of variables.
    """
    scaled = np.empty_like(links)
    is_target = np.zeros(p, dtype=np.bool_)
    is_target[targets] = True
    for first in range(0, len(links), _ROWS):
        here = sources[first : first + _ROWS]
        rows = np.zeros((len(here), p))
        rows[:, targets] = links[first : first + _ROWS]
        among = np.tile(is_target, (len(rows), 1))
        among[np.arange(len(rows)), here] = False
        count = np.maximum(among.sum(axis=1), 1)
        mean = (rows * among).sum(axis=1) / count
        variance = (((rows - mean[:, None]) * among) ** 2).sum(axis=1) / count
        scaled[first : first + _ROWS] = links[first : first + _ROWS] * variance[:, None]
    return scaled


def _notes(table: EncodedTable, involved: BoolArray) -> tuple[str, ...]:
    constant = np.flatnonzero(table.constant() & involved)
    if not len(constant):
        return ()
    shown = joined([quoted(table.names[j]) for j in constant], shown=5)
    which = "gene has" if len(constant) == 1 else "genes have"
    return (
        f"{len(constant)} {which} the same value in all samples, so that their links have weight "
        f"0: {shown}",
    )
