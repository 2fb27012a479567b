"""Sequential random subspace: selection where only some of the features fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from duramen.forests import prediction
from duramen.forests.forest import Forest
from duramen.jobs.workers import Threads, Workers, check_client
from duramen.results.importances import Importances
from duramen.selection.records import Account, Selector
from duramen.selection.sequential_random_subspace.account import account_of
from duramen.selection.sequential_random_subspace.ensemble import (
    Ensemble,
    names_of,
    rows_for,
    staged_totals,
)
from duramen.selection.sequential_random_subspace.evidence import Evidence
from duramen.selection.sequential_random_subspace.parameters import SearchParameters
from duramen.selection.sequential_random_subspace.progress import search_bar
from duramen.selection.sequential_random_subspace.relevance import shadows_of_each
from duramen.selection.sequential_random_subspace.search import Plan, State, search
from duramen.selection.sequential_random_subspace.trees import Grower
from duramen.support import checks
from duramen.support.arrays import IntArray, refuse_masked
from duramen.support.provenance import versions


class SequentialRandomSubspace(SearchParameters):
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
        Number q of features of a tree, or the fraction of p; None for as many as `memory` holds, or
        all where that is not given either.
    memory : int, str or None, default=None
        Bytes, such as ``"512MB"``, for the columns of `batch_size` trees, which may grow at a time,
        if `n_subspace_features` is None: q is such that they fit whichever are drawn, and however
        they are tested. A column of n rows and m values takes 12 n + 24 m + 400 bytes at most, a
        little more where m is above 256.
    alpha : float, default=0.5
        Fraction of the q features that may be features found before, in [0, 1].
    tree : {"extra", "cart", "random"}, default="extra"
        Kind of trees: a cut drawn at random for each feature (Extra-Trees), the best cut (CART), or
        a feature and a cut drawn at random (totally randomized).
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Number K of the q features that compete at a node; None for all. Totally randomized trees
        have K = 1.
    criterion : {"gini", "entropy", "variance"}, optional
        Impurity; by default Gini where the target holds classes (text, truth values, or at most 20
        different whole numbers), else variance.
    splits : {"ordered", "multiway", "one-vs-rest", "any"}, default="ordered"
        Family of splits.
    max_depth : int, optional
        Greatest depth of the trees.
    min_samples_leaf : int or float, default=1
        Least number of rows at a child; a float is a fraction of the rows.
    relevance : {"decoy", "probe", "binomial", "positive"}, default="decoy"
        Test of a feature, made every max(1, p / (50 q)) trees and after the last.

        "decoy"
            Every feature that was not found before has a decoy, itself with the rows in another
            order, which is the same for all trees. At each node of each tree it is seen whether the
            decoy would have been chosen in its feature's place. What a feature gets beyond its
            decoy, in the mean over its trees, is compared with how far others fall short of theirs;
            `level` bounds the false discovery rate (see Notes). Twice the work.
        "probe"
            That of the papers (thesis, 7.C.1): each tree is given `n_probes` probes, columns of its
            own with permuted rows, and a feature that more than `min_draws` trees were given is
            more important than all probes in a fraction `confidence` of them.
        "binomial"
            The number of these trees is more than chance, 1 / (`n_probes` + 1) each, by an exact
            test with false discovery rate `level` over all p features.
        "positive"
            Rule of algorithm 7.1: it has an importance greater than zero in some tree. For rows
            that are a distribution; of a sample nearly every feature has.
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
        Number of trees without a new feature after which the search ends.
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
    n_subspace_features_, n_shadows_ : int
        Number q; shadow features that the test "decoy" adds to each feature, 0 for p >= 50.
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
    is at most `level` times their number are found. Fewer than 50 features have no tail to speak
    of: each has `n_shadows_` shadow features then, copies with permuted rows, the same for all
    trees, 100 columns or more in all. A tree that is given a feature is given its shadow features,
    and they count among the features ever above w, but are never found, which is cautious.

    By chance a split has about the same decrease times the fraction p of the rows at its node,
    however few these are, and fully grown trees have many small nodes. In v and v*, not in
    `importances_`, decreases therefore count by p^(9/8) in place of p: with p, relevant features of
    two values are lost in the noise of deep nodes; with p^(5/4), exclusive ors are.

    *Strata.* With a learning set that has strata, such as populations, decoys and shadow features
    have the values of rows of the same stratum: a feature that differs between the strata, as the
    target does, is so in its decoy too, and found only for what it tells within them. For
    ``relevance="decoy"`` only.

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

    exchanges = True

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
        data = self._learning_set(X, y, self._task(), n_threads=n_threads)
        test = self._test(data)
        n_shadows = shadows_of_each(data.n_columns) if test.decoy else 0
        plan = self._plan(data.table, n_shadows)
        checkpoint = self._file(self.checkpoint)
        criterion = self.criterion or ("gini" if data.task == "classification" else "variance")
        offered = plan.size * (1 + n_shadows) + test.n_probes
        settings = self._growth(criterion, data.table, offered)
        seed = checks.draw_seed(self.random_state)
        grower = Grower(data, settings, test.n_probes, test.decoy, seed, n_shadows)
        identity = {
            "plan": plan,
            "test": test,
            "versions": versions(),
            **grower.metadata,
        }
        workers: Workers = cluster or Threads(min(n_threads, plan.batch))
        state = State(Evidence(grower.n_features))
        try:
            with search_bar(plan.n_trees, owner, verbose) as progress:
                search(
                    grower,
                    plan,
                    test,
                    state,
                    workers=workers,
                    checkpoint=checkpoint,
                    identity=identity,
                    function=f"{owner}.fit",
                    progress=progress,
                )
        except KeyboardInterrupt:
            if state.n_trees:  # what was found so far is there
                state.let_in(test)
                state.sizes[-1] = len(state.found)
                self._take(grower, plan, state)
            raise
        self._take(grower, plan, state)
        return self

    def _take(self, grower: Grower, plan: Plan, state: State) -> None:
        evidence = state.evidence
        history = {"n_selected": np.array(state.sizes, dtype=np.int64)}
        self._adopt(grower.data, np.array(state.found, dtype=np.int64), history)
        self.n_estimators_ = state.n_trees
        self.n_subspace_features_, self.n_shadows_ = plan.size, grower.n_shadows
        self.entered_ = np.array(state.entered, dtype=np.int64)
        p = self.n_features_in_
        self.draws_, self.wins_ = evidence.drawn[:p], evidence.wins[:p]
        self._grower, self._state = grower, state
        self._ensemble = Ensemble(state.trees, grower)

    # --- what was found --------------------------------------------------------------------

    @property
    def importances_(self) -> Importances:
        """Mean decrease of impurity of all features over all trees."""
        check_is_fitted(self, "support_")
        grower, evidence, p = self._grower, self._state.evidence, self.n_features_in_
        return Importances(
            names=names_of(grower.data.table, np.arange(p)),
            values=evidence.total[:p] / evidence.n_trees,
            measure="mdi",
            unit=grower.settings.unit,
            metadata={
                "selector": type(self).__name__,
                "n_trees": evidence.n_trees,
                "versions": versions(),
                **grower.metadata,
            },
        )

    def _scores(self) -> NDArray[np.float64]:
        return self._state.evidence.total[: self.n_features_in_]  # without names

    def account(self, record: Selector) -> Account:
        """Return what is told of the search in a report.

        Parameters
        ----------
        record : Selector
            That of this class.
        """
        check_is_fitted(self, "support_")
        return account_of(self)

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
        """Trees on the columns that they split on, and one for the probes."""
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
