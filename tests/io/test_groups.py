"""Groups of features, from every form that `feature_groups` takes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.io.store.stores import genotypes, write_bed

import duramen as dm
from duramen.io import open_store
from duramen.io.groups import Positions
from duramen.io.store.column_store import with_columns

NAMES = ("a", "b", "c", "d", "e")
GROUPS = {"g": ("a", "c"), "h": ("b", "e")}


def files(folder):
    """Return paths of the groups as gene sets, with genes of no table, and as a table."""
    gmt, table = folder / "sets.gmt", folder / "groups.csv"
    gmt.write_text("g\t-\ta\tZ\tc\nnone\t-\tY\nh\t-\tb\te\n")
    table.write_text("feature,group\na,g\nb,h\nc,g\nd,\ne,h\n")
    return gmt, table


def clusters():
    labels, correlations = np.array([0, 1, 0, -1, 1]), np.array([1.0, 1.0, 0.9, np.nan, 0.8])
    return dm.importances.Clusters(NAMES, labels, np.array([0, 1]), correlations)


def test_every_form_has_the_same_groups(tmp_path):
    gmt, table = files(tmp_path)
    labels = ["g", "h", "g", None, "h"]
    for source in (
        GROUPS,
        {"g": [0, "c"], "h": ["b", 4]},
        labels,
        np.array(labels, dtype=object),
        pd.Series(labels),
        gmt,
        str(gmt),
        table,
        pa.table({"feature": NAMES, "group": labels}),
    ):
        assert dm.io.feature_groups(source, NAMES) == GROUPS
    by_cluster = {"cluster of a": GROUPS["g"], "cluster of b": GROUPS["h"]}
    assert dm.io.feature_groups(clusters(), NAMES) == by_cluster
    assert dm.io.feature_groups(gmt) == {"g": ("a", "Z", "c"), "none": ("Y",), "h": ("b", "e")}


def test_blocks_are_no_wider_than_the_distance():
    random = np.random.default_rng(0)
    names = [f"rs{j}" for j in range(300)]
    position = random.integers(0, 10_000, 300)  # some have no place
    position[:5] = 0
    chromosome = random.choice(["1", "2", "X", "0"], 300)
    variants = pa.table({"name": names, "chromosome": chromosome, "position": position})
    blocks = dm.io.feature_groups(variants, distance=400)
    place = dict(zip(names, zip(chromosome, position, strict=True), strict=True))
    members = [name for block in blocks.values() for name in block]
    placed = {name for name in names if place[name][0] != "0" and place[name][1] > 0}
    assert len(members) == len(set(members))
    assert set(members) == placed
    first = {}
    for name, block in blocks.items():
        (own,) = {place[variant][0] for variant in block}
        places = [place[variant][1] for variant in block]
        assert max(places) - min(places) <= 400
        assert places == sorted(places)
        assert name == (f"{own}:{places[0]}-{places[-1]}" if len(block) > 1 else block[0])
        first.setdefault(own, []).append((min(places), max(places)))
    for spans in first.values():  # a block ends only where the next variant is too far
        assert all(later[0] - earlier[0] > 400 for earlier, later in pairwise(spans))
    positions = Positions.of(variants, names, "test")
    assert dm.io.feature_groups(positions, names, distance=400) == blocks
    assert dm.io.feature_groups(variants, ["age", *names], distance=400) == blocks
    frame = variants.to_pandas().drop(columns="name")
    assert dm.io.feature_groups(frame, names, distance=400) == blocks


def test_blocks_of_a_store(tmp_path):
    store = open_store(write_bed(tmp_path / "x.bed", genotypes(20, 6)))  # at 1, 2, ... on one
    blocks = dm.io.feature_groups(store, distance=2)
    assert list(blocks.values()) == [("rs0", "rs1", "rs2"), ("rs3", "rs4", "rs5")]
    wide = with_columns(store, dm.encode(pa.table({"age": np.arange(20.0)})))
    assert dm.io.feature_groups(wide, wide.names, distance=2) == blocks
    with pytest.raises(ValueError, match="without positions of its columns"):
        dm.io.feature_groups(dm.pack(np.eye(3), tmp_path / "store"), NAMES)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({}, ValueError, "must hold at least one group, got none"),
        ({"g": ["z"]}, ValueError, "holds 'z', which is none of the 5 features"),
        ("clusters", ValueError, "only where clusters are computed too"),
        ("absent.gmt", ValueError, "there is no file absent.gmt"),
        (["g"], ValueError, "must be one label per feature"),
        (pa.table({"a": [1]}), ValueError, "must have two columns"),
        (pa.table({"f": ["a", "a"], "g": ["x", "y"]}), ValueError, "'a' occurs twice"),
        (
            pa.table({"name": ["rs1"], "chromosome": ["1"], "position": [5]}),
            ValueError,
            "it names 1 feature, none of which is a column",
        ),
    ],
)
def test_refused(source, error, message):
    with pytest.raises(TypeError, match="names of features where names is None"):
        dm.io.feature_groups(["g", "h"])
    with pytest.raises(error, match=message):
        dm.io.feature_groups(source, NAMES)


# --- gene sets ------------------------------------------------------------------------------------


def test_sets_are_read(tmp_path):
    file = tmp_path / "sets.gmt"
    file.write_text("first\thttp://a\tA\tB\tA\n\nsecond\t\tC\t\n", encoding="utf-8")
    assert dm.io.read_gmt(file) == {"first": ("A", "B"), "second": ("C",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("first\tno genes\n", "line 1 of s.gmt must have a name, a description and genes"),
        ("a\t\tA\na\t\tB\n", "has the set 'a' twice"),
        ("\n", "must have a gene set, got none"),
        ("a\t\tA\nb\t\tB\udcff\n", r"must be UTF-8 text, got byte 0xff .*line 2"),
    ],
)
def test_files_that_are_none_are_refused(text, message, tmp_path):
    (tmp_path / "s.gmt").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message):
        dm.io.read_gmt(tmp_path / "s.gmt")
