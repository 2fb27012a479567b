"""Record of VSURF."""

from __future__ import annotations

from duramen.selection.records import Selector

VSURF_SELECTOR = Selector(
    "vsurf",
    "duramen.selection.vsurf.selector:VSURF",
    title="VSURF",
    words=(
        "Features whose importance is below the noise of importances are left out (thresholding). "
        "Of nested models of the others, the smallest one whose out-of-bag error is close to the "
        "best has the features for interpretation. Of these, a feature is kept for prediction if "
        "the error decreases by more than it varies when noise is added.",
    ),
    reference="R. Genuer, J.-M. Poggi, C. Tuleau-Malot (2010). Variable selection using random "
    "forests. Pattern Recognition Letters 31.",
    goal="minimal",
)
"""Variable selection using random forests, in three steps."""
