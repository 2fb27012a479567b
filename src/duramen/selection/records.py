"""Catalogue of the selectors: one record each, from which commands and reports are made.

It imports neither NumPy nor scikit-learn, as the help of a command reads it: a record names its
class, which is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from duramen.catalogue import Catalogue, Entry

if TYPE_CHECKING:
    from duramen.data import Task

Goal = Literal["all-relevant", "minimal", "ranking"]

# What ``duramen select`` and `duramen.select` set where the user gives no other value.
TREES, DEMO_TREES = 1000, 200  # of a search in random subspaces; those with --demo
MEMORY = "512MB"  # for the columns of a tree
SUBSPACE = 1000  # features of a tree, at most


@dataclass(frozen=True, eq=False)
class Option(Entry):
    """Option of ``duramen select`` that sets a parameter of selectors.

    Attributes
    ----------
    name : str
        Words joined by underscores; the option has hyphens.
    help : str
        What it sets, in which unit, and its default.
    default : any
        Value in the help; None where selectors have defaults of their own.
    kind : type
        str, int, float, bool or Path.
    parameter : str
        Parameter that it sets; by default that of the name.
    choices : tuple of str
        Values of an option that takes one of a few.
    metavar : str
        Letter or word for the value in the help.
    least, most : float or None
        Limits of a number.
    on_record : bool
        Whether the command line on record has it.
    """

    help: str
    default: Any = None
    kind: type[Any] = str
    parameter: str = ""
    choices: tuple[str, ...] = ()
    metavar: str = "NAME"
    least: float | None = None
    most: float | None = None
    on_record: bool = True


def count_option(
    name: str,
    help: str,
    metavar: str,
    *,
    parameter: str = "",
    default: int | None = None,
    least: int = 1,
) -> Option:
    """Return an option that takes a number of things."""
    return Option(name, help, default, int, parameter, metavar=metavar, least=least)


def number_option(
    name: str, help: str, metavar: str, *, default: float | None = None, most: float = 1.0
) -> Option:
    """Return an option that takes a number from 0 to `most`."""
    return Option(name, help, default, float, metavar=metavar, least=0.0, most=most)


@dataclass(frozen=True, eq=False)
class Selector(Entry):
    """Record of a selector in :data:`duramen.selection.records`.

    Attributes
    ----------
    name : str
        Name in Python; the option ``--method`` of ``duramen select`` has hyphens in it.
    estimator : type or str
        Class of the selector, a :class:`BaseSelector`; or the name of one of this package, which
        is imported when it is used.
    title : str
        Name in sentences and as the kind of a report.
    words : tuple of str
        Sentences that say what it means that a feature is selected.
    reference : str
        Source.
    goal : {"all-relevant", "minimal", "ranking"}
        Whether all relevant features are sought, a smallest set of features that predict, or the
        first ones of a ranking.
    parameters : mapping
        Parameters of the class that make it this selector.
    extra : str
        Extra of this package that the selector needs, if any.
    tasks : tuple of str
        Targets that it takes.
    options : tuple of Option
        Options that it brings to the command line. Those of other selectors whose parameter it has
        are options of it, too.
    """

    estimator: type[Any] | str
    title: str
    words: tuple[str, ...] = ()
    reference: str = ""
    goal: Goal = "all-relevant"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: str = ""
    tasks: tuple[Task, ...] = ("classification", "regression")
    options: tuple[Option, ...] = ()

    @property
    def kind(self) -> type[Any]:
        """Class of the selector."""
        if not isinstance(self.estimator, str):
            return self.estimator
        kind: type[Any] = getattr(import_module("duramen.selection"), self.estimator)
        return kind

    @property
    def exchanges(self) -> bool:
        """True if it permutes rows within the strata of a learning set."""
        return bool(getattr(self.kind, "exchanges", False))

    @property
    def exchanges_groups(self) -> bool:
        """True if it draws, permutes and holds out whole groups of a learning set."""
        return bool(getattr(self.kind, "exchanges_groups", False))

    def takes(self, parameter: str) -> bool:
        """Tell whether the selector has a parameter."""
        return parameter in signature(self.kind).parameters

    def has(self, option: str, parameter: str) -> bool:
        """Tell whether an option, by its name or that of its parameter, is one of the selector."""
        return any(own.name == option for own in self.options) or self.takes(parameter)

    def make(self, **parameters: Any) -> Any:
        """Return the selector, not fitted, with these parameters beside its own."""
        return self.kind(**{**self.parameters, **parameters})


SEQUENTIAL_RANDOM_SUBSPACE = Selector(
    "sequential_random_subspace",
    "SequentialRandomSubspace",
    title="selection in random subspaces",
    reference="A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace "
    "with trees for feature selection under memory constraints. AISTATS 21.",
    options=(
        Option(
            "subspace",
            "Number of features given to each tree, or their fraction; by default "
            f"{SUBSPACE}, or as many as memory holds if these are fewer.",
            parameter="n_subspace_features",
            metavar="Q",
        ),
        Option(
            "memory",
            f"Memory for the columns of a tree, such as 2GiB; {MEMORY} by default.",
            metavar="SIZE",
            on_record=False,
        ),
        number_option(
            "keep",
            "Fraction of the features of a tree that may be features found before; 0 is the "
            "random subspace.",
            "A",
            default=0.5,
        ),
        count_option(
            "trees",
            f"Maximum number of trees; {TREES} by default, {DEMO_TREES} with --demo.",
            "T",
            parameter="n_estimators",
        ),
        Option(
            "tree",
            "Kind of trees: Extra-Trees, CART or totally randomized.",
            "extra",
            choices=("extra", "cart", "random"),
        ),
        Option(
            "max_features",
            "Number of features tried at a node: auto, sqrt, log2, all, an integer or a fraction; "
            "auto is all, with --tree random one.",
            "auto",
            metavar="K",
        ),
        Option(
            "relevance",
            "Test of relevance: against the decoy of the feature (decoy), against random probes "
            "in most of its trees (probe) or in more of them than under the null hypothesis "
            "(binomial), or an importance above 0 (positive).",
            "decoy",
            choices=("decoy", "probe", "binomial", "positive"),
        ),
        number_option(
            "alpha",
            "False discovery rate of --relevance decoy and binomial, 0.05 by default; with other "
            "methods, the level of their tests.",
            "R",
        ),
        count_option(
            "min_draws",
            "Number of trees that must be exceeded by those given a feature before it can be "
            "found (probe); 10 by default.",
            "L",
            least=0,
        ),
        number_option(
            "min_win_rate",
            "Fraction of the trees given a feature in which it must beat the probes (probe); "
            "0.95 by default.",
            "B",
        ),
        count_option(
            "probes",
            "Number of probes in each tree (probe, binomial); 1 by default.",
            "M",
            parameter="n_probes",
        ),
        Option(
            "sampling",
            "Sampling: keep features found (hard), or draw features by their importance so far "
            "(soft).",
            "hard",
            choices=("hard", "soft"),
        ),
        count_option(
            "batch",
            "Number of trees grown at the same time; it changes the result.",
            "B",
            parameter="batch_size",
            default=1,
        ),
        count_option(
            "patience",
            "Number of trees without a new feature after which the search ends, 0 for never; by "
            "default, the number that gives each feature to 10 trees on average, at least 200.",
            "N",
            least=0,
        ),
    ),
)

BORUTA = Selector(
    "boruta",
    "Boruta",
    title="Boruta",
    words=(
        "In each round a forest is grown on the features that are not rejected yet and on "
        "their shadows, copies with permuted rows. A feature is confirmed when it was more "
        "important than the best shadow in significantly more than half of the rounds, "
        "rejected when it was so in significantly fewer, and tentative otherwise.",
        "The rounds have different forests and shadows, but the same rows. A feature that is "
        "associated with the target by chance in these rows is so in every round, and may be "
        "confirmed.",
    ),
    reference="M. B. Kursa, W. R. Rudnicki (2010). Feature selection with the Boruta package. "
    "Journal of Statistical Software 36(11).",
    options=(
        Option(
            "measure",
            "Importance measure of methods that grow forests in rounds, such as mdi or scaled-mda.",
        ),
        Option(
            "correction",
            "Correction for testing many features in many rounds, as in R's Boruta or boruta_py.",
            choices=("bonferroni", "two-step"),
        ),
        number_option(
            "percentile",
            "Percentile of the shadows that a feature must exceed; 100, the best one, by default.",
            "P",
            most=100.0,
        ),
        count_option(
            "rounds",
            "Maximum number of rounds; 99 with --method boruta, else 10, by default.",
            "R",
            parameter="max_rounds",
        ),
        Option("rough_fix", "Decide tentative features by their median importances.", False, bool),
        Option(
            "feature_groups",
            "Groups of features, each confirmed or rejected as a whole: a file of two columns, the "
            "features and the group of each; a .gmt file of gene sets that do not overlap; or a "
            "table of name, chromosome and position, for blocks of 250,000 base pairs.",
            kind=Path,
            metavar="FILE",
        ),
    ),
)

KNOCK_OUT = Selector(
    "knock_out",
    "KnockOut",
    title="knock-out strategy",
    words=(
        "In each round forests are grown on the remaining features, one with the target and "
        "others with permuted targets. Features whose importance exceeds the largest importance "
        "in nearly all permutations are found. They are left out of the next round, where "
        "features that they masked can be found.",
        "If the target is independent of all features, the probability that any is found is at "
        "most the level. A feature that is correlated with a relevant one is associated with the "
        "target, and is found once that one is left out, whether or not it adds anything.",
    ),
    reference="M. Ganz, D. N. Greve, B. Fischl, E. Konukoglu (2015). Relevant feature set "
    "estimation with a knock-out strategy and random forests. NeuroImage 122.",
    options=(
        count_option(
            "permutations",
            "Number of permutations of the target in a round; 99 by default.",
            "S",
            parameter="n_permutations",
        ),
    ),
)

ARTIFICIAL_CONTRASTS = Selector(
    "artificial_contrasts",
    "ArtificialContrasts",
    title="artificial contrasts with ensembles",
    words=(
        "Several forests are grown on the features and on contrasts, which are copies of the "
        "features with permuted rows. A feature is accepted when its importance is larger "
        "than that of the contrasts by a paired t-test over the forests. This is repeated on "
        "the residuals of a forest of the accepted features, where weaker features can be "
        "found, until none is accepted.",
        "The forests have different contrasts, but the same rows. A feature that is associated "
        "with the target by chance in these rows is so in every forest, and may be accepted.",
    ),
    reference="E. Tuv, A. Borisov, G. Runger, K. Torkkola (2009). Feature selection with "
    "ensembles, artificial variables, and redundancy elimination. Journal of Machine Learning "
    "Research 10.",
)

BACKWARD_ELIMINATION = Selector(
    "backward_elimination",
    "BackwardElimination",
    title="backward elimination",
    words=(
        "A forest is grown on all features, and further forests on fewer and fewer of the most "
        "important ones. The smallest set whose out-of-bag error is within one standard error of "
        "the smallest error is selected. Features that add nothing to those selected are left "
        "out, even where they are associated with the target.",
        "The out-of-bag error of the selected set is too small, because the set was chosen by "
        "it; for the nested error, the whole selection is repeated without the rows on which the "
        "error is computed.",
    ),
    reference="R. Díaz-Uriarte, S. Alvarez de Andrés (2006). Gene selection and classification of "
    "microarray data using random forest. BMC Bioinformatics 7.",
    goal="minimal",
)

VSURF = Selector(
    "vsurf",
    "VSURF",
    title="VSURF",
    words=(
        "Features whose importance does not exceed its variation by noise are left out "
        "(thresholding). Among nested models of the remaining features, the smallest one whose "
        "out-of-bag error is close to the best holds the features for interpretation. Of these, "
        "a feature is kept for prediction if it decreases the error by more than the addition of "
        "noise features changes it.",
    ),
    reference="R. Genuer, J.-M. Poggi, C. Tuleau-Malot (2010). Variable selection using random "
    "forests. Pattern Recognition Letters 31.",
    goal="minimal",
)

_REGULARIZED = (
    "The trees of a forest grow one after the other. A feature that no node was split on so far "
    "is chosen only where its decrease of impurity, times a factor below 1, is larger than that of "
    "all features in use; the features in use at the end are selected. A feature that adds nothing "
    "to others is left out, even where it is associated with the target.",
)
REGULARIZED_FOREST = Selector(
    "regularized_forest",
    "RegularizedForestSelector",
    title="regularized random forest",
    words=_REGULARIZED,
    reference="H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN.",
    goal="minimal",
)

GUIDED_REGULARIZED_FOREST = Selector(
    "guided_regularized_forest",
    "RegularizedForestSelector",
    title="guided regularized random forest",
    words=(
        *_REGULARIZED,
        "The factor of a feature grows with its importance in an ordinary random forest.",
    ),
    reference="H. Deng, G. Runger (2013). Gene selection with guided regularized random forest. "
    "Pattern Recognition 46(12).",
    goal="minimal",
    parameters={"guidance": 0.5},
)

_CHOSEN_BY_SCORE = (
    "The score of the selected features is too optimistic, because they were chosen by it "
    "among many sets."
)
FORWARD_SELECTION = Selector(
    "forward_selection",
    "SequentialSelection",
    title="sequential forward selection",
    words=(
        "Starting from no feature, each step adds the feature with which the learner scores best "
        "in cross-validation; the smallest set with the best score is selected.",
        _CHOSEN_BY_SCORE,
    ),
    reference="A. W. Whitney (1971). A direct method of nonparametric measurement selection. IEEE "
    "Transactions on Computers 20.",
    goal="minimal",
    options=(
        count_option(
            "features",
            "Number of features that filters and sequential searches select; by default 10 for "
            "filters, the number with the best score for searches.",
            "N",
            parameter="n_features",
        ),
    ),
)

BACKWARD_SELECTION = Selector(
    "backward_selection",
    "SequentialSelection",
    title="sequential backward selection",
    words=(
        "Starting from all features, each step removes the feature without which the learner "
        "scores best in cross-validation; the smallest set with the best score is selected.",
        _CHOSEN_BY_SCORE,
    ),
    reference="T. Marill, D. M. Green (1963). On the effectiveness of receptors in recognition "
    "systems. IEEE Transactions on Information Theory 9.",
    goal="minimal",
    parameters={"direction": "backward"},
)

FLOATING_SELECTION = Selector(
    "floating_selection",
    "SequentialSelection",
    title="sequential floating selection",
    words=(
        "Starting from no feature, each step adds the feature with which the learner scores best "
        "in cross-validation; then features are removed as long as this gives the best set of "
        "its size so far. The smallest set with the best score is selected.",
        _CHOSEN_BY_SCORE,
    ),
    reference="P. Pudil, J. Novovičová, J. Kittler (1994). Floating search methods in feature "
    "selection. Pattern Recognition Letters 15(11).",
    goal="minimal",
    parameters={"floating": True},
)

ADAPTIVE_FLOATING_SELECTION = Selector(
    "adaptive_floating_selection",
    "SequentialSelection",
    title="adaptive sequential floating selection",
    words=(
        "Starting from no feature, each step adds the feature, or the two features, with which "
        "the learner scores best in cross-validation; then one or two are removed as long as this "
        "gives the best set of its size so far. The smallest set with the best score is selected.",
        _CHOSEN_BY_SCORE,
    ),
    reference="P. Somol, P. Pudil, J. Novovičová, P. Paclík (1999). Adaptive floating search "
    "methods in feature selection. Pattern Recognition Letters 20.",
    goal="minimal",
    parameters={"floating": "adaptive"},
)

EXHAUSTIVE_SELECTION = Selector(
    "exhaustive_selection",
    "SequentialSelection",
    title="exhaustive selection",
    words=(
        "The learner is scored in cross-validation on every set of features; the smallest set "
        "with the best score is selected.",
        _CHOSEN_BY_SCORE,
    ),
    reference="R. Kohavi, G. H. John (1997). Wrappers for feature subset selection. Artificial "
    "Intelligence 97.",
    goal="minimal",
    parameters={"direction": "exhaustive"},
)

MARKOV_BOUNDARY = Selector(
    "markov_boundary",
    "MarkovBoundary",
    title="smallest Markov boundary",
    words=(
        "The rows are treated as the whole distribution. A smallest set of features that "
        "determines the target as well as all features together is selected, as by FOCUS. By "
        "chance, a single column of many values can be such a set.",
    ),
    reference="H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the presence of "
    "many irrelevant features. Artificial Intelligence 69.",
    goal="minimal",
    tasks=("classification",),
)

_ORDER = (
    "The features that rank first are selected; their number is given by the user, not estimated."
)

MRMR = Selector(
    "mrmr",
    "InformationFilter",
    title="minimum redundancy, maximum relevance",
    words=(
        "Each step selects the feature for which the mutual information with the target, minus "
        "the mean mutual information with the features already selected, is largest.",
        _ORDER,
    ),
    reference="H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information. "
    "IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8).",
    goal="ranking",
    parameters={"rule": "mrmr"},
)

JMI = Selector(
    "jmi",
    "InformationFilter",
    title="joint mutual information",
    words=(
        "Each step selects the feature with the largest sum, over the features already selected, "
        "of the mutual information between the target and the pair of features.",
        _ORDER,
    ),
    reference="H. H. Yang, J. Moody (1999). Data visualization and feature selection. NIPS 12.",
    goal="ranking",
    parameters={"rule": "jmi"},
)

CMIM = Selector(
    "cmim",
    "InformationFilter",
    title="conditional mutual information maximization",
    words=(
        "Each step selects the feature for which the mutual information with the target, given "
        "the already selected feature that explains most of it, is largest.",
        _ORDER,
    ),
    reference="F. Fleuret (2004). Fast binary feature selection with conditional mutual "
    "information. Journal of Machine Learning Research 5.",
    goal="ranking",
    parameters={"rule": "cmim"},
)

FCBF = Selector(
    "fcbf",
    "InformationFilter",
    title="fast correlation-based filter",
    words=(
        "Features are selected in the order of their symmetrical uncertainty with the target; a "
        "feature that is more closely associated with one already selected than with the target "
        "is left out.",
    ),
    reference="L. Yu, H. Liu (2003). Feature selection for high-dimensional data: a fast "
    "correlation-based filter solution. ICML.",
    goal="minimal",
    parameters={"rule": "fcbf"},
)

RELIEFF = Selector(
    "relieff",
    "ReliefF",
    title="ReliefF",
    words=(
        "A feature has a large weight if, among nearest neighbors, its values differ more "
        "between rows of different classes than between rows of one class.",
        _ORDER,
    ),
    reference="I. Kononenko (1994). Estimating attributes: analysis and extensions of RELIEF. "
    "ECML. Computed by skrebate.",
    goal="ranking",
    extra="baselines",
)

LASSO = Selector(
    "lasso",
    "LassoSelector",
    title="Lasso",
    words=(
        "Features with a coefficient other than 0 in a linear model whose absolute coefficients "
        "are penalized, at the penalty with the smallest error in cross-validation.",
    ),
    reference="R. Tibshirani (1996). Regression shrinkage and selection via the lasso. Journal of "
    "the Royal Statistical Society B 58. Computed by scikit-learn.",
    goal="minimal",
)

RIDGE = Selector(
    "ridge",
    "RidgeSelector",
    title="ridge regression",
    words=(
        "The features with the largest absolute coefficients in a linear model of standardized "
        "features whose squared coefficients are penalized, at the penalty with the smallest "
        "leave-one-out error.",
        _ORDER,
    ),
    reference="A. E. Hoerl, R. W. Kennard (1970). Ridge regression: biased estimation for "
    "nonorthogonal problems. Technometrics 12. Computed by scikit-learn.",
    goal="ranking",
)

STABILITY_SELECTION = Selector(
    "stability_selection",
    "StabilitySelection",
    title="stability selection with artificial features",
    words=(
        "Each feature gets an artificial feature: a copy with permuted rows, or a knockoff, which "
        "is correlated with the other features as the feature is. In many draws of half of the "
        "rows a forest or a lasso selects its best columns. A feature is selected when the "
        "fraction of the draws in which it is among them reaches a threshold: the one at which "
        "artificial features are fewest in proportion to features.",
        "That proportion estimates the fraction of false features among the selected ones; it is "
        "no bound on it, and of few selected features it is large.",
    ),
    reference="J. Hédou, I. Marić, G. Bellan et al. (2024). Discovery of sparse, reliable omic "
    "biomarkers with Stabl. Nature Biotechnology 42.",
    options=(
        Option(
            "learner",
            "What selects in each draw of rows: forests or a lasso.",
            "forest",
            choices=("forest", "lasso"),
        ),
        Option(
            "artificial",
            "Artificial features: copies with permuted rows, or knockoffs.",
            "permuted",
            choices=("permuted", "knockoff"),
        ),
        count_option("draws", "Number of draws of rows; 100 by default.", "N", parameter="n_draws"),
        count_option(
            "per_draw",
            "Number of columns that each draw selects; by default the square root of twice the "
            "number of features.",
            "Q",
            parameter="n_per_draw",
        ),
    ),
)

catalogue = Catalogue(
    "selector",
    (
        SEQUENTIAL_RANDOM_SUBSPACE,
        BORUTA,
        KNOCK_OUT,
        ARTIFICIAL_CONTRASTS,
        BACKWARD_ELIMINATION,
        VSURF,
        REGULARIZED_FOREST,
        GUIDED_REGULARIZED_FOREST,
        FORWARD_SELECTION,
        BACKWARD_SELECTION,
        FLOATING_SELECTION,
        ADAPTIVE_FLOATING_SELECTION,
        EXHAUSTIVE_SELECTION,
        MARKOV_BOUNDARY,
        MRMR,
        JMI,
        CMIM,
        FCBF,
        RELIEFF,
        LASSO,
        RIDGE,
        STABILITY_SELECTION,
    ),
)
"""Selectors that ``duramen select`` can run; ``register`` adds one."""
