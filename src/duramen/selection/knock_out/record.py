"""Record of the knock-out strategy."""

from __future__ import annotations

from duramen.selection.records import Selector

KNOCK_OUT = Selector(
    "knock_out",
    "duramen.selection.knock_out.selector:KnockOut",
    title="knock-out strategy",
    words=(
        "In each round a forest grows on the features that are left, and the same on permuted "
        "targets. Features whose importance is larger than the largest one of nearly all "
        "permutations are found and left out of the next round, where features that they had "
        "masked can be found.",
        "If the target is independent of all features, the probability that any is found is at "
        "most the level. A feature that is correlated with a relevant one is associated with the "
        "target, and is found once that one is left out, whether or not it adds anything.",
    ),
    reference="M. Ganz, D. N. Greve, B. Fischl, E. Konukoglu (2015). Relevant feature set "
    "estimation with a knock-out strategy and random forests. NeuroImage 122.",
)
"""Knock-out strategy: features found in rounds, each without those found before."""
