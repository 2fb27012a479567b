"""Text that is cut into tiles is read as Arrow reads the whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.grid import one_test
from tests.io.store.stores import assert_same, left_over, small_budget

from duramen import pack
from duramen.data import encode
from duramen.io import read_table
from duramen.io.formats import text as text_format

CELLS = ["", "1", "-2", "3.5", "NA", '"NA"', "true", "a", '"a,b"', '"q""r"', '"two\nlines"', 'x"y"']
CELLS += ['"a"b', '""', " 1", "2020-01-01", "é", "1e3", "nan", '""""', '"\r\n"', "0"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::duramen.data.StrayValuesWarning")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(st.sampled_from(CELLS), min_size=4, max_size=4), min_size=1, max_size=9),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    last=st.booleans(),
    mark=st.booleans(),
)
@example(rows=[["1", "", "a", ""], ["", "", "", ""]], end="\n", last=False, mark=True)
def test_what_is_spooled_is_read_as_the_whole(tmp_path_factory, rows, end, last, mark):
    folder = tmp_path_factory.mktemp("text")
    # Arrow takes an empty last field for quoted, where the one before is and no line end follows.
    last = last or not rows[-1][-1]
    text = end.join(",".join(row) for row in [["p", '"q,r"', "s", "t"], *rows])
    path = folder / "a.csv"
    path.write_bytes((("\ufeff" if mark else "") + text + (end if last else "")).encode())
    expected = error = None
    try:
        expected = encode(read_table(path))
    except (ValueError, TypeError) as refused:
        error = type(refused)
    for budget, cut in ((1, 0), (3000, 0), (10**9, 0), (3000, 1000)):
        with pytest.MonkeyPatch.context() as patch:
            small_budget(patch, budget, chunk=8)
            patch.setattr(text_format, "_COLUMN_BYTES", cut)
            if error is not None:
                with pytest.raises(error):
                    pack(path, folder / f"s{budget}.{cut}")
            else:
                assert_same(pack(path, folder / f"s{budget}.{cut}"), expected)
    assert left_over(folder) == []


KINDS = [
    ["1", "-2", "0", " 7", ""],
    ["1.5", "2", "NA", "1e3", "-0.0", "nan"],
    ["", "NA", "NaN"],
    ["true", "false", "0", "1"],
    ["a", '"b,c"', '"d""e"', "1", '"two\nlines"', ""],
    ["2020-01-01", "2021-02-03"],
    ['"1"', '"2.5"', '"NA"'],
    ["NAN", "+1", "1.", ".5"],
    ["9007199254740992", "9007199254740993", "123456789012345678901"],
    ["inf", "1.5"],
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("sign", [",", "\t"])
def test_tiles_and_blocks_do_not_matter(tmp_path, monkeypatch, sign):
    monkeypatch.setattr("os.fsync", lambda _: None)
    rng = np.random.default_rng(0)
    path = tmp_path / ("a.csv" if sign == "," else "a.tsv")

    def packed(**options: object) -> object:
        store = pack(path, tmp_path / "s", overwrite=True, **options)
        return store.as_table().fingerprint(), [store.values(j) for j in range(store.n_columns)]

    for number in range(20):
        kinds = KINDS[:3] * 3 + KINDS[: 3 if number % 2 else None]
        chosen = [kinds[k] for k in rng.integers(len(kinds), size=rng.integers(3, 7))]
        quoted = number % 3 == 0  # lines with quotes are not cut
        names = [f'"n{sign}{j}"' if quoted and j % 3 == 0 else f"n{j}" for j in range(len(chosen))]
        rows = [[str(rng.choice(kind)) for kind in chosen] for _ in range(rng.integers(1, 6))]
        lines = [names, *([cell.replace(",", sign) for cell in row] for row in rows)]
        path.write_text("".join(f"{sign.join(line)}\n" for line in lines))
        for options in ({}, {"kinds": "nominal"}, {"transpose": True}):
            outcomes = []
            for budget, chunk, cut in ((10**9, 1 << 16, 0), (3000, 8, 0), (1, 8, 0), (1, 8, 1)):
                small_budget(monkeypatch, budget, chunk)
                monkeypatch.setattr(text_format, "_COLUMN_BYTES", cut)
                outcomes.append(outcome(lambda options=options: packed(**options)))
            np.testing.assert_equal(outcomes[1:], outcomes[:1] * 3)
    assert left_over(tmp_path) == []


def outcome(read: Callable[[], object]) -> object:
    """Return a result, or the kind of the error."""
    try:
        return read()
    except (ValueError, TypeError) as error:
        return type(error), str(error)


def test_types_are_inferred_over_the_whole_column(tmp_path, monkeypatch):
    small_budget(monkeypatch, 30_000, chunk=1000)
    lines = ["x,y,z", *(["1,0,2"] * 2000), "1.5,true,3", "1,1,a"]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    store = pack(tmp_path / "a.csv", tmp_path / "s")
    assert_same(store, encode(read_table(tmp_path / "a.csv")))
    assert store.kinds == ("numeric", "numeric", "nominal")


@one_test
@pytest.mark.parametrize(("budget", "cut"), [(1, 0), (10**9, 0), (1, 1)])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n", "has column names but no rows"),
        ("\n\n", "is empty"),
        ("x,y,x\n1,2,3\n", "has more than one column named 'x'; .*Hint: rename"),
        ('x,y\n"1\n1",2\n3,4,5\n', "has 3 fields in line 4, but its header has 2"),
        (b"x,y\na,b\nc,d\xe9\n", "byte 0xe9 at offset 11 .line 3.*--encoding latin-1"),
        ("u,v\n1,2\n3,inf\n", "column 'v' contains infinity"),
        ("u,v\n1,2\n3,9007199254740993\n", r"column 'v' holds integers beyond 2\*\*53"),
    ],
)
def test_bad_text(tmp_path, monkeypatch, content, message, budget, cut):
    small_budget(monkeypatch, budget)
    monkeypatch.setattr(text_format, "_COLUMN_BYTES", cut)
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=r"(?s)pack: .*" + message):
        pack(path, tmp_path / "s")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.csv"]


def test_dates_are_refused(tmp_path):
    (tmp_path / "b.csv").write_text("x,day\n1,2020-01-01\n")
    with pytest.raises(TypeError, match="pack: column 'day' is of type Date"):
        pack(tmp_path / "b.csv", tmp_path / "s")


def test_bad_transposed_text(tmp_path):
    path = tmp_path / "a.csv"
    for text, message in [
        ("g,s1\n", "but no rows"),
        ("g,s1,s2\na,1,2\nb,1\n", "has 2 fields in line 3"),
        ("g,s1,s2,s3\na,1,2\n", "fields"),
        ("g\na\n", "has one field in each line"),
        ("g,s1\na,1\na,2\n", "has more than one column named 'a'"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            pack(path, tmp_path / "s", transpose=True)
    assert left_over(tmp_path) == []
