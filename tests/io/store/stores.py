"""Comparison of stores with encoded tables, small budgets, PLINK files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from duramen.data import EncodedTable
from duramen.io import ColumnStore


def assert_same(store: ColumnStore, table: EncodedTable) -> None:
    """The store gives what the table has, whichever way it is asked."""
    assert store.shape == table.shape
    assert store.names == table.names
    assert store.kinds == table.kinds
    taken = store.take_columns(np.arange(store.n_columns))
    assert taken.named == table.named
    assert taken.fingerprint() == table.fingerprint()
    assert store.as_table().fingerprint() == table.fingerprint()
    for j in range(0, store.n_columns, max(1, store.n_columns // 7)):
        np.testing.assert_array_equal(store.codes(j), table.codes(j))
        assert store.codes(j).dtype == table.codes(j).dtype
        assert store.values(j).tolist() == table.values(j).tolist()
        assert store.values(j).dtype == table.values(j).dtype
    rng = np.random.default_rng(0)
    some = rng.permutation(store.n_columns)[: max(1, store.n_columns // 2)]
    assert store.take_columns(some).fingerprint() == table.take_columns(some).fingerprint()
    assert list(store.names_of(some)) == [table.names[j] for j in some]
    store.verify()


def small_budget(monkeypatch: pytest.MonkeyPatch, budget: int, chunk: int = 64) -> None:
    """Have packing work with less memory than it lets its users ask for."""
    monkeypatch.setattr("duramen.io.store.packing.memory_bytes", lambda *_: budget)
    monkeypatch.setattr("duramen.io.formats.text._LEAST_CHUNK", chunk)
    monkeypatch.setattr("duramen.io.formats.text._SPOOLED_ROWS", 0)


def write_bed(
    path: Path, genotypes: np.ndarray, *, names: list[str] | None = None, bim: str | None = None
) -> Path:
    """A PLINK file from copies of the first allele, -1 where missing: shape (samples, variants)."""
    n, p = genotypes.shape
    pairs = np.array([1, 3, 2, 0], dtype=np.uint8)[genotypes.T + 1]  # -1, 0, 1, 2 copies
    padded = np.zeros((p, -(-n // 4) * 4), dtype=np.uint8)
    padded[:, :n] = pairs
    quads = padded.reshape(p, -1, 4)
    packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
    path.write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    names = names or [f"rs{j}" for j in range(p)]
    lines = [f"1\t{name}\t0\t{j + 1}\tA\tC\n" for j, name in enumerate(names)]
    path.with_suffix(".bim").write_text("".join(lines) if bim is None else bim)
    fam = [f"F{i} I{i} 0 0 {1 + i % 2} {-9 if i == 0 else i % 3}\n" for i in range(n)]
    path.with_suffix(".fam").write_text("".join(fam))
    return path


def genotypes(n: int, p: int, seed: int = 0) -> np.ndarray:
    """Random genotypes, some of them rare, some missing, some of one value only."""
    rng = np.random.default_rng(seed)
    values = rng.binomial(2, rng.uniform(0, 0.5, p) ** 3, (n, p))
    values[rng.random((n, p)) < rng.choice([0, 0, 0.05], p)] = -1
    if p > 3:
        values[:, 1], values[:, 2], values[:, 3] = -1, 2, 1
    return values


def left_over(folder: Path) -> list[str]:
    """Return the hidden entries of a folder."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("."))
