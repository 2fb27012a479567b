"""Text that spreadsheets would evaluate as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# What a formula begins with, also in full width, after whitespace and invisible characters.
_SIGN = "[=+\\-@＝＋－＠]"
_BLANK = r"[\p{Z}\p{C}]*"
_BEGIN = rf"^(?:[\t\r\n]|{_BLANK}{_SIGN})"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"
# Spreadsheets that separate cells by another sign end a cell at it, even between quotes.
_INSIDE = rf"([;,|\t\r\n\"]{_BLANK})({_SIGN})"


def without_formulas(table: pa.Table) -> pa.Table:
    """Return a table whose text no spreadsheet evaluates; categories become strings.

    An apostrophe is put before text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line
    break and is no number, and before such a sign that follows a separator of cells inside the
    text. Names of columns are treated as text is; numbers stay as they are.
    """
    import pyarrow as pa
    import pyarrow.types as types

    columns = []
    for column in table.columns:
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        is_text = types.is_string(kind) or types.is_large_string(kind)
        columns.append(_guarded(column.cast(pa.large_string())) if is_text else column)
    names = _guarded(pa.chunked_array([pa.array(table.column_names, pa.large_string())]))
    return pa.table(columns, names=names.to_pylist())


def _guarded(text: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    inside = pc.replace_substring_regex(text, _INSIDE, r"\1'\2")
    formula = pc.and_(
        pc.match_substring_regex(text, _BEGIN),
        pc.invert(pc.match_substring_regex(text, _NUMBER)),
    )
    mark, nothing = (pa.scalar(text, pa.large_string()) for text in ("'", ""))
    return pc.if_else(formula, pc.binary_join_element_wise(mark, inside, nothing), inside)
