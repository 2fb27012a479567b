"""Names of rows mangled as programs do: each row finds its own annotations, or nothing is paired.

Where the same names are in another order, pairing by position would be wrong in most rows: the age
of each person is known, and a result that has another one, or none without saying so, fails.
"""

import unicodedata

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.io.store.stores import genotypes, write_bed

import duramen as dm
from duramen.io.store.row_ids import folded

N = 40
SCHEMES = (
    lambda i: f"P{i}",
    lambda i: f"Pat-{i:03d}_a",
    lambda i: f"{i}",
    lambda i: f"{i:04d}",
    lambda i: f"GSM{7000 + i}",
    lambda i: f"TCGA-0{i % 7}-{i:04d}",
    lambda i: f"{i}é b",
)
CHANGES = (
    str.upper,
    str.lower,
    str.title,
    lambda name: name.replace("-", "."),
    lambda name: name.replace("_", " "),
    lambda name: f"{name} ",
    lambda name: f" {name}",
    lambda name: name.replace("-", "\u2011"),
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: f"X{name}" if name[0].isdigit() else name,
    lambda name: name.lstrip("0") or "0",
    lambda name: f"00{name}",
    lambda name: f"{name}.0",
    lambda name: name[:-1],
    lambda name: f"{name}1",
    lambda name: f"sample {name}",
)


def mangled(rng, names):
    """Return names of which some or all were changed in one or two ways."""
    changed = list(names)
    for change in rng.choice(len(CHANGES), size=rng.integers(0, 3), replace=False):
        part = rng.choice([1.0, 1.0, 0.5, 0.1])
        changed = [CHANGES[change](n) if rng.random() < part else n for n in changed]
    return changed


def people(rng, names):
    """Return annotations in another order, with further columns that could mislead."""
    title = rng.choice(["IID", "person", "sample", "patient_id"])
    frame = pd.DataFrame({"age": np.arange(len(names)) + 20, title: mangled(rng, names)})
    frame["site"] = rng.choice(["north", "south"], len(frame))
    # Beside names that are lost, a column that holds the same names could be the right one.
    if rng.random() < 0.2 and list(map(folded, frame[title])) == list(map(folded, names)):
        frame["partner"] = rng.permutation(names)
    if rng.random() < 0.3:
        frame = frame.drop(index=rng.choice(len(frame), rng.integers(1, len(frame)), replace=False))
    if rng.random() < 0.2:
        frame = pd.concat([frame, frame.iloc[: rng.integers(1, 5)]])
    frame = frame.iloc[rng.permutation(len(frame))]
    if rng.random() < 0.5:
        frame["row"] = range(1, len(frame) + 1)
    if rng.random() < 0.3 and all(name.strip().isdecimal() for name in frame[title]):
        frame[title] = frame[title].astype(rng.choice(["int64", "float64"]))
    return frame


def paired_ages(kind, folder, names, frame, match):
    """Return the ages that a table finds, or the error."""
    if kind == "table":
        values = {"sample": names, "x": np.linspace(0, 1, N), "nr": np.arange(1, N + 1)}
        frame.to_parquet(folder / "people.parquet", index=False)
        annotated = {"samples": folder / "people.parquet", "samples_match": match}
        own = {"samples_features": ["age"], "keep_identifiers": True}
        data = dm.read(pa.table(values), "x", **annotated, **own)
        ages = data.table.column_values(data.table.names.index("age"))
        return pa.array(ages, from_pandas=True)
    lines = [f"F {name.replace(' ', '_')} 0 0 1 -9\n" for name in names]
    (folder / "a.fam").write_text("".join(lines), encoding="utf-8")
    return dm.open_store(folder / "a.bed", frame, samples_match=match).samples["age"]


@pytest.mark.parametrize("kind", ["table", "bed"])
@pytest.mark.parametrize("match", ["exact", "fold"])
def test_each_row_finds_its_own_annotations_or_nothing_is_paired(kind, match, tmp_path):
    write_bed(tmp_path / "a.bed", genotypes(N, 2))
    outcomes = {"paired": 0, "refused": 0}
    for seed in range(50 if kind == "table" else 25):
        rng = np.random.default_rng(seed)
        scheme = SCHEMES[rng.integers(len(SCHEMES))]
        numbers = rng.choice(500, N, replace=False)
        names = [scheme(i) for i in numbers.tolist()]
        frame = people(rng, names)
        try:
            ages = paired_ages(kind, tmp_path, names, frame, match).to_pylist()
        except ValueError:
            outcomes["refused"] += 1
            continue
        outcomes["paired"] += 1
        wrong = [i for i, age in enumerate(ages) if age not in (None, 20 + i)]
        assert not wrong, (seed, names[:3], frame.head(3))
        assert sum(age is None for age in ages) <= N / 2
    assert min(outcomes.values()) > 5, outcomes
