"""Sequential random subspace: selection where only some of the features fit into memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from duramen import checks
from duramen.forests import prediction, sampling
from duramen.forests.forest import Forest
from duramen.forests.settings import SPLITS, UNITS, GrowthSettings
from duramen.jobs.workers import Threads, Workers, check_client
from duramen.results.importances import Importances
from duramen.results.masked import refuse_masked
from duramen.results.provenance import versions
from duramen.selection.sequential_random_subspace.drawing import IntArray
from duramen.selection.sequential_random_subspace.ensemble import (
    Ensemble,
    names_of,
    rows_for,
    staged_totals,
)
from duramen.selection.sequential_random_subspace.memory import column_bytes, widest_within
from duramen.selection.sequential_random_subspace.relevance import (
    DecoyTest,
    ProbeBinomial,
    ProbeShare,
    RelevanceTest,
)
from duramen.selection.sequential_random_subspace.search import Plan, State, search
from duramen.selection.sequential_random_subspace.trees import Grower
from duramen.tables import EncodedTable, LearningSet, Task, encode, encode_target
from duramen.tables.containers import table_like
from duramen.tables.learning_set import given_set, of_table, refuse_weights
from duramen.tables.store import ColumnStore
from duramen.tables.store.budget import memory_bytes
from duramen.theory.convergence import kept_places

_CUTS = {"cart": "best", "extra": "random", "random": "random"}
_CRITERIA = ("gini", "entropy", "variance")
_TESTS = ("decoy", "probe", "binomial")
_SAMPLING = ("hard", "soft")


class SequentialRandomSubspace(SelectorMixin, BaseEstimator):  # type: ignore[misc]
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
    n_estimators : int, default=1000
        Number T of trees at most.
    n_subspace_features : int, float or None, default=None
        Number q of features of a tree, or the share of p; None for as many as `memory` holds, or
        all where that is not given either.
    memory : int, str or None, default=None
        Bytes, such as ``"512MB"``, for the columns of `batch_size` trees, which may grow at a time,
        if `n_subspace_features` is None: q is such that they fit whichever are drawn, and however
        they are tested. A column of n rows and m values takes 12 n + 24 m + 400 bytes at most, a
        little more where m is above 256.
    alpha : float, default=0.5
        Share of the q features that may be features found before, in [0, 1].
    tree : {"extra", "cart", "random"}, default="extra"
        Kind of trees: a cut drawn at random for each feature (Extra-Trees), the best cut (CART), or
        a feature and a cut drawn at random (totally randomised).
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Number K of the q features that compete at a node; None for all. Totally randomised trees
        have K = 1.
    criterion : {"gini", "entropy", "variance"}, optional
        Impurity; by default Gini where the target holds classes (text, truth values, or at most 20
        different whole numbers), else variance.
    splits : {"ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits.
    max_depth : int, optional
        Greatest depth of the trees.
    min_samples_leaf : int or float, default=1
        Least number of rows at a child; a float is a share of the rows.
    relevance : {"decoy", "probe", "binomial"}, default="decoy"
        Test of a feature.

        "decoy"
            Every feature that was not found before has a decoy, itself with the rows in another
            order, which is the same for all trees. At each node of each tree it is seen whether the
            decoy would have been chosen in its feature's place. What a feature gets beyond its
            decoy, in the mean over its trees, is compared with how far others fall short of theirs;
            `level` bounds the share of false ones (see Notes). Twice the work.
        "probe"
            That of the papers (thesis, 7.C.1): each tree is given `n_probes` probes, columns of its
            own with permuted rows, and a feature that more than `min_draws` trees were given is
            more important than all probes in a share of `confidence` of them.
        "binomial"
            The number of these trees is more than chance, 1 / (`n_probes` + 1) each, by an exact
            test with false discovery rate `level` over all p features.
    level : float, default=0.05
        False discovery rate of the tests "decoy" and "binomial".
    min_draws : int, default=10
        L of the test "probe".
    confidence : float, default=0.95
        beta of the test "probe".
    n_probes : int, default=1
        Probes of a tree, for the tests "probe" and "binomial".
    sampling : {"hard", "soft"}, default="hard"
        ``"soft"`` draws the floor(alpha q) features not from F but from all features, with
        probability proportional to their mean importance in the trees that were given them.
    batch_size : int, default=1
        Trees of a round: all of them know what was found before the round, so that they can grow at
        a time. The result depends on it, not on `n_jobs`.
    patience : int, optional
        End once so many trees brought no new feature.
    random_state : int, RandomState, Generator or None
        Seed.
    n_jobs : int, optional
        Threads, of which more than `batch_size` have nothing to do. The result does not depend on
        it, not in a bit.
    client : dask.distributed.Client, optional
        Its workers grow the trees, up to `batch_size` at a time, in place of threads here; `n_jobs`
        is then for encoding and prediction alone. They read the columns of a store themselves, at
        its path or URL; a table in memory is sent to each of them once. The result is the same, in
        every bit. Clones keep the client, pickles and deep copies do not. Needs the extra
        ``distributed``.
    checkpoint : path, optional
        File that keeps the trees of the rounds that are done; a run that was killed goes on from
        there, to the same result.
    verbose : int, default=0
        Above 0: a progress bar with the time left, the features found and the memory in use.

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
    history_ : dict of arrays of shape (n_estimators_,)
        ``"n_selected"``: size of F after each tree.
    n_estimators_ : int
        Trees that were grown.
    n_subspace_features_ : int
        Number q.
    forest_ : Forest
        The trees, on the features that some tree splits on and a column for the probes.
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
    rows some irrelevant ones pass "probe", and more pass "binomial", whose p-values are those of
    trees, not of samples. A decoy is one reordering of the feature for the whole search, and has
    its own chance association.

    *The comparison.* At a node the candidates are drawn in random order, and the best of them
    splits it. A decoy takes the place of its feature in that order, all others being as they are;
    if it would win, it is credited with its decrease of impurity, but splits nothing. So a feature
    and its decoy meet the same nodes, those that the relevant features make among them. A feature
    has fewer values beneath its own splits, and its chance association there is used up; so beneath
    a node at which its decoy would have won, the decoy has yet another order, and the values of one
    side of the cut, drawn by their shares of the rows. (Of features without an order, and of
    "multiway" splits, only the first choice on a path counts, for feature and decoy.) If a feature
    has nothing to do with the target and with the others, its credit :math:`v_{tj}` in a tree and
    that of its decoy, :math:`v^*_{tj}`, then have nearly the same distribution, and

    .. math:: W_j = \frac{\sum_t (v_{tj} - v^*_{tj})}{n_j + 5}

    over its n_j trees before it was found (0 if these are fewer than three) is as likely to be
    above as below 0, so that the negative ones show how large W gets by chance. Since W is looked
    at again and again, the most that a feature was ever short, :math:`M_j = \max(-W_j)` over all
    trees so far, takes the place of -W: by chance, so many are ever above as below. The tail of the
    largest k = 100 of them (p / 7, if that is fewer) is taken for a power law (Hill 1975), whose
    exponent is known from these alone: with m_k the k-th largest and S the sum of the logarithms of
    all k over m_k, the predictive distribution has :math:`k (1 + \log(w/m_k) / S)^{1-k}` features
    ever above w. Those above the least w where that is at most `level` times their number are
    found. Fewer than 50 features have no tail to speak of, and none is found.

    Chance gives a split about the same decrease times the share p of the rows at its node, however
    few these are, and fully grown trees have many small nodes. In v and v*, not in `importances_`,
    decreases therefore count by p^(9/8) in place of p: with p, features of two values that matter
    alone are lost in what chance does further down; with p^(5/4), exclusive ors are.

    *Correlated features.* One that is correlated with a relevant feature is associated with the
    target, which its decoy is not, and may be found although it adds nothing: `level` is a false
    discovery rate of features that are independent of the target and of the others (the guide,
    docs/guide/proxies.md, has figures).

    *Masking.* Trees in which all q features compete (`max_features=None`) take one of several
    features that tell the same, and those that were found and kept hide others. With an `alpha` so
    small that not all of them have a place, or smaller `max_features`, more are found.

    References
    ----------
    A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace with trees for
    feature selection under memory constraints. AISTATS 21. A. Sutera (2019). Importance measures
    derived from random forests: characterisation and extension. PhD thesis, University of Liège,
    chapter 7. B. M. Hill (1975). A simple general approach to inference about the tail of a
    distribution. Annals of Statistics 3.
    """

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        n_subspace_features: int | float | None = None,
        memory: int | str | None = None,
        alpha: float = 0.5,
        tree: str = "extra",
        max_features: str | int | float | None = None,
        criterion: str | None = None,
        splits: str = "ordered",
        max_depth: int | None = None,
        min_samples_leaf: int | float = 1,
        relevance: str = "decoy",
        level: float = 0.05,
        min_draws: int = 10,
        confidence: float = 0.95,
        n_probes: int = 1,
        sampling: str = "hard",
        batch_size: int = 1,
        patience: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        client: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_subspace_features = n_subspace_features
        self.memory = memory
        self.alpha = alpha
        self.tree = tree
        self.max_features = max_features
        self.criterion = criterion
        self.splits = splits
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.relevance = relevance
        self.level = level
        self.min_draws = min_draws
        self.confidence = confidence
        self.n_probes = n_probes
        self.sampling = sampling
        self.batch_size = batch_size
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.client = client
        self.checkpoint = checkpoint
        self.verbose = verbose

    # --- fitting ---------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
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
        ValueError
            If a parameter, X or y is not as described, or the checkpoint is of another run.
        ModuleNotFoundError
            If there is a client, but not Dask.
        RuntimeError
            If the workers of the client have other versions of this package or NumPy.
        """
        owner = type(self).__name__
        n_threads = checks.check_jobs(owner, self.n_jobs)
        cluster = None if self.client is None else check_client(owner, self.client)
        verbose = checks.check_verbosity(owner, self.verbose)
        data = self._data(X, y, n_threads)
        source = data.table
        test = self._test()
        plan = self._plan(source)
        checkpoint = self._file()
        criterion = self.criterion or ("gini" if data.task == "classification" else "variance")
        settings = self._settings(criterion, source, plan.size + test.n_probes)
        seed = checks.draw_seed(self.random_state)
        grower = Grower(data, settings, test.n_probes, test.decoy, seed)
        identity = {
            "settings": settings.to_dict(),
            "plan": plan,
            "test": test,
            "seed": seed,
            "data": data.fingerprint,
            "versions": versions(),
        }
        workers: Workers = cluster or Threads(min(n_threads, plan.batch))
        with _bar(plan.n_trees, owner, verbose) as progress:
            state = search(
                grower,
                plan,
                test,
                workers=workers,
                checkpoint=checkpoint,
                identity=identity,
                function=f"{owner}.fit",
                progress=progress,
            )
        self._adopt(grower, plan, state)
        return self

    def _data(self, X: Any, y: Any, n_threads: int) -> LearningSet[EncodedTable | ColumnStore]:
        """Check and encode the rows and their target, as classes or numbers by the criterion."""
        owner = type(self).__name__
        function = f"{owner}.fit"
        task: Task | None = None
        if self.criterion is not None:
            checks.check_choice(owner, "criterion", self.criterion, _CRITERIA)
            task = "regression" if self.criterion == "variance" else "classification"
        given = given_set(X, y, function, task)
        if given is not None:
            return refuse_weights(given, function)
        table = X if isinstance(X, ColumnStore) else encode(table_like(X), n_jobs=n_threads)
        target = encode_target(y, task or "auto", n_rows=table.n_rows, function=function)
        return of_table(table, target, function)

    def _test(self) -> RelevanceTest:
        owner = type(self).__name__
        chosen = checks.check_choice(owner, "relevance", self.relevance, _TESTS)
        n_probes = checks.check_integer(owner, "n_probes", self.n_probes, 1)
        level = checks.check_real(owner, "level", self.level, 0.0, 1.0)
        if chosen == "decoy":
            return DecoyTest(level)
        if chosen == "binomial":
            return ProbeBinomial(level, n_probes)
        draws = checks.check_integer(owner, "min_draws", self.min_draws, 0)
        confidence = checks.check_real(owner, "confidence", self.confidence, 0.0, 1.0)
        return ProbeShare(draws, confidence, n_probes)

    def _file(self) -> Path | None:
        if self.checkpoint is None:
            return None
        if not isinstance(self.checkpoint, str | PathLike):
            owner = type(self).__name__
            raise checks.refuse(owner, "checkpoint", "a path or None", self.checkpoint)
        return Path(self.checkpoint)

    def _plan(self, source: EncodedTable | ColumnStore) -> Plan:
        owner = type(self).__name__
        batch = checks.check_integer(owner, "batch_size", self.batch_size, 1)
        alpha = checks.check_real(owner, "alpha", self.alpha, 0.0, 1.0)
        size = self._subspace(source, batch)
        patience = checks.check_optional_integer(owner, "patience", self.patience, 1)
        soft = checks.check_choice(owner, "sampling", self.sampling, _SAMPLING) == "soft"
        return Plan(
            n_trees=checks.check_integer(owner, "n_estimators", self.n_estimators, 1),
            size=size,
            places=kept_places(size, alpha),
            soft=soft,
            batch=batch,
            patience=patience,
        )

    def _subspace(self, source: EncodedTable | ColumnStore, n_at_a_time: int) -> int:
        owner, p = type(self).__name__, source.n_columns
        if self.n_subspace_features is not None:
            if self.memory is not None:
                raise ValueError(
                    f"{owner}: memory and n_subspace_features both say how many features a tree "
                    "is given; give one of them."
                )
            return sampling.resolve_subspace(owner, self.n_subspace_features, p) or p
        if self.memory is None:
            return p
        budget = memory_bytes(self.memory, owner)
        size = widest_within(budget // n_at_a_time, source)
        if size < 1:
            least = n_at_a_time * int(column_bytes(source).max())
            raise ValueError(
                f"{owner}: memory={self.memory!r} does not hold the widest column, of "
                f"{source.n_rows} rows, for each of {n_at_a_time} trees at a time; {least} bytes "
                "are needed at least. Hint: raise it, or lower batch_size."
            )
        return size

    def _settings(
        self, criterion: str, source: EncodedTable | ColumnStore, offered: int
    ) -> GrowthSettings:
        owner = type(self).__name__
        tree = checks.check_choice(owner, "tree", self.tree, _CUTS)
        K = sampling.resolve_max_features(
            owner, self.max_features, max(source.n_columns, offered), offered
        )
        if tree == "random":
            if self.max_features not in (None, 1):
                raise ValueError(
                    f"{owner}: max_features must be None or 1 for totally randomised trees, got "
                    f"{self.max_features!r}."
                )
            K = 1
        return GrowthSettings(
            criterion=criterion,
            cut=_CUTS[tree],
            splits=checks.check_choice(owner, "splits", self.splits, SPLITS),
            max_features=K,
            max_depth=checks.check_optional_integer(owner, "max_depth", self.max_depth, 1),
            min_samples_leaf=checks.check_count_or_share(
                owner, "min_samples_leaf", self.min_samples_leaf, source.n_rows, 1
            ),
        )

    def _adopt(self, grower: Grower, plan: Plan, state: State) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        evidence = state.evidence
        self.n_features_in_ = evidence.n_features
        self.n_estimators_ = state.n_trees
        self.n_subspace_features_ = plan.size
        self.selected_ = np.array(state.found, dtype=np.int64)
        self.entered_ = np.array(state.entered, dtype=np.int64)
        self.support_ = np.zeros(evidence.n_features, dtype=np.bool_)
        self.support_[self.selected_] = True
        self.draws_, self.wins_ = evidence.drawn, evidence.wins
        self.history_ = {"n_selected": np.array(state.sizes, dtype=np.int64)}
        if grower.data.classes is not None:
            self.classes_ = grower.data.classes
        self._grower, self._state = grower, state
        self._ensemble = Ensemble(state.trees, grower)

    # --- among scikit-learn's tools ----------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "client": None}  # a connection of this process

    def __sklearn_clone__(self) -> Self:
        # Parameters are copied deeply, which a connection cannot be.
        made: Self = BaseEstimator.__sklearn_clone__(copy.copy(self))
        made.client = self.client
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of all features, of shape (p,), where the table has any.

        Raises
        ------
        AttributeError
            If it has none.
        """
        check_is_fitted(self, "support_")
        source = self._grower.data.table
        if not source.take_columns(np.arange(min(1, source.n_columns))).named:
            raise AttributeError(f"{type(self).__name__} was fitted without feature names")
        return np.array(source.names, dtype=object)

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, in the order that they have in X.

        Parameters
        ----------
        X : table or ColumnStore of shape (n, p)

        Returns
        -------
        array or sparse matrix of shape (n, n_selected)
            As scikit-learn's selectors give; an EncodedTable for an EncodedTable or a store, of
            which only these columns are read.

        Raises
        ------
        ValueError
            If X has another number of columns, or other names.
        """
        if not isinstance(X, EncodedTable | ColumnStore):
            return super().transform(X)
        check_is_fitted(self, "support_")
        if X.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {X.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return X.take_columns(self.get_support(indices=True))

    # --- what was found --------------------------------------------------------------------

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    @property
    def importances_(self) -> Importances:
        """Mean decrease of impurity of all features over all trees."""
        check_is_fitted(self, "support_")
        grower, evidence = self._grower, self._state.evidence
        return Importances(
            names=names_of(grower.data.table, np.arange(evidence.n_features)),
            values=evidence.total / evidence.n_trees,
            measure="mdi",
            unit=UNITS[grower.settings.criterion],
            metadata={
                "selector": type(self).__name__,
                "forest": grower.settings.to_dict(),
                "n_trees": evidence.n_trees,
                "n_rows": grower.data.table.n_rows,
                "seed": grower.seed,
                "fingerprint": grower.data.fingerprint,
                "versions": versions(),
            },
        )

    @property
    def ranking_(self) -> IntArray:
        """1 for the features found, then 2, 3, ... by importance."""
        check_is_fitted(self, "support_")
        others = np.flatnonzero(~self.support_)
        order = others[np.argsort(-self._state.evidence.total[others], kind="stable")]
        ranking = np.ones(len(self.support_), dtype=np.int64)
        ranking[order] = np.arange(2, len(order) + 2)
        return ranking

    def staged_importances(self, every: int = 1) -> Iterator[NDArray[np.float64]]:
        """Mean decrease of impurity of all features after the first trees, for curves.

        Parameters
        ----------
        every : int, default=1
            After each so many trees, and after the last.

        Yields
        ------
        float64 array of shape (p,)
            As the values of `importances_` were then, up to rounding.

        Raises
        ------
        ValueError
            If `every` is no positive int.
        """
        forest, columns = self._trees()
        ends = self._stages(every)
        totals = staged_totals(forest, columns, self.n_features_in_, ends)
        for end, total in zip(ends, totals, strict=True):
            yield total / end

    def _stages(self, every: int) -> list[int]:
        step = checks.check_integer(type(self).__name__, "every", every, 1)
        return [*range(step, self.n_estimators_, step), self.n_estimators_]

    @property
    def forest_(self) -> Forest:
        """The trees on the columns that they split on, and one for the probes."""
        return self._trees()[0]

    @property
    def forest_columns_(self) -> IntArray:
        """Numbers of these columns among all features."""
        return self._trees()[1]

    def _trees(self) -> tuple[Forest, IntArray]:
        check_is_fitted(self, "support_")
        return self._ensemble.forest

    # --- prediction ------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by all trees: the most probable class, or the mean, of shape (n,).

        Parameters
        ----------
        X : table or ColumnStore of shape (n, p)
            Only the columns that some tree splits on are read. At a split on a probe a row goes
            where most of the training rows went.
        """
        return self._label(self._means(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of shape (n, C): means over the trees.

        Raises
        ------
        AttributeError
            In regression.
        """
        check_is_fitted(self, "support_")
        if self._grower.data.classes is None:
            raise AttributeError(f"{type(self).__name__}: a numeric target has no probabilities.")
        return self._means(X)

    def staged_predict(self, X: Any, every: int = 1) -> Iterator[NDArray[Any]]:
        """Predict by the first trees, for curves.

        Parameters
        ----------
        X : table or ColumnStore of shape (n, p)
            As for `predict`.
        every : int, default=1
            After each so many trees, and after the last.

        Yields
        ------
        array of shape (n,)
            What `predict` would have said then.

        Raises
        ------
        ValueError
            If `every` is no positive int, or X does not fit.
        """
        forest, _ = self._trees()
        leaves = prediction.leaves(forest, self._rows(X), self._threads())
        for means in prediction.staged_means(forest, leaves, self._stages(every)):
            yield self._label(means)

    def score(self, X: Any, y: ArrayLike) -> float:
        """Return the accuracy, or R^2 in regression, of `predict`."""
        from sklearn.metrics import accuracy_score, r2_score

        predicted = self.predict(X)
        rate = r2_score if self._grower.data.classes is None else accuracy_score
        truth = refuse_masked(y, "y", f"{type(self).__name__}.score")
        return float(rate(np.asarray(truth), predicted))

    def _means(self, X: Any) -> NDArray[np.float64]:
        return prediction.predict(self._trees()[0], self._rows(X), self._threads())

    def _rows(self, X: Any) -> Any:
        return rows_for(*self._trees(), X, self.n_features_in_, type(self).__name__)

    def _threads(self) -> int:
        return checks.check_jobs(type(self).__name__, self.n_jobs)

    def _label(self, means: NDArray[np.float64]) -> NDArray[Any]:
        if self._grower.data.classes is None:
            return means[:, 0]
        labels: NDArray[Any] = self._grower.data.classes[np.argmax(means, axis=1)]
        return labels


@contextmanager
def _bar(total: int, what: str, verbose: int) -> Iterator[Callable[[State], object] | None]:
    """A progress bar over trees with the features found and the memory in use."""
    if not verbose:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit="tree") as bar:

        def report(state: State) -> None:
            bar.set_postfix_str(f"{len(state.found)} found{_memory_in_use()}", refresh=False)
            bar.update(state.n_trees - bar.n)

        yield report


def _memory_in_use() -> str:
    """The resident memory, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return ""
    import mmap

    return f", {pages * mmap.PAGESIZE / 1e6:.0f} MB"
