"""Selectors: which features to keep."""

from duramen.catalogue import Catalogue
from duramen.results.summary import Column
from duramen.selection.boruta import Boruta
from duramen.selection.filters import (
    ClusterRepresentatives,
    InformationFilter,
    MarkovBoundary,
    ReliefF,
)
from duramen.selection.known_truth import SelectionScores, scores
from duramen.selection.linear_models import LassoSelector, RidgeSelector
from duramen.selection.nested_sets import VSURF, BackwardElimination
from duramen.selection.random_subspace import SequentialRandomSubspace
from duramen.selection.regularized_forest import RegularizedForestSelector
from duramen.selection.rounds import ArtificialContrasts, KnockOut
from duramen.selection.selector import BaseSelector, SelectionSummary, Selector
from duramen.selection.sequential_selection import SequentialSelection
from duramen.selection.stability_selection import StabilitySelection

__all__ = [
    "VSURF",
    "ArtificialContrasts",
    "BackwardElimination",
    "BaseSelector",
    "Boruta",
    "ClusterRepresentatives",
    "Column",
    "InformationFilter",
    "KnockOut",
    "LassoSelector",
    "MarkovBoundary",
    "RegularizedForestSelector",
    "ReliefF",
    "RidgeSelector",
    "SelectionScores",
    "SelectionSummary",
    "Selector",
    "SequentialRandomSubspace",
    "SequentialSelection",
    "StabilitySelection",
    "catalogue",
    "scores",
]

