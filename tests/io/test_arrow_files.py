"""Arrow files whose offsets or text are damaged are refused, plain ones are taken."""

import numpy as np
import pyarrow as pa
import pytest

from duramen.io.formats.arrow import validated

PLAIN = b"northsoutheast"


def batch(places, text, kind):
    width = np.int32 if kind == pa.string() else np.int64
    buffers = [None, pa.py_buffer(np.array(places, dtype=width)), pa.py_buffer(text)]
    column = pa.Array.from_buffers(kind, len(places) - 1, buffers)
    return pa.RecordBatch.from_arrays([column, pa.array(range(len(places) - 1))], ["a", "b"])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("places", "text"),
    [([0, 5, 10, 14], PLAIN), ([0, 0, 0, 0], b""), ([0, 3, 3, 5], "aéé".encode())],
)
def test_whole_text_is_taken(kind, places, text):
    validated(batch(places, text, kind))
    validated(pa.Table.from_batches([batch(places, text, kind)] * 2))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(
    ("places", "text"),
    [
        ([0, 5, 3, 14], PLAIN),  # descending
        ([-1, 5, 10, 14], PLAIN),
        ([0, 5, 10, 99], PLAIN),  # beyond the text
        ([0, 99, 10, 14], PLAIN),
        ([0, 5, 10, 14], b"north\xffoutheast"),  # not UTF-8
        ([0, 1, 2, 3], "é€"[:1].encode() + b"x"),  # cut within a character
    ],
)
def test_damaged_text_is_refused(kind, places, text):
    with pytest.raises(pa.ArrowInvalid):
        validated(batch(places, text, kind))


def test_other_types_are_looked_at_by_arrow():
    codes = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(np.array([0, 7], np.int32))])
    damaged = pa.DictionaryArray.from_arrays(codes, pa.array(["a"]), safe=False)
    with pytest.raises(pa.ArrowInvalid):
        validated(pa.table({"a": damaged}))
