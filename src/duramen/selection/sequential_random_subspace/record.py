"""Record of the sequential random subspace."""

from __future__ import annotations

from duramen.selection.records import Selector

SEQUENTIAL_RANDOM_SUBSPACE = Selector(
    "sequential_random_subspace",
    "duramen.selection.sequential_random_subspace.selector:SequentialRandomSubspace",
    title="selection in random subspaces",
    reference="A. Sutera, C. Châtel, G. Louppe, L. Wehenkel, P. Geurts (2018). Random subspace "
    "with trees for feature selection under memory constraints. AISTATS 21.",
)
