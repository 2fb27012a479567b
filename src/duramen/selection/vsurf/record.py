"""Record of VSURF."""

from __future__ import annotations

from duramen.selection.records import Selector

VSURF_SELECTOR = Selector(
    "vsurf",
    "duramen.selection.vsurf.selector:VSURF",
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
"""Variable selection using random forests, in three steps."""
