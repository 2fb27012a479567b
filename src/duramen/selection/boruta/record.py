"""Record of Boruta."""

from __future__ import annotations

from duramen.selection.records import Selector

BORUTA = Selector(
    "boruta",
    "duramen.selection.boruta.selector:Boruta",
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
)
"""Boruta: all features that are more important than permuted copies are."""
