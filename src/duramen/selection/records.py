"""Catalogue of the selectors: one record each, from which commands and reports are made.

It imports neither NumPy nor scikit-learn, as the help of a command reads it: a record names its
class, which is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from duramen.catalogue import Catalogue, Entry

if TYPE_CHECKING:
    from duramen.data import Task

Goal = Literal["all-relevant", "minimal", "ranking"]


@dataclass(frozen=True, eq=False)
class Selector(Entry):
    """Record of a selector in :data:`duramen.selection.records`.

    Attributes
    ----------
    name : str
        Name in Python; on the command line it has hyphens.
    estimator : type or str
        Class of the selector, a :class:`BaseSelector`; or the name of one of this package, which
        is imported when it is used.
    title : str
        Name in sentences and as the kind of a report.
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
    """

    estimator: type[Any] | str
    title: str
    reference: str = ""
    goal: Goal = "all-relevant"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: str = ""
    tasks: tuple[Task, ...] = ("classification", "regression")

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

    def make(self, **parameters: Any) -> Any:
        """Return the selector, not fitted, with these parameters beside its own."""
        return self.kind(**{**self.parameters, **parameters})


catalogue = Catalogue(
    "selector",
    (
        Selector(
            "sequential_random_subspace",
            "SequentialRandomSubspace",
            title="selection in random subspaces",
            reference="A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random "
            "subspace with trees for feature selection under memory constraints. AISTATS 21.",
        ),
        Selector(
            "boruta",
            "Boruta",
            title="Boruta",
            reference="M. B. Kursa, W. R. Rudnicki (2010). Feature selection with the Boruta "
            "package. Journal of Statistical Software 36(11).",
        ),
        Selector(
            "knock_out",
            "KnockOut",
            title="knock-out strategy",
            reference="M. Ganz, D. N. Greve, B. Fischl, E. Konukoglu (2015). Relevant feature set "
            "estimation with a knock-out strategy and random forests. NeuroImage 122.",
        ),
        Selector(
            "artificial_contrasts",
            "ArtificialContrasts",
            title="artificial contrasts with ensembles",
            reference="E. Tuv, A. Borisov, G. Runger, K. Torkkola (2009). Feature selection with "
            "ensembles, artificial variables, and redundancy elimination. Journal of Machine "
            "Learning Research 10.",
        ),
        Selector(
            "backward_elimination",
            "BackwardElimination",
            title="backward elimination",
            reference="R. Díaz-Uriarte, S. Alvarez de Andrés (2006). Gene selection and "
            "classification of microarray data using random forest. BMC Bioinformatics 7.",
            goal="minimal",
        ),
        Selector(
            "vsurf",
            "VSURF",
            title="VSURF",
            reference="R. Genuer, J.-M. Poggi, C. Tuleau-Malot (2010). Variable selection using "
            "random forests. Pattern Recognition Letters 31.",
            goal="minimal",
        ),
        Selector(
            "regularized_forest",
            "RegularizedForestSelector",
            title="regularized random forest",
            reference="H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN.",
            goal="minimal",
        ),
        Selector(
            "guided_regularized_forest",
            "RegularizedForestSelector",
            title="guided regularized random forest",
            reference="H. Deng, G. Runger (2013). Gene selection with guided regularized random "
            "forest. Pattern Recognition 46(12).",
            goal="minimal",
            parameters={"guidance": 0.5},
        ),
        Selector(
            "forward_selection",
            "SequentialSelection",
            title="sequential forward selection",
            reference="A. W. Whitney (1971). A direct method of nonparametric measurement "
            "selection. IEEE Transactions on Computers 20.",
            goal="minimal",
        ),
        Selector(
            "backward_selection",
            "SequentialSelection",
            title="sequential backward selection",
            reference="T. Marill, D. M. Green (1963). On the effectiveness of receptors in "
            "recognition systems. IEEE Transactions on Information Theory 9.",
            goal="minimal",
            parameters={"direction": "backward"},
        ),
        Selector(
            "floating_selection",
            "SequentialSelection",
            title="sequential floating selection",
            reference="P. Pudil, J. Novovičová, J. Kittler (1994). Floating search methods in "
            "feature selection. Pattern Recognition Letters 15(11).",
            goal="minimal",
            parameters={"floating": True},
        ),
        Selector(
            "adaptive_floating_selection",
            "SequentialSelection",
            title="adaptive sequential floating selection",
            reference="P. Somol, P. Pudil, J. Novovičová, P. Paclík (1999). Adaptive floating "
            "search methods in feature selection. Pattern Recognition Letters 20.",
            goal="minimal",
            parameters={"floating": "adaptive"},
        ),
        Selector(
            "exhaustive_selection",
            "SequentialSelection",
            title="exhaustive selection",
            reference="R. Kohavi, G. H. John (1997). Wrappers for feature subset selection. "
            "Artificial Intelligence 97.",
            goal="minimal",
            parameters={"direction": "exhaustive"},
        ),
        Selector(
            "markov_boundary",
            "MarkovBoundary",
            title="smallest Markov boundary",
            reference="H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the "
            "presence of many irrelevant features. Artificial Intelligence 69.",
            goal="minimal",
            tasks=("classification",),
        ),
        Selector(
            "mrmr",
            "InformationFilter",
            title="minimum redundancy, maximum relevance",
            reference="H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual "
            "information. IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8).",
            goal="ranking",
            parameters={"rule": "mrmr"},
        ),
        Selector(
            "jmi",
            "InformationFilter",
            title="joint mutual information",
            reference="H. H. Yang, J. Moody (1999). Data visualization and feature selection. NIPS "
            "12.",
            goal="ranking",
            parameters={"rule": "jmi"},
        ),
        Selector(
            "cmim",
            "InformationFilter",
            title="conditional mutual information maximization",
            reference="F. Fleuret (2004). Fast binary feature selection with conditional mutual "
            "information. Journal of Machine Learning Research 5.",
            goal="ranking",
            parameters={"rule": "cmim"},
        ),
        Selector(
            "fcbf",
            "InformationFilter",
            title="fast correlation-based filter",
            reference="L. Yu, H. Liu (2003). Feature selection for high-dimensional data: a fast "
            "correlation-based filter solution. ICML.",
            goal="minimal",
            parameters={"rule": "fcbf"},
        ),
        Selector(
            "relieff",
            "ReliefF",
            title="ReliefF",
            reference="I. Kononenko (1994). Estimating attributes: analysis and extensions of "
            "RELIEF. ECML. Computed by skrebate.",
            goal="ranking",
            extra="baselines",
        ),
        Selector(
            "lasso",
            "LassoSelector",
            title="Lasso",
            reference="R. Tibshirani (1996). Regression shrinkage and selection via the lasso. "
            "Journal of the Royal Statistical Society B 58. Computed by scikit-learn.",
            goal="minimal",
        ),
        Selector(
            "ridge",
            "RidgeSelector",
            title="ridge regression",
            reference="A. E. Hoerl, R. W. Kennard (1970). Ridge regression: biased estimation for "
            "nonorthogonal problems. Technometrics 12. Computed by scikit-learn.",
            goal="ranking",
        ),
        Selector(
            "stability_selection",
            "StabilitySelection",
            title="stability selection with artificial features",
            reference="J. Hédou, I. Marić, G. Bellan et al. (2024). Discovery of sparse, reliable "
            "omic biomarkers with Stabl. Nature Biotechnology 42.",
        ),
    ),
)
"""Selectors that ``duramen select`` can run; ``register`` adds one."""
