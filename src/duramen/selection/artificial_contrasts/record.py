"""Record of the artificial contrasts with ensembles."""

from __future__ import annotations

from duramen.selection.records import Selector

ARTIFICIAL_CONTRASTS = Selector(
    "artificial_contrasts",
    "duramen.selection.artificial_contrasts.selector:ArtificialContrasts",
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
"""Features that exceed artificial contrasts, round after round on residuals."""
