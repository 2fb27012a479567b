"""Record of the knock-out strategy."""

from __future__ import annotations

from duramen.selection.records import Selector

KNOCK_OUT = Selector(
    "knock_out",
    "duramen.selection.knock_out.selector:KnockOut",
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
)
"""Knock-out strategy: features found in rounds, each without those found before."""
