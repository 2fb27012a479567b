"""Monte Carlo feature selection (MCFS): many small trees on random subsets of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from duramen.data import EncodedTable, LearningSet
from duramen.data.learning_sets import unweighted_set
from duramen.data.memory import require_memory
from duramen.estimators.catalogue import OF_THE_TREES
from duramen.forests import structure
from duramen.forests.forest import Forest, arrays_on, values_for_prediction
from duramen.forests.growth import grow, out_of_bag
from duramen.forests.prediction import leaves
from duramen.forests.settings import CRITERIA, GrowthSettings
from duramen.forests.structure import Nodes, decreases, joined
from duramen.importances.measure import Measure
from duramen.importances.refit import growing, repeat_seeds
from duramen.jobs.replicates import Plan, run_replicates
from duramen.jobs.workers import running
from duramen.results.importances import Importances, MonteCarloSelection
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike
from duramen.support.checks import warn
from duramen.support.provenance import versions

# Rows x trees of one forest of subsets: 32 MiB of int64.
_BLOCK = 4_000_000
_MOST_SUBSETS = 256


def mcfs(
    X: TableLike,
    y: ArrayLike | None = None,
    *,
    n_subsets: int = 2000,
    subset_size: int | str = "sqrt",
    n_splits: int = 5,
    train_size: float = 0.66,
    u: float = 1.0,
    v: float = 1.0,
    estimator: Any = None,
    n_permutations: int = 0,
    strata: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    client: Any = None,
) -> MonteCarloSelection:
    r"""Compute relative importances by Monte Carlo feature selection, and their graph.

    s random subsets of m features are drawn; on each, t trees are grown, each from a random part
    of the rows and tested on the others. Trees take the best cut by information gain among all m
    features. The relative importance of feature j, which was in M_j subsets, is the mean

    .. math:: RI_j = \frac1{t M_j} \sum_\tau wAcc_\tau^u
        \sum_{a \in \tau \text{ on } X_j} GainRatio(a) \left(\frac{n_a}{n_\tau}\right)^v

    over the trees τ on these subsets, of what its splits a get there. wAcc is the mean of the
    recalls of the classes among the rows that the tree is tested on (of those classes that occur
    there), n_a and n_τ are training rows at node a and in the tree, and GainRatio is the
    information gain of the split over its split information, the entropy of the fractions of rows
    that its children get (Dramiński et al. 2008).

    Parameters
    ----------
    X : table of shape (n, p), or LearningSet
        The rows.
    y : array-like of shape (n,), optional
        Classes; None with a learning set.
    n_subsets : int
        Number s of random subsets.
    subset_size : {"sqrt"} or int
        Number m of features in a subset, by default round(sqrt(p)).
    n_splits : int
        Number t of divisions of the rows, with a tree each, for every subset.
    train_size : float
        Fraction of the rows, or groups, that a tree is grown from; it is tested on all others.
    u, v : float
        Weight of a tree's accuracy and of a node's fraction of the rows, at least 0.
    estimator : BaggedTreesClassifier, optional
        Family of splits, limits and node test of the trees, by default
        ``BaggedTreesClassifier(criterion="entropy")``; it is cloned, not changed. Its criterion is
        the entropy, since gains are information. The numbers of trees and of their rows and
        features are those of this function.
    n_permutations : int
        Number B of further runs, each with the classes shuffled, for the cut-off: each takes as
        long as the run itself. 20 will do. `strata` and `groups` restrict the shuffles.
    strata : array-like of shape (n,), optional
        Stratum of each row; rows are exchanged within strata only.
    groups : array-like of shape (n,), optional
        Group of each row; the rows of a group stay together.
    random_state : int, RandomState, Generator or None
        Seed of all random numbers.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Cluster that does the work instead of threads; the result does not depend on it.

    Returns
    -------
    MonteCarloSelection
        ``result.importances`` are the relative importances (``measure="mcfs"``, a pure number);
        their standard error is that of the mean over the subsets that a feature was in (None if
        some feature was in fewer than two). ``result.edges()`` is the interdependency graph: for
        every pair of a split a and a split b below it, up to 5 levels down and on another
        feature, the edge from the feature of a to that of b gets GainRatio(b) n_b / n_a.
        ``result.cutoff()`` is what chance stays below, if there were shuffled runs.

    Raises
    ------
    TypeError, ValueError
        If a parameter, `X` or `y` is not as described; y must have two classes at least.
    MemoryError
        If the subsets would not fit in memory.

    Warns
    -----
    UserWarning
        If features were in no subset: their importance is 0 for want of any evidence.

    Notes
    -----
    The training rows are drawn among all rows; the authors' program draws them within each class,
    chooses splits by gain ratio and prunes its trees.

    References
    ----------
    M. Dramiński, A. Rada-Iglesias, S. Enroth, C. Wadelius, J. Koronacki, J. Komorowski (2008).
    Monte Carlo feature selection for supervised classification. Bioinformatics 24(1). M. Dramiński,
    J. Koronacki (2018). rmcfs. Journal of Statistical Software 85(12).

    Examples
    --------
    >>> import duramen as dm
    >>> data = dm.datasets.linear_sign(60, 6, n_relevant=2, random_state=0)
    >>> result = dm.importances.mcfs(data.X, data.y, n_subsets=50, random_state=0)
    >>> result.importances.top(1).names
    ('x0',)
    """
    s = checks.check_integer("mcfs", "n_subsets", n_subsets, 1)
    shuffles = checks.check_integer("mcfs", "n_permutations", n_permutations, 0)
    plan = Plan.checked("mcfs", n_jobs, client=client)
    data: LearningSet[EncodedTable] = unweighted_set(
        X, y, "mcfs", "classification", n_jobs=plan.n_threads, strata=strata, groups=groups
    ).in_memory()
    p = data.n_columns
    size: Any = max(1, round(float(p**0.5))) if subset_size == "sqrt" else subset_size
    if not checks.is_integer(size) or not 1 <= size <= p:
        raise checks.refuse("mcfs", "subset_size", f"'sqrt' or an int in 1..{p}", subset_size)
    size = int(size)
    trees = Trees(
        data,
        _settings(data, estimator, size, train_size),
        size,
        checks.check_integer("mcfs", "n_splits", n_splits, 1),
        checks.check_real("mcfs", "u", u, 0.0),
        checks.check_real("mcfs", "v", v, 0.0),
    )
    require_memory(
        40 * s * size,
        what=f"{s} subsets of {size} features",
        function="mcfs",
        hint="lower n_subsets or subset_size",
    )
    rows, codes = data.exchangeability, data.target.values
    if shuffles:
        rows.require(shuffles, "mcfs", codes)
    elif rows.strata is not None:
        raise ValueError(
            "mcfs: strata restrict how classes are shuffled for the cut-off, and need "
            "n_permutations of at least 1, got 0."
        )
    seed = checks.draw_seed(random_state)
    run = trees.importances(s, seed, plan)
    unseen = int(np.count_nonzero(run.n_drawn == 0))
    if unseen:
        from duramen.theory.subspaces.convergence import draws_needed

        warn(
            f"mcfs: {unseen} of {p} features were in none of the {s} subsets of {size}; their "
            "importance is 0 because there is no evidence. Hint: "
            f"n_subsets={draws_needed(p, size)} includes all features with a probability of at "
            "least 0.95.",
        )
    maxima = np.empty(0)
    if shuffles:
        seeds = repeat_seeds(seed, shuffles).tolist()
        # Runs share the threads; within a run the trees get those that are left.
        alone = Plan(max(1, plan.threads_within // shuffles))

        def task(b: int, _: int) -> FloatArray:
            order_seed, run_seed = seeds[b]
            order = rows.permutation(np.random.default_rng(order_seed), codes)
            shuffled = data.permuted(order, key=("shuffled", order_seed))
            own = replace(trees, data=shuffled).importances(s, run_seed, alone, graph=False)
            return np.array([own.values.max()])

        maxima = run_replicates(
            task, shuffles, 1, seed=seed, identity={}, plan=plan, function="mcfs", unit="run"
        ).ravel()
    metadata = {
        "mcfs": {
            "n_subsets": s,
            "u": trees.u,
            "v": trees.v,
            "n_permutations": shuffles,
            "subset_size": size,
            "n_splits": trees.n_splits,
            "train_size": trees.settings.row_samples,
            **rows.identity(),
        },
        "forest": trees.settings.to_dict(),
        "n_trees": s * trees.n_splits,
        "n_rows": data.n_rows,
        "seed": seed,
        "fingerprint": data.fingerprint,
        "versions": versions(),
    }
    pairs, weights = run.edges
    return MonteCarloSelection(
        Importances(
            names=data.names,
            values=run.values,
            measure="mcfs",
            unit="1",
            standard_error=run.standard_error,
            metadata=metadata,
        ),
        n_drawn=run.n_drawn,
        accuracy=run.accuracy,
        source=pairs // p,
        target=pairs % p,
        weight=weights,
        maxima=maxima,
    )


def _settings(
    data: LearningSet[EncodedTable], estimator: Any, subset_size: int, train_size: Any
) -> GrowthSettings:
    """Return the growth settings of a tree, with `row_samples` training rows or groups."""
    if estimator is None:
        from duramen.estimators import BaggedTreesClassifier

        estimator = BaggedTreesClassifier(criterion="entropy")
    drawn = {"max_features", "bootstrap", "max_samples"}  # by n_subsets, subset_size, train_size
    template = growing(estimator, "mcfs", ("BaggedTreesClassifier",), OF_THE_TREES - drawn)
    if template.criterion not in CRITERIA["entropy"].aliases:
        raise ValueError(
            "mcfs: criterion of estimator must be 'entropy', whose decreases are gains of "
            f"information, got {template.criterion!r}."
        )
    n_units = data.exchangeability.n_units
    fraction = checks.check_real("mcfs", "train_size", train_size, 0.0, 1.0, ends="()")
    row_samples = round(fraction * n_units)
    if not 1 <= row_samples < n_units:
        units = "rows" if data.exchangeability.groups is None else "groups"
        raise checks.refuse(
            "mcfs",
            "train_size",
            f"a fraction that leaves at least one of the {n_units} {units} to train on and one to "
            "test on",
            train_size,
        )
    settings = template.growth_settings(data.n_rows, subset_size, data.table)
    return replace(settings, bootstrap=False, row_samples=row_samples)


class RelativeImportances(NamedTuple):
    """Relative importances and edges from s subsets of the features."""

    n_drawn: IntArray  # (p,): Number of subsets that each feature was in
    # (p,): Mean over these subsets of what the feature got there; 0 where there are none.
    values: FloatArray
    # (p,): Standard error of that mean; None where any rests on fewer than two subsets.
    standard_error: FloatArray | None
    accuracy: float  # mean balanced accuracy of the trees on the rows that they were not grown from
    edges: Edges  # of the interdependency graph, the strongest first; empty unless asked for


# Edges as codes source * p + target, ascending, and the weight of each.
Edges = tuple[IntArray, FloatArray]

LEVELS = 5
"""Most levels between the splits of an edge."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees on random subsets of the columns of a learning set."""

    data: LearningSet[EncodedTable]  # n rows of p columns, with their classes
    settings: GrowthSettings
    subset_size: int  # columns m of a subset
    n_splits: int  # trees t on each subset, each with its own training rows
    u: float  # exponent of the accuracy of a tree
    v: float  # exponent of the fraction of the rows of a tree at a node

    def importances(
        self, n_subsets: int, seed: int, plan: Plan, *, graph: bool = True
    ) -> RelativeImportances:
        """Grow the trees of all subsets, and sum up their gains; `graph` asks for the edges.

        Tree k of subset i has the number i t + k in the stream of random numbers, so that the trees
        depend neither on the threads nor on how many subsets are taken at a time.
        """
        data, t, p = self.data, self.n_splits, self.data.n_columns
        subsets = subsets_of(p, self.subset_size, n_subsets, seed)
        codes = data.target.values
        member = np.eye(data.target.n_classes)[codes].T
        gained, accuracies = np.empty(subsets.shape), np.empty((n_subsets, t))
        edges: list[Edges] = []
        step = max(1, min(_MOST_SUBSETS, _BLOCK // (t * data.n_rows)))

        def trees(i: int, columns: IntArray) -> Forest:
            some = data.with_table(data.table.take_columns(columns), key=("subset", seed, i))
            return grow(some, self.settings, n_trees=t, seed=seed, first_tree=i * t)

        with running(trees, plan.n_threads, plan.cluster) as run:
            for start in range(0, n_subsets, step):
                some = subsets[start : start + step]
                grown = list(run(zip(range(start, start + len(some)), some, strict=True)))
                arrays: dict[str, Any] = joined([*map(arrays_on, grown, some)])
                schema = values_for_prediction(data.table.schema, arrays)
                forest = replace(grown[0], **arrays, schema=schema)
                # Mean recall of the classes among the rows that each tree was not grown from.
                leaf = leaves(forest, data.table, plan.n_threads)
                place = forest.child[leaf + forest.offsets[:-1]] + forest.leaf_offsets[:-1]
                held = out_of_bag(forest)
                votes = np.argmax(forest.leaf_values, axis=1)[place]
                seen, hits = member @ held, member @ (held & (votes == codes[:, np.newaxis]))
                recall = hits / np.maximum(seen, 1)
                accuracy = recall.sum(axis=0) / np.count_nonzero(seen, axis=0)
                nodes = Nodes(forest)
                inner = nodes.inner.parents
                # Information gain over split information of every split; 0 at a leaf.
                mass = forest.weight * np.log2(forest.weight)
                ratio = np.maximum(decreases(forest), 0.0)
                ratio[inner] *= forest.weight[inner] / (mass[inner] - nodes.over_children(mass))
                amount = accuracy[nodes.tree] ** self.u * ratio
                amount *= nodes.fractions() ** self.v
                block = slice(start, start + len(some))
                accuracies[block] = accuracy.reshape(-1, t)
                # Sums over the t trees of each subset, by its features.
                ascending = (np.arange(len(some))[:, np.newaxis] * p + some).ravel()
                places = nodes.tree[inner] // t * p + forest.feature[inner]
                place = np.searchsorted(ascending, places)
                sums = np.bincount(place, amount[inner] / t, ascending.size)
                gained[block] = sums.reshape(some.shape)
                if graph:
                    edges.append(edges_of(forest, nodes, ratio))
        pairs, weights = merged(edges)
        order = np.argsort(-weights, kind="stable")
        feature, gains = subsets.ravel(), gained.ravel()
        n_drawn = np.bincount(feature, minlength=p)
        values = np.bincount(feature, gains, p) / np.maximum(n_drawn, 1)
        error = None
        if n_drawn.min() >= 2:
            squares = np.bincount(feature, (gains - values[feature]) ** 2, p)
            error = np.sqrt(squares / (n_drawn - 1) / n_drawn)
        strongest = pairs[order], weights[order]
        return RelativeImportances(n_drawn, values, error, float(accuracies.mean()), strongest)


def subsets_of(n_features: int, size: int, n_subsets: int, seed: int) -> IntArray:
    """Draw subsets without replacement within each: shape (s, m), ascending."""
    random = np.random.default_rng(seed)
    drawn = [
        random.choice(n_features, size, replace=False, shuffle=False) for _ in range(n_subsets)
    ]
    return np.sort(np.array(drawn, dtype=np.int64).reshape(n_subsets, size), axis=1)


def edges_of(run: Forest, nodes: Nodes, gain_ratio: FloatArray) -> Edges:
    """Sum GainRatio(t) n_t / n_a over the pairs of a split a and a split t below it.

    Pairs are at most `LEVELS` levels apart and on different features; that of a is the source of
    the edge, that of t its target. n is the number of training rows at a node. Returned are codes
    of the edges and their weights, of shape (E,).
    """
    above = structure.parents(run)
    feature = run.feature.astype(np.int64)
    below = nodes.inner.parents
    ancestor = below
    edges: list[Edges] = []
    for _ in range(LEVELS):
        ancestor = above[ancestor]
        inside = ancestor >= 0
        below, ancestor = below[inside], ancestor[inside]
        other = feature[below] != feature[ancestor]
        source, target = ancestor[other], below[other]
        edges.append(
            (
                feature[source] * run.n_features + feature[target],
                gain_ratio[target] * run.weight[target] / run.weight[source],
            )
        )
    return merged(edges)


def merged(parts: Sequence[Edges]) -> Edges:
    """Add up the weights of edges that occur several times."""
    codes = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in parts)])
    weights = np.concatenate([np.empty(0), *(part[1] for part in parts)])
    distinct, place = np.unique(codes, return_inverse=True)
    return distinct, np.bincount(place, weights, distinct.size).astype(np.float64)


MCFS = Measure(
    "mcfs",
    lambda inputs: (
        mcfs(inputs.data, random_state=inputs.random_state, n_jobs=inputs.n_jobs).importances
    ),
    "MCFS",
    "MCFS is the relative importance of Monte Carlo feature selection. It does not come from "
    "the forest of this report but from many trees on random subsets of the features: the "
    "gain ratios of the splits on the feature, weighted by the number of rows at the split "
    "and by the accuracy of the tree on other rows.",
    "MCFS has no threshold here: irrelevant features also get some importance.",
    reference="M. Dramiński et al. (2008). Monte Carlo feature selection for supervised "
    "classification. Bioinformatics 24.",
    refits=True,
    classes=True,
    testable=False,
    zero_if_irrelevant=False,
    symmetric=False,
    favors_many_values=True,
    spread="subsets",
)
