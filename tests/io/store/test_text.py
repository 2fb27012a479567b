"""Text that is cut into tiles is read as Arrow reads the whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from tests.grid import one_test
from tests.io.store.stores import assert_same, left_over, small_budget

import duramen
from duramen import pack
from duramen.data import encode
from duramen.io import read_table
from duramen.io.formats import text as text_format

KINDS = [
    ["1", "-2", "0", " 7", ""],
    ["1.5", "2", "NA", "1e3", "-0.0", "nan"],
    ["", "NA", "NaN"],
    ["true", "false", "0", "1"],
    ["a", '"b,c"', '"d""e"', "1", '"two\nlines"', '"NA"', 'x"y"', '""', '"\r\n"', "é", ""],
    ["2020-01-01", "2021-02-03"],
    ['"1"', '"2.5"', '"NA"'],
    ["NAN", "+1", "1.", ".5"],
    ["9007199254740992", "9007199254740993", "123456789012345678901"],
    ["inf", "1.5"],
]


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["b.csv", "b.parquet", "in memory"])
def test_dates_are_days_as_read_says(name, tmp_path):
    frame = pd.DataFrame({"x": range(40), "day": pd.date_range("2020-02-27", periods=40)})
    frame["text"] = frame["day"].dt.strftime("%d.%m.%Y")
    source = frame if name == "in memory" else tmp_path / name
    if name == "b.csv":
        frame.to_csv(source, index=False)
    elif name == "b.parquet":
        frame.to_parquet(source)
    with pytest.warns(UserWarning, match=r"pack: column '(day|text)' has dates.*as_text="):
        store = pack(source, tmp_path / "s")
    table = duramen.read(source).table
    packed = duramen.open_store(tmp_path / "s")
    assert packed.dates == packed.schema.dates == table.dates
    assert packed.dates["text"].label(3.0) == "2020-03-01"
    for j in (1, 2):
        assert store.values(j).tolist() == list(range(40))
    findings = duramen.read(tmp_path / "s", keep_identifiers=True).provenance.findings
    assert [f.columns[0] for f in findings if f.kind == "date"] == ["day", "text"]
    with pytest.warns(UserWarning, match="'day'"):
        pack(source, tmp_path / "s", kinds={"text": "nominal"}, overwrite=True)
    assert duramen.open_store(tmp_path / "s").kinds == ("numeric", "numeric", "nominal")


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