catalogue = Catalogue(
    "selector",
    (
        Selector(
            "sequential_random_subspace",
            SequentialRandomSubspace,
            title="selection in random subspaces",
            reference="A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random "
            "subspace with trees for feature selection under memory constraints. AISTATS 21.",
        ),
        Selector(
            "boruta",
            Boruta,
            title="Boruta",
            reference="M. B. Kursa, W. R. Rudnicki (2010). Feature selection with the Boruta "
            "package. Journal of Statistical Software 36(11).",
        ),
        Selector(
            "knock_out",
            KnockOut,
            title="knock-out strategy",
            reference="M. Ganz, D. N. Greve, B. Fischl, E. Konukoglu (2015). Relevant feature set "
            "estimation with a knock-out strategy and random forests. NeuroImage 122.",
        ),
        Selector(
            "artificial_contrasts",
            ArtificialContrasts,
            title="artificial contrasts with ensembles",
            reference="E. Tuv, A. Borisov, G. Runger, K. Torkkola (2009). Feature selection with "
            "ensembles, artificial variables, and redundancy elimination. Journal of Machine "
            "Learning Research 10.",
        ),
        Selector(
            "backward_elimination",
            BackwardElimination,
            title="backward elimination",
            goal="minimal",
            reference="R. Díaz-Uriarte, S. Alvarez de Andrés (2006). Gene selection and "
            "classification of microarray data using random forest. BMC Bioinformatics 7.",
        ),
        Selector(
            "vsurf",
            VSURF,
            title="VSURF",
            goal="minimal",
            reference="R. Genuer, J.-M. Poggi, C. Tuleau-Malot (2010). Variable selection using "
            "random forests. Pattern Recognition Letters 31.",
        ),
        Selector(
            "regularized_forest",
            RegularizedForestSelector,
            title="regularized random forest",
            goal="minimal",
            reference="H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN.",
        ),
        Selector(
            "guided_regularized_forest",
            RegularizedForestSelector,
            title="guided regularized random forest",
            goal="minimal",
            reference="H. Deng, G. Runger (2013). Gene selection with guided regularized random "
            "forest. Pattern Recognition 46(12).",
            parameters={"guidance": 0.5},
        ),
        Selector(
            "forward_selection",
            SequentialSelection,
            title="sequential forward selection",
            goal="minimal",
            reference="A. W. Whitney (1971). A direct method of nonparametric measurement "
            "selection. IEEE Transactions on Computers 20.",
        ),
        Selector(
            "backward_selection",
            SequentialSelection,
            title="sequential backward selection",
            goal="minimal",
            reference="T. Marill, D. M. Green (1963). On the effectiveness of receptors in "
            "recognition systems. IEEE Transactions on Information Theory 9.",
            parameters={"direction": "backward"},
        ),
        Selector(
            "floating_selection",
            SequentialSelection,
            title="sequential floating selection",
            goal="minimal",
            reference="P. Pudil, J. Novovičová, J. Kittler (1994). Floating search methods in "
            "feature selection. Pattern Recognition Letters 15(11).",
            parameters={"floating": True},
        ),
        Selector(
            "adaptive_floating_selection",
            SequentialSelection,
            title="adaptive sequential floating selection",
            goal="minimal",
            reference="P. Somol, P. Pudil, J. Novovičová, P. Paclík (1999). Adaptive floating "
            "search methods in feature selection. Pattern Recognition Letters 20.",
            parameters={"floating": "adaptive"},
        ),
        Selector(
            "exhaustive_selection",
            SequentialSelection,
            title="exhaustive selection",
            goal="minimal",
            reference="R. Kohavi, G. H. John (1997). Wrappers for feature subset selection. "
            "Artificial Intelligence 97.",
            parameters={"direction": "exhaustive"},
        ),
        Selector(
            "markov_boundary",
            MarkovBoundary,
            title="smallest Markov boundary",
            goal="minimal",
            reference="H. Almuallim, T. G. Dietterich (1994). Learning boolean concepts in the "
            "presence of many irrelevant features. Artificial Intelligence 69.",
            tasks=("classification",),
        ),
        Selector(
            "mrmr",
            InformationFilter,
            title="minimum redundancy, maximum relevance",
            goal="ranking",
            reference="H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual "
            "information. IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8).",
            parameters={"rule": "mrmr"},
        ),
        Selector(
            "jmi",
            InformationFilter,
            title="joint mutual information",
            goal="ranking",
            reference="H. H. Yang, J. Moody (1999). Data visualization and feature selection. NIPS "
            "12.",
            parameters={"rule": "jmi"},
        ),
        Selector(
            "cmim",
            InformationFilter,
            title="conditional mutual information maximization",
            goal="ranking",
            reference="F. Fleuret (2004). Fast binary feature selection with conditional mutual "
            "information. Journal of Machine Learning Research 5.",
            parameters={"rule": "cmim"},
        ),
        Selector(
            "fcbf",
            InformationFilter,
            title="fast correlation-based filter",
            goal="minimal",
            reference="L. Yu, H. Liu (2003). Feature selection for high-dimensional data: a fast "
            "correlation-based filter solution. ICML.",
            parameters={"rule": "fcbf"},
        ),
        Selector(
            "markov_blanket_filter",
            InformationFilter,
            title="Markov blanket filter",
            goal="minimal",
            reference="D. Koller, M. Sahami (1996). Toward optimal feature selection. ICML.",
            parameters={"rule": "mbf"},
        ),
        Selector(
            "relieff",
            ReliefF,
            title="ReliefF",
            goal="ranking",
            reference="I. Kononenko (1994). Estimating attributes: analysis and extensions of "
            "RELIEF. ECML. Computed by skrebate.",
            extra="baselines",
        ),
        Selector(
            "lasso",
            LassoSelector,
            title="Lasso",
            goal="minimal",
            reference="R. Tibshirani (1996). Regression shrinkage and selection via the lasso. "
            "Journal of the Royal Statistical Society B 58. Computed by scikit-learn.",
        ),
        Selector(
            "ridge",
            RidgeSelector,
            title="ridge regression",
            goal="ranking",
            reference="A. E. Hoerl, R. W. Kennard (1970). Ridge regression: biased estimation for "
            "nonorthogonal problems. Technometrics 12. Computed by scikit-learn.",
        ),
        Selector(
            "stability_selection",
            StabilitySelection,
            title="stability selection with artificial features",
            reference="J. Hédou, I. Marić, G. Bellan et al. (2024). Discovery of sparse, reliable "
            "omic biomarkers with Stabl. Nature Biotechnology 42.",
        ),
    ),
)
"""Selectors that ``duramen select`` can run; ``register`` adds one."""
