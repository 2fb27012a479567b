"""Simulated gene networks, and files of DREAM4."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duramen as dm


def test_simulated_links_are_as_asked():
    made = dm.datasets.gene_network(30, 50, n_links=80, regulators=0.2, random_state=0)
    assert made.expression.shape == (30, 50)
    assert made.links.sum() == 80
    assert not made.links.diagonal().any()
    assert made.links.any(axis=1).sum() <= 10
    assert not (made.activating & ~made.links).any()
    assert np.isfinite(made.expression).all()
    assert (made.expression >= 0).all()


def test_simulation_depends_on_the_seed_alone():
    first, two = (dm.datasets.gene_network(10, 8, random_state=4) for _ in range(2))
    assert np.array_equal(first.expression, two.expression)
    assert not np.array_equal(first.links, dm.datasets.gene_network(10, 8, random_state=5).links)


def test_linked_genes_are_correlated_and_signs_show():
    made = dm.datasets.gene_network(400, 30, n_links=15, noise=0.01, random_state=1)
    correlations = np.corrcoef(made.expression.T)
    alone = made.links & (made.links.sum(axis=0) == 1)
    signs = np.where(made.activating, 1, -1)[alone]
    assert (np.sign(correlations[alone]) == signs).mean() > 0.9
    unlinked = ~(made.links | made.links.T) & ~np.eye(30, dtype=bool)
    linked = np.abs(correlations[alone]).mean()
    assert linked > 3 * np.median(np.abs(correlations[unlinked]))


def test_without_perturbations_and_noise_all_samples_settle_at_one_level():
    made = dm.datasets.gene_network(3, 40, perturbation=0.0, noise=0.0, random_state=2)
    assert np.ptp(made.expression, axis=0).max() < 1e-9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": 1}, "n_samples must be"),
        ({"n_links": 10_000}, "n_links must be an int in 0..76"),
    ],
)
def test_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        dm.datasets.gene_network(**{"n_samples": 5, "n_genes": 20, "regulators": 0.2, **change})


def dream4_files(folder, form):
    """Write a network of ten genes as the challenge gave it, or as tables."""
    rng = np.random.default_rng(0)
    names = [f"G{k}" for k in range(1, 11)]
    values = rng.random((10, 10)).round(6)
    gold = [(a, b, int(rng.random() < 0.2)) for a in names for b in names if a != b]
    if form == "tables":
        (folder / "net2").mkdir()
        columns = dict(zip(names, values.T, strict=True))
        pq.write_table(pa.table(columns), folder / "net2/expression.parquet")
        parts = dict(zip(("regulator", "target", "edge"), zip(*gold, strict=True), strict=True))
        pq.write_table(pa.table(parts), folder / "net2/gold.parquet")
    else:
        lines = ["\t".join(f'"{name}"' for name in names)]
        lines += ["\t".join(map(str, row)) for row in values]
        (folder / "deep").mkdir()
        (folder / "deep/insilico_size10_2_multifactorial.tsv").write_text("\n".join(lines) + "\n")
        text = "".join(f"{a}\t{b}\t{c}\n" for a, b, c in gold)
        name = "DREAM4_GoldStandard_InSilico_Size10_multifactorial_2.tsv"
        (folder / name).write_text(text)
    return values, {(a, b) for a, b, c in gold if c}


@pytest.mark.parametrize("form", ["tables", "text"])
def test_reads_dream4(tmp_path, form):
    values, gold = dream4_files(tmp_path, form)
    made = dm.datasets.load_dream4(2, tmp_path, size=10)
    assert np.array_equal(made.expression, values)
    links = {(made.names[i], made.names[j]) for i, j in zip(*np.nonzero(made.links), strict=True)}
    assert links == gold
    assert "10 samples x 10 genes" in repr(made)


def test_names_the_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="insilico_size100_3_multifactorial"):
        dm.datasets.load_dream4(3, tmp_path)
    with pytest.raises(ValueError, match="i must be"):
        dm.datasets.load_dream4(6, tmp_path)
    with pytest.raises(ValueError, match="size must be 10 or 100"):
        dm.datasets.load_dream4(1, tmp_path, size=7)
