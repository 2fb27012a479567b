"""Sequential random subspace: selection where only some of the features fit into memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from duramen.data import EncodedTable, Task
from duramen.estimators.catalogue import FORESTS
from duramen.forests.forest import Forest
from duramen.forests.settings import GrowthSettings, resolve_subspace
from duramen.importances.refit import template_of
from duramen.io import ColumnStore
from duramen.io.store.reader import COLUMN_BYTES, memory_bytes
from duramen.jobs.replicates import run_jobs
from duramen.results.importances import Importances
from duramen.results.summary import Column, counted
from duramen.selection.refitting import task_of
from duramen.selection.selector import BaseSelector, Data
from duramen.selection.subspace_search import (
    TEST_OF,
    TESTS,
    DecoyTest,
    Ensemble,
    Grower,
    PositiveImportance,
    ProbeShare,
    RelevanceTest,
    Search,
    SubspaceSearch,
    shadows_of_each,
)
from duramen.support import checks
from duramen.support.arrays import FloatArray, IntArray, RandomState, TableLike
from duramen.support.provenance import versions
from duramen.theory.subspaces.convergence import kept_places

TREES = {"extra": "extra-trees", "cart": "random-forest", "random": "extra-trees"}
"""Forests that grow each kind of trees."""


@dataclass(kw_only=True, eq=False, repr=False)
class SequentialRandomSubspace(BaseSelector):
    r"""Sequential random subspace (SRS): trees on q of p features, of which some were found before.

    Algorithm 7.1 of the thesis: a set F of relevant features is empty at first. Each tree is given
    :math:`\min(\lfloor \alpha q \rfloor, |F|)` features drawn from F, and others drawn from all,
    up to q; the features that a test then calls relevant enter F. With alpha = 0 this is the random
    subspace method. Features that tell something only together with others are found much sooner
    once those others are kept (`duramen.theory.expected_trees` says by how much).

    Only the q columns of a tree, for each tree that grows at a time, are in memory; a
    `duramen.ColumnStore` leaves the others on disk.

    Parameters
    ----------
    estimator : {"extra", "cart", "random"} or estimator of duramen, default="extra"
        Kind of trees: Extra-Trees, CART or totally randomized trees.

        Or an estimator with the parameters of the trees, which have all rows, such as
        ``RandomForestClassifier(bootstrap=False, max_features=None)``, which is "cart"; it is
        cloned, not changed, and its number of trees and seed do not matter.
    max_features : int, float or str, optional
        Number of features tried at a node, or their fraction, or sqrt or log2; by default all that
        the tree is given, and one for totally randomized trees.

        An estimator brings its own.
    n_estimators : int, default=1000
        Maximum number of trees.
    n_subspace_features : int, float or None, default=None
        Number of features given to each tree, or their fraction; by default as many as `memory`
        holds.

        That is q; all features where there is no `memory` either.
    memory : int, str or None, default=None
        Memory for the trees that grow at a time, such as 2GiB.

        It holds the columns of these trees.

        If `n_subspace_features` is None: q is such that the columns of `batch_size` trees fit
        whichever are drawn, and however they are tested. A column of n rows and m values takes
        12 n + 24 m + 400 bytes at most, a little more where m is above 256.
    keep : float, default=0.5
        Fraction of the features of a tree that may be features found before, in [0, 1]; 0 is the
        random subspace.
    relevance : {"decoy", "probe", "positive"}, default="decoy"
        Test of relevance: against the decoy of the feature (decoy), against random probes in most
        of its trees (probe), or an importance above 0 (positive).

        It is made every max(1, p / (50 q)) trees and after the last.

        "decoy"
            Every feature that was not found before has a decoy, itself with the rows in another
            order, which is the same for all trees. At each node of each tree it is seen whether the
            decoy would have been chosen in its feature's place. The mean excess of a feature over
            its decoy is compared with the shortfalls of other features; `alpha` bounds the false
            discovery rate (see Notes). Twice the work.
        "probe"
            That of the papers (thesis, 7.C.1): each tree is given `n_probes` probes, columns of its
            own with permuted rows, and a feature that more than `min_draws` trees were given is
            more important than all probes in a fraction `min_win_rate` of them.
        "positive"
            Rule of algorithm 7.1: it has an importance greater than zero in some tree. For rows
            that are a distribution; of a sample nearly every feature has.
    alpha : float, default=0.05
        False discovery rate of the test decoy.
    min_draws : int, default=10
        Number of trees that must be exceeded by those given a feature before it can be found (test
        probe).
    min_win_rate : float, default=0.95
        Fraction of the trees given a feature in which it must beat the probes (test probe).
    n_probes : int, default=1
        Number of probes in each tree (test probe).
    batch_size : int, default=1
        Number of trees grown at the same time; it changes the result.

        All of them know what was found before the round, so that they can grow at a time.
    patience : int, optional
        Number of trees without a new feature after which the search ends; 0 for never.
    random_state : int, RandomState, Generator or None
        Seed.
    n_jobs : int, optional
        Threads, of which more than `batch_size` have nothing to do. The result does not depend on
        it, not in a bit.
    client : dask.distributed.Client, optional
        Its workers grow the trees, up to `batch_size` at a time, in place of threads here; `n_jobs`
        is then for encoding alone. They read the columns of a store themselves, at
        its path or URL; a table in memory is sent to each of them once. The result is the same, in
        every bit. Clones keep the client, pickles and deep copies do not. Needs the extra
        ``distributed``.
    checkpoint : path, optional
        File that keeps the trees of the rounds that are done; a run that was killed goes on from
        there, to the same result.
    verbose : int, default=0
        Above 0: a progress bar with the time left.

    Attributes
    ----------
    selected_ : int64 array
        The set F, in the order in which features entered it.
    entered_ : int64 array
        Number of trees when each did.
    support_ : bool array of shape (p,)
        Whether each feature is in F.
    ranking_ : int64 array of shape (p,)
        1 for the features in F, and 2, 3, ... for the others by their importance; ties by column.
    draws_, wins_ : int64 arrays of shape (p,)
        Trees that were given each feature; those in which it beat all probes.
    importances_ : Importances
        Mean decrease of impurity over all trees (thesis, eq. 4.2), of all p features.
    history_ : dict of arrays with a value for each tree
        ``"n_selected"``: size of F after each tree.
    n_estimators_ : int
        Trees that were grown.
    n_subspace_features_, n_shadows_ : int
        Number q; shadow features that the test "decoy" adds to each feature, 0 for p >= 50.
    forest_ : Forest
        The trees, on the features that some tree splits on and a column for the probes. Splits on a
        probe send a row whose value is missing where most of the training rows went.
    forest_columns_ : int64 array
        Number of each column of the forest but the last.
    classes_ : array of shape (C,)
        Sorted class labels, where the target holds classes.
    n_features_in_ : int
        Number p of features.
    feature_names_in_ : object array of shape (p,)
        Their names, where the table has any.

    Notes
    -----
    *Why decoys.* A feature that is associated with the target by chance, in these rows, is so in
    every tree, and beats probes that are drawn anew nearly always: with many more features than
    rows some irrelevant ones pass "probe". A decoy is one reordering of the feature for the whole
    search, and has its own chance association.

    *The comparison.* At a node the candidates are drawn in random order, and the best of them
    splits it. A decoy takes the place of its feature in that order, all others being as they are;
    if it would win, it is credited with its decrease of impurity, but splits nothing. So a feature
    and its decoy meet the same nodes, those that the relevant features make among them. A feature
    has fewer values beneath its own splits, and its chance association there is used up; so beneath
    a node at which its decoy would have won, the decoy has yet another order, and the values of one
    side of the cut, drawn by their fractions of the rows. (Of features without an order, and of
    "multiway" splits, only the first choice on a path counts, for feature and decoy.) If a feature
    has nothing to do with the target and with the others, its credit :math:`v_{tj}` in a tree and
    that of its decoy, :math:`v^*_{tj}`, then have nearly the same distribution, and

    .. math:: W_j = \frac{\sum_t (v_{tj} - v^*_{tj})}{n_j + 5}

    over its n_j trees before it was found (0 if these are fewer than three) is as likely to be
    above as below 0, so that the negative ones show how large W gets by chance. Since W is looked
    at again and again, the most that a feature was ever short, :math:`M_j = \max(-W_j)` over all
    trees so far, takes the place of -W: by chance, so many are ever above as below. The tail of the
    largest k = 100 of them (p / 7, if that is fewer) is taken for that of a Pareto distribution
    (Hill 1975), whose exponent is known from these alone: with m_k the k-th largest and S the sum
    of the logarithms of all k over m_k, the predictive distribution has
    :math:`k (1 + \log(w/m_k) / S)^{1-k}` features ever above w. Those above the least w where that
    is at most `alpha` times their number are found. Fewer than 50 features have no tail to speak
    of: each has `n_shadows_` shadow features then, copies with permuted rows, the same for all
    trees, 100 columns or more in all. A tree that is given a feature is given its shadow features,
    and they count among the features ever above w, but are never found, which is cautious.

    By chance a split has about the same decrease times the fraction p of the rows at its node,
    however few these are, and fully grown trees have many small nodes. In v and v*, not in
    `importances_`, decreases therefore count by p^(9/8) in place of p: with p, relevant features of
    two values are lost in the noise of deep nodes; with p^(5/4), exclusive ors are.

    *Strata.* With a learning set that has strata, such as populations, decoys and shadow features
    have the values of rows of the same stratum: a feature that differs between the strata, as the
    target does, has a decoy that differs too, and is found only for its association within strata.
    For
    ``relevance="decoy"`` only.

    *Correlated features.* One that is correlated with a relevant feature is associated with the
    target, which its decoy is not, and may be found although it adds nothing: `alpha` is a false
    discovery rate of features that are independent of the target and of the others (the guide has
    figures).

    *Masking.* Trees in which all q features compete (`max_features=None` of the estimator) use one
    of several redundant features, and features that were found and kept hide others. With an
    `keep` so small that not all of them have a place, or smaller `max_features`, more are found.

    References
    ----------
    A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace with trees for
    feature selection under memory constraints. AISTATS 21. A. Sutera (2019). Importance measures
    derived from random forests: characterisation and extension. PhD thesis, University of Liège,
    chapter 7. B. M. Hill (1975). A simple general approach to inference about the tail of a
    distribution. Annals of Statistics 3.
    """

    exchanges = True

    estimator: Literal["extra", "cart", "random"] | Any = field(default="extra", kw_only=False)
    max_features: int | float | str | None = None
    n_estimators: int = 1000
    n_subspace_features: int | float | None = None
    memory: int | str | None = None
    keep: float = 0.5
    relevance: Literal["decoy", "probe", "positive"] = "decoy"
    alpha: float = 0.05
    min_draws: int = 10
    min_win_rate: float = 0.95
    n_probes: int = 1
    batch_size: int = 1
    patience: int | None = None
    random_state: RandomState = None
    n_jobs: int | None = None
    client: Any = None
    checkpoint: str | PathLike[str] | None = None
    verbose: int = 0

    # --- fitting ---------------------------------------------------------------------------

    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Search for the relevant features.

        Parameters
        ----------
        X : table or ColumnStore of shape (n, p)
            Anything that `encode` takes; the columns of a store stay on disk.
        y : array-like of shape (n,)
            Class labels or numbers.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a parameter, X or y is not as described, or the checkpoint is of another run.
        ModuleNotFoundError
            If there is a client, but not Dask.
        RuntimeError
            If the workers of the client have other versions of this package or NumPy.
        """
        owner = type(self).__name__
        plan = self._plan()
        named = isinstance(self.estimator, str)
        task = None if named else task_of(self.estimator, owner)
        data = self._learning_set(X, y, task, n_threads=plan.n_threads)
        test = self._test(data)
        n_shadows = shadows_of_each(data.n_columns) if test.decoy else 0
        search = self._search(data.table, n_shadows)
        n_beside = search.size * n_shadows + test.n_probes
        settings = self._growth(data, search.size, n_beside, test.decoy)
        seed = checks.draw_seed(self.random_state)
        grower = Grower(data, settings, test.n_probes, test.decoy, seed, n_shadows)
        searched = SubspaceSearch(grower, search, test)

        def interrupted(trees: list[dict[str, NDArray[Any]]]) -> None:
            """Keep the features found so far."""
            searched.end(trees)
            if trees:
                self._take(grower, search, searched)

        run_jobs(
            grower,
            search.n_trees,
            seed=seed,
            identity={"search": search, "test": test, **grower.metadata},
            plan=replace(plan, n_threads=min(plan.n_threads, search.batch)),
            function=f"{owner}.fit",
            decided=searched.take,
            ready=searched.ready,
            arguments=searched.arguments,
            unit="tree",
            interrupted=interrupted,
        )
        self._take(grower, search, searched)
        return self

    def _test(self, data: Data) -> RelevanceTest:
        owner = type(self).__name__
        chosen = checks.check_choice(owner, "relevance", self.relevance, TESTS)
        n_probes = checks.check_integer(owner, "n_probes", self.n_probes, 1)
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0)
        if chosen != "decoy" and data.exchangeability.strata is not None:
            raise ValueError(
                f"{owner}: relevance must be 'decoy' with strata, within which each feature is "
                f"compared with its own decoy, got {chosen!r}. Hint: leave out the strata, or "
                "relevance."
            )
        if chosen == "decoy":
            p = data.n_columns
            return DecoyTest(alpha, p if shadows_of_each(p) else None)
        if chosen == "positive":
            values = data.target.values
            return PositiveImportance(1.0 if data.classes is not None else float(np.var(values)))
        draws = checks.check_integer(owner, "min_draws", self.min_draws, 0)
        min_win_rate = checks.check_real(owner, "min_win_rate", self.min_win_rate, 0.0, 1.0)
        return ProbeShare(draws, min_win_rate, n_probes)

    def _search(self, source: EncodedTable | ColumnStore, n_shadows: int) -> Search:
        owner, p = type(self).__name__, source.n_columns
        batch = checks.check_integer(owner, "batch_size", self.batch_size, 1)
        keep = checks.check_real(owner, "keep", self.keep, 0.0, 1.0)
        patience = checks.check_optional_integer(owner, "patience", self.patience, 0)
        size, at_a_time = p, batch * (1 + n_shadows)
        if self.n_subspace_features is not None:
            if self.memory is not None:
                raise ValueError(
                    f"{owner}: n_subspace_features must be None with memory={self.memory!r}, which "
                    "sets the number of features of a tree. Hint: leave one of them out."
                )
            size = resolve_subspace(owner, self.n_subspace_features, p) or p
        elif self.memory is not None:
            size = widest_within(memory_bytes(self.memory, owner) // at_a_time, source)
        if size < 1:
            least = at_a_time * int(column_bytes(source).max())
            raise ValueError(
                f"{owner}: memory={self.memory!r} is too small for the widest column, of "
                f"{source.n_rows} rows, in {at_a_time} trees at a time; at least {least} bytes "
                "are needed. Hint: raise it, or lower batch_size."
            )
        n_trees = checks.check_integer(owner, "n_estimators", self.n_estimators, 1)
        return Search(n_trees, size, kept_places(size, keep), batch, patience or None)

    def _template(self, task: Task) -> Any:
        """Return the estimator of the trees, not fitted."""
        owner, K = type(self).__name__, self.max_features
        if self.estimator is not None and not isinstance(self.estimator, str):
            if K is not None:
                hint = "the estimator has this parameter"
                raise checks.refuse(owner, "max_features", "None beside an estimator", K, hint)
            return template_of(self.estimator, owner, survival=False)
        trees = checks.check_choice(owner, "estimator", self.estimator or "extra", TREES)
        if trees == "random":
            if K not in (None, 1):
                raise checks.refuse(owner, "max_features", "1 with estimator='random'", K)
            K = 1
        forest = next(forest for forest in FORESTS if forest.name == TREES[trees])
        settings = {"bootstrap": False} if trees == "cart" else {}
        return forest.estimator(task)(**settings, max_features=None if K == "all" else K)

    def _growth(self, data: Data, size: int, n_beside: int, decoy: bool) -> GrowthSettings:
        """Return the growth settings of a tree on features and `n_beside` shadow features."""
        owner, template = type(self).__name__, self._template(data.task)
        offered, K = size + n_beside, template.max_features
        if n_beside and checks.is_integer(K) and offered < K:
            hint = f"a tree has {size} of the features and {n_beside} shadow features"
            raise checks.refuse(owner, "max_features", f"at most {offered}", K, hint)
        settings: GrowthSettings = template.growth_settings(data.n_rows, offered, data.table)
        plain = any(type(template) in kind.estimators for kind in FORESTS)
        drawn = settings.samples_rows or settings.column_samples
        if drawn or not plain or template.class_weight is not None:
            raise checks.refuse(
                owner,
                "estimator",
                "a forest whose trees have all rows and features, with equal weights",
                type(template).__name__,
                "bootstrap=False, max_samples=None and class_weight=None",
            )
        best_first = settings.max_leaf_nodes is not None or settings.cut == "pert"
        cut_back = settings.min_impurity_decrease or settings.stop_alpha < 1 or settings.ccp_alpha
        if decoy and (best_first or cut_back or settings.n_best_splits > 1):
            raise checks.refuse(
                owner,
                "relevance",
                "'probe' or 'positive' for these trees",
                "decoy",
                "decoys are for trees that take the best split of a node, without max_leaf_nodes, "
                "min_impurity_decrease, stop_alpha and ccp_alpha, and not for PERT",
            )
        return settings

    def _take(self, grower: Grower, search: Search, searched: SubspaceSearch) -> None:
        history = {"n_selected": np.array(searched.sizes, dtype=np.int64)}
        self._adopt(grower.data, np.array(searched.found, dtype=np.int64), history)
        self.n_estimators_ = len(searched.sizes)
        self.n_subspace_features_, self.n_shadows_ = search.size, grower.n_shadows
        self.entered_ = np.array(searched.entered, dtype=np.int64)
        p = self.n_features_in_
        self.draws_, self.wins_ = searched.evidence.drawn[:p], searched.evidence.wins[:p]
        self._evidence, self._ensemble = searched.evidence, Ensemble(searched.trees, grower)
        self._described: dict[str, Any] = {
            "names": grower.data.table.names,
            "unit": grower.settings.unit,
        }
        self._grown = grower.metadata
        self._task = grower.data.task

    # --- found features --------------------------------------------------------------------

    @property
    def importances_(self) -> Importances:
        """Mean decrease of impurity of all features over all trees."""
        check_is_fitted(self, "support_")
        evidence, p = self._evidence, self.n_features_in_
        return Importances(
            **self._described,
            values=evidence.total[:p] / evidence.n_trees,
            measure="mdi",
            metadata={
                "selector": type(self).__name__,
                "n_trees": evidence.n_trees,
                "versions": versions(),
                **self._grown,
            },
        )

    def _scores(self) -> FloatArray:
        return self._evidence.total[: self.n_features_in_]  # without names

    def _figures(self) -> dict[str, Any]:
        n_trees, q = self.n_estimators_, self.n_subspace_features_
        columns = [
            Column("found at tree", name="entered", numbers=self._of_selected(self.entered_)),
            Column("given to trees", name="draws", numbers=self.draws_),
        ]
        if self.relevance == "probe":
            columns.append(Column("beat the probes in", name="wins", numbers=self.wins_))
        return {
            "run": f"{counted(n_trees, 'tree')} of {counted(q, 'feature')}",
            "step": "tree",
            "columns": tuple(columns),
            "results": {
                "trees": n_trees,
                "mean_draws": float(self.draws_.mean()),
                **({"shadow_features_of_each": self.n_shadows_} if self.n_shadows_ else {}),
            },
        }

    def _settings(self) -> dict[str, Any]:
        """Return the settings that mean anything for the test of relevance, resolved."""
        own = [name for name, test in TEST_OF.items() if test == self.relevance]
        return {
            "estimator": type(self._template(self._task)).__name__,
            "n_estimators": self.n_estimators,
            "memory": self.memory,
            "n_subspace_features": self.n_subspace_features_,
            **{name: getattr(self, name) for name in ("keep", "relevance", *own, "batch_size")},
            "patience": self.patience,
        }

    @property
    def forest_(self) -> Forest:
        """Trees on the columns of their splits, with a column for the probes."""
        return self._trees()[0]

    @property
    def forest_columns_(self) -> IntArray:
        """Numbers of these columns among all features."""
        return self._trees()[1]

    def _trees(self) -> tuple[Forest, IntArray]:
        check_is_fitted(self, "support_")
        return self._ensemble.forest


# Bytes of a row of a column while a tree grows: single-precision copies by column and by row, and
# up to four copies of its code, with those where rows are permuted; of each distinct value, what
# is copied and worked out as columns are put together. Measured in `benchmarks/README.md`.
_BY_ROW, _COPIES_OF_CODES, _BY_VALUE = 8, 4, 24


def column_bytes(source: EncodedTable | ColumnStore) -> IntArray:
    """Return the maximum memory of each column in bytes while a tree grows, of shape (p,)."""
    n_codes = source.n_codes()
    code = np.select([n_codes <= 1 << 8, n_codes <= 1 << 16], [1, 2], 4)
    rows = source.n_rows * (_BY_ROW + _COPIES_OF_CODES * code)
    return np.asarray(rows + _BY_VALUE * n_codes + COLUMN_BYTES, dtype=np.int64)


def widest_within(budget: int, source: EncodedTable | ColumnStore) -> int:
    """Return the largest number of columns such that any set of them fits; 0 without any."""
    widest_first = np.sort(column_bytes(source))[::-1]
    return int(np.searchsorted(np.cumsum(widest_first), budget, side="right"))
