"""Record of backward elimination."""

from __future__ import annotations

from duramen.selection.records import Selector

BACKWARD_ELIMINATION = Selector(
    "backward_elimination",
    "duramen.selection.backward_elimination.selector:BackwardElimination",
    title="backward elimination",
    words=(
        "A forest grows on all features, and further ones on fewer and fewer of them, the most "
        "important ones. The smallest set is selected whose out-of-bag error is within one "
        "standard error of the smallest error. Features that add nothing to those selected are "
        "left out, even where they are associated with the target.",
        "The out-of-bag error of the selected set is too small, as the set was chosen by it; the "
        "nested error repeats the whole selection without the rows that it is computed on.",
    ),
    reference="R. Díaz-Uriarte, S. Alvarez de Andrés (2006). Gene selection and classification of "
    "microarray data using random forest. BMC Bioinformatics 7.",
    goal="minimal",
)
"""varSelRF, and recursive elimination."""
