"""Records of the filters."""

from __future__ import annotations

from duramen.selection.records import Selector

_INFORMATION = "duramen.selection.filters.information:InformationFilter"
_ORDER = (
    "The features that rank first are selected; their number is given by the user, not estimated."
)

MRMR = Selector(
    "mrmr",
    _INFORMATION,
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
"""Information with the target less that with other features."""

JMI = Selector(
    "jmi",
    _INFORMATION,
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
"""Information of pairs of features with the target."""

CMIM = Selector(
    "cmim",
    _INFORMATION,
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
"""Least conditional information with the target."""

FCBF = Selector(
    "fcbf",
    _INFORMATION,
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
"""Features that no other one is a better proxy of."""

RELIEFF = Selector(
    "relieff",
    "duramen.selection.filters.relief:ReliefF",
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
"""Differences between near rows."""

LASSO = Selector(
    "lasso",
    "duramen.selection.filters.lasso:LassoSelector",
    title="Lasso",
    words=(
        "Features with a coefficient other than 0 in a linear model whose absolute coefficients "
        "are penalized, at the penalty with the smallest error in cross-validation.",
    ),
    reference="R. Tibshirani (1996). Regression shrinkage and selection via the lasso. Journal of "
    "the Royal Statistical Society B 58. Computed by scikit-learn.",
    goal="minimal",
)
"""Linear model with a penalty of absolute coefficients."""
