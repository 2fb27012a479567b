"""GENIE3: a forest for each target; the importances of its inputs are the weights of links.

And the links between groups of variables, such as operons, modules or pathways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from duramen import importances
from duramen.data import encode
from duramen.data.learning_sets import table_of
from duramen.data.memory import require_memory
from duramen.data.sources import table_like
from duramen.data.target import refuse_missing
from duramen.estimators.catalogue import FORESTS, OF_THE_TREES
from duramen.forests.gradient_boosting import GradientBoosting
from duramen.importances.groups import Aggregation, grouping_of
from duramen.importances.refit import growing
from duramen.jobs.replicates import Plan, run_jobs
from duramen.networks.targets import (
    LAST_LEVEL,
    Links,
    decay_rates,
    pairs_of,
    responses_of,
)
from duramen.results.network import Network
from duramen.results.result import dense, warn_of
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray, RandomState, TableLike
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
    expression: TableLike,
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
    random_state: RandomState = None,
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
    estimator : estimator of duramen, or GradientBoosting, optional
        Parameters of the forests; it is cloned, not changed.
        :class:`duramen.networks.GradientBoosting` weights links as GRNBoost2 does. By default
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
    measures = [
        entry.name
        for entry in importances.catalogue
        if entry.testable and not entry.refits and not entry.classes
    ]
    scoring = {
        "measure": checks.check_choice(_FUNCTION, "measure", measure, (*measures, LAST_LEVEL)),
        "normalization": normalization,
        "source_scaling": source_scaling,
        "n_permutations": checks.check_integer(_FUNCTION, "n_permutations", n_permutations, 0),
        "null": null,
    }
    checks.check_choice(_FUNCTION, "normalization", normalization, ("unit", "sum", "none"))
    checks.check_choice(_FUNCTION, "source_scaling", source_scaling, ("none", "variance"))
    checks.check_choice(_FUNCTION, "null", null, ("auto", "pooled", "source"))
    kinds = [kind for kind in FORESTS if kind.regresses]
    if estimator is None:
        estimator = kinds[0].estimator("regression")(1000, max_features="sqrt")
    classes = [name for kind in kinds for name in kind.names[:2]]
    boosted = isinstance(estimator, GradientBoosting)
    if boosted and measure != "mdi":
        raise ValueError(
            f"{_FUNCTION}: measure must be 'mdi' for GradientBoosting, got {measure!r}."
        )
    template = estimator
    if not boosted:
        template = growing(estimator, _FUNCTION, classes, {"n_estimators", *OF_THE_TREES})
    if experiment is None:
        experiment = Experiment()
    elif not isinstance(experiment, Experiment):
        raise TypeError(
            f"{_FUNCTION}: experiment must be a duramen.networks.Experiment, got "
            f"{type(experiment).__name__}."
        )
    table = encode(table_like(table_of(expression)), names=names, n_jobs=plan.n_threads)
    (n, p), genes = table.shape, table.names
    if min(n, p) < 2:
        raise ValueError(
            f"{_FUNCTION}: expression must have at least 2 samples of 2 genes, got "
            f"{n} samples of {p} genes."
        )

    def indices(asked: Any, parameter: str) -> IntArray:
        places = checks.places_of(asked, genes, f"{_FUNCTION}: {parameter}", "gene")
        return np.sort(np.array(places, dtype=np.int64))

    of_sources = np.arange(p) if regulators is None else indices(regulators, "regulators")
    of_targets = np.arange(p) if targets is None else indices(targets, "targets")
    refuse_missing(table, of_targets, _FUNCTION)
    # Rows that tell of the regulation of each gene: those where it was not set.
    usable: BoolArray | None = None
    if experiment.knocked_out is not None:
        knocked_out = list(experiment.knocked_out)
        if len(knocked_out) != n:
            allowed = f"one entry per sample ({n})"
            raise checks.refuse(_FUNCTION, "knocked_out", allowed, len(knocked_out))
        usable = np.ones((n, p), dtype=np.bool_)
        for row, gene in enumerate(knocked_out):
            if not (gene is None or gene == "" or gene != gene):
                usable[row, indices(gene, "knocked_out")] = False
    # Numbers that the forests predict in place of the levels: rates of change.
    responses: FloatArray | None = None
    if experiment.time is not None:
        values = np.zeros((n, p))
        for j in of_targets.tolist():
            if table.kinds[j] != "numeric":
                raise ValueError(
                    f"{_FUNCTION}: with time all targets must be numbers, got {quoted(genes[j])} "
                    f"of kind {table.kinds[j]}."
                )
            values[:, j] = np.asarray(table.values(j))[table.codes(j)]
        time, series = experiment.time, experiment.series
        now, following, elapsed = pairs_of(time, series, n, _FUNCTION)
        rates = decay_rates(values, time, series, experiment.decay, _FUNCTION)
        responses = responses_of(values, now, following, elapsed, rates)
        table = table.take_rows(now)
        usable = None if usable is None else usable[now] & usable[following]
    # Where few of many pairs are candidates, their weights are sparse.
    n_links = len(of_sources) * len(of_targets)
    sparse = 8 * p * p > max(_DENSE_BYTES, 2 * _ENTRY_BYTES * n_links)
    require_memory(
        (_BUILT_BYTES * n_links if sparse else 8 * p * p) + (8 * p * p if n_permutations else 0),
        what=f"the weights of {n_links if sparse else f'{p} x {p}'} links",
        function=_FUNCTION,
        hint="give fewer genes",
    )
    seed = checks.draw_seed(random_state)
    if boosted:
        grown: dict[str, Any] = {"forest": "gradient_boosting", "parameters": asdict(template)}
    else:
        kind = next(kind for kind in FORESTS if type(template) in kind.estimators)
        defaults, shown = type(template)().get_params(), ("n_estimators", "max_features")
        grown = {
            "forest": kind.name.replace("-", "_"),
            "parameters": {
                name: value
                for name, value in template.get_params().items()
                if name in shown or (name in OF_THE_TREES and value != defaults[name])
            },
        }
    identity = {
        **grown,
        **scoring,
        "fingerprint": fingerprint(table.fingerprint(), responses, usable),
    }
    candidates = {"sources": of_sources.tolist(), "targets": of_targets.tolist()}
    results = run_jobs(
        Links(
            table,
            of_sources,
            of_targets,
            responses,
            usable,
            template,
            measure,
            normalization,
            n_permutations,
            null,
            seed,
            _FUNCTION,
        ),
        len(of_targets),
        seed=seed,
        identity={**identity, **candidates},
        plan=plan,
        function=_FUNCTION,
        unit="target",
    )
    links = np.column_stack([result["weights"] for result in results])
    if source_scaling == "variance":
        links = scaled_by_variance(links, of_sources, of_targets, p)
    weights: Any = links
    if links.shape != (p, p) and sparse:
        starts = np.zeros(p + 1, dtype=np.int64)
        starts[of_sources + 1] = len(of_targets)
        columns = np.tile(of_targets.astype(np.int32), len(of_sources))
        weights = csr_array((links.ravel(), columns, np.cumsum(starts)), shape=(p, p))
    elif links.shape != (p, p):
        weights = np.zeros((p, p))
        weights[of_sources[:, np.newaxis], of_targets] = links
    p_values = None
    if n_permutations:
        p_values = np.ones((p, p))
        for j, result in zip(of_targets.tolist(), results, strict=True):
            p_values[of_sources, j] = result["p_values"]
    for matrix in (weights, p_values):
        if isinstance(matrix, np.ndarray):
            matrix.setflags(write=False)
    is_source, is_target = np.zeros((2, p), dtype=np.bool_)
    is_source[of_sources] = is_target[of_targets] = True
    notes: tuple[str, ...] = ()
    constant = np.flatnonzero(table.constant() & (is_source | is_target))
    if len(constant):
        which = "gene has" if len(constant) == 1 else "genes have"
        notes = (
            f"{len(constant)} {which} the same value in all samples, so that their links have "
            f"weight 0: {joined([quoted(genes[j]) for j in constant], shown=5)}",
        )
    shape = {"n_rows": table.n_rows, "n_estimators": template.n_estimators}
    network = Network(
        genes,
        weights,
        is_source,
        is_target,
        measure=measure,
        p_values=p_values,
        notes=notes,
        metadata={**identity, **shape, "seed": seed, "versions": versions()},
    )
    warn_of(_FUNCTION, network.notes)
    return network


def scaled_by_variance(
    links: FloatArray, sources: IntArray, targets: IntArray, p: int
) -> FloatArray:
    """Multiply the weights of each source by their variance over its targets.

    `links` are of shape (n_sources, n_targets), source by target; `sources` and `targets` are
    indices of the p variables. A source is no target of itself.
    """
    scaled = np.empty_like(links)
    for first in range(0, len(links), _ROWS):
        part = slice(first, first + _ROWS)
        rows, among = np.zeros((len(links[part]), p)), np.zeros((len(links[part]), p), dtype=bool)
        rows[:, targets], among[:, targets] = links[part], True
        among[np.arange(len(rows)), sources[part]] = False
        count = np.maximum(among.sum(axis=1), 1)
        mean = (rows * among).sum(axis=1) / count
        variance = (((rows - mean[:, None]) * among) ** 2).sum(axis=1) / count
        scaled[part] = links[part] * variance[:, None]
    return scaled


def group_links(
    network: Network,
    feature_groups: Any,
    *,
    how: Aggregation = "sum",
    names: Sequence[str] | None = None,
    rest: Literal["drop", "own"] = "drop",
) -> Network:
    r"""Compute the sum, mean or maximum of the weights of the links between groups of variables.

    .. math:: W_{GH} = \sum_{i \in G, j \in H} W_{ij}, \quad
              \frac{1}{|C_{GH}|} \sum_{(i, j) \in C_{GH}} W_{ij} \quad \text{or} \quad
              \max_{(i, j) \in C_{GH}} W_{ij}

    with :math:`C_{GH}` the candidate links from a variable of G to another of H.

    Parameters
    ----------
    network : Network
        Network of p variables.
    feature_groups : mapping, labels, path, Clusters, transformer or positions
        Groups of variables in any form of :func:`duramen.io.feature_groups`, such as those of each
        group by its name, or a label for each variable. They may overlap.
    how : {"sum", "mean", "max"}
        Summary of the weights. A sum favors large groups.
    names : sequence of str, optional
        Names of the groups where labels are whole numbers: label g stands for ``names[g]``.
    rest : {"drop", "own"}
        Whether variables that are in no group are left out, or are each a group of their own, after
        the others: groups of regulators of single genes, for instance.

    Returns
    -------
    Network
        Of the groups, without the links within a group, and without p-values: these would take the
        dependence between the links. A group is a source, or a target, where one of its variables
        is.

    Raises
    ------
    TypeError
        If `network` is something else, or a variable neither name nor index.
    ValueError
        If a variable is unknown or twice in one group, a group is empty, there is none, or labels
        are not one a variable.

    Examples
    --------
    >>> import numpy as np
    >>> import duramen as dm
    >>> network = dm.Network(("a", "b", "c"), [[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    >>> dm.networks.group_links(network, {"ab": ["a", "b"], "c": ["c"]}).weights.tolist()
    [[0.0, 6.0], [11.0, 0.0]]
    """
    owner = "group_links"
    if not isinstance(network, Network):
        raise TypeError(f"{owner}: network must be a Network, got {type(network).__name__}.")
    grouping = grouping_of(feature_groups, names, network.names, how, rest, owner)
    members, starts, n_groups = grouping.members, grouping.starts, len(grouping.names)
    is_source, is_target = (
        np.logical_or.reduceat(mask[members], starts) for mask in (network.sources, network.targets)
    )
    weights: FloatArray
    if how == "max":  # 0 where there is no candidate
        among = np.outer(network.sources, network.targets)
        matrix = np.where(among, dense(network.weights), -np.inf).astype(np.float64)
        np.fill_diagonal(matrix, -np.inf)
        rows = np.maximum.reduceat(matrix[members], starts, axis=0)
        largest = np.maximum.reduceat(rows[:, members], starts, axis=1)
        weights = np.where(np.isinf(largest), 0.0, largest)
    else:
        entries = np.ones(len(members)), (members, grouping.of_member)
        member: Any = csr_array(entries, shape=(len(network), n_groups))
        sums: Any = member.T @ csr_array(network.weights @ member)
        weights = sums.toarray().astype(np.float64)
    if how == "mean":
        of_sources, of_targets = (
            member * mask[:, None].astype(np.float64) for mask in (network.sources, network.targets)
        )
        sizes = np.outer(of_sources.sum(axis=0), of_targets.sum(axis=0))
        sizes -= (of_sources.T @ of_targets).toarray()  # a variable is no target of itself
        weights = weights / np.maximum(sizes, 1.0)
    np.fill_diagonal(weights, 0.0)
    return Network(
        grouping.names,
        weights,
        is_source,
        is_target,
        network.directed,
        f"group {how} of {network.measure}",
        network.unit,
        notes=network.notes,
        metadata={**network.metadata, "group": grouping.choices(network.measure, how)},
    )
