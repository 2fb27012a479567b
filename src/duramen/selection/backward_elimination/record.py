"""Record of backward elimination."""

from __future__ import annotations

from duramen.selection.records import Selector

BACKWARD_ELIMINATION = Selector(
    "backward_elimination",
    "duramen.selection.backward_elimination.selector:BackwardElimination",
    title="backward elimination",
    words=(
        "A forest is grown on all features, and further forests on fewer and fewer of the most "
        "important ones. The smallest set whose out-of-bag error is within one standard error of "
        "the smallest error is selected. Features that add nothing to those selected are left "
        "out, even where they are associated with the target.",
        "The out-of-bag error of the selected set is too small, because the set was chosen by "
        "it; for the nested error, the whole selection is repeated without the rows on which the "
        "error is computed.",
    ),
    reference="R. Díaz-Uriarte, S. Alvarez de Andrés (2006). Gene selection and classification of "
    "microarray data using random forest. BMC Bioinformatics 7.",
    goal="minimal",
)
"""varSelRF, and recursive elimination."""
