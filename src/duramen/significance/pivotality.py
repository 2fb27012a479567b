"""Choices with which irrelevant features have larger statistics beside relevant ones."""

from __future__ import annotations

from duramen.significance.measured import Measured

_MANY_CLASSES = 6
_MDA = (
    "by MDA, irrelevant features that are correlated with each other are confirmed more often than "
    "the level says beside relevant features: their MDA is above 0 there, and not under permuted "
    'labels. Hint: measure="auto".'
)
_GINI = (
    "with Gini importances of {classes} classes, irrelevant features are confirmed more often than "
    "the level says beside relevant ones: deep nodes hold few classes, and many under permuted "
    'labels. Hint: measure="auto", or criterion="entropy" in the forest.'
)


def pivotality_notes(subject: Measured) -> tuple[str, ...]:
    """Return which choices break the error rates of tests that compare features by permuted labels.

    These rates hold beside relevant features if the statistics of the others are no smaller under
    permuted labels (subset pivotality).
    """
    measure, criterion = subject.identifier, subject.template.get_params().get("criterion")
    if measure in ("mda", "holdout_mda"):
        return (_MDA,)
    by_impurity = measure in ("mdi", "mdi_oob") and criterion == "gini"
    if by_impurity and subject.data.target.n_classes >= _MANY_CLASSES:
        return (_GINI.format(classes=subject.data.target.n_classes),)
    return ()
