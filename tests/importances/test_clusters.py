"""Clusters around the most important features, and blocks of linkage disequilibrium."""

import numpy as np
import pytest
from tests.grid import one_test
from tests.io.store.stores import write_bed

import duramen as dm
from duramen.importances import clustering as module

UNIT = ("mdi", "1")


def scores(values, names=None):
    names = names or tuple(f"x{j}" for j in range(len(values)))
    return dm.Importances(tuple(names), np.asarray(values, float), *UNIT)


def blocks(random, sizes, n=120, rate=0.03):
    """Genotypes in blocks: all variants of a block are one pair of haplotypes, with few errors."""
    columns = []
    for size in sizes:
        haplotypes = random.random((2, n)) < random.uniform(0.3, 0.5)
        for _ in range(size):
            flipped = haplotypes ^ (random.random((2, n)) < rate)
            columns.append(flipped.sum(axis=0))
    return np.column_stack(columns)


def clumped(r, order, threshold, near):
    """Sequential clumping, as it is described: the oracle."""
    left, label, result = list(order), np.full(len(order), -1), 0
    while left:
        first = left.pop(0)
        label[first] = result
        for j in list(left):
            if near[first, j] and abs(r[first, j]) >= threshold:
                label[j] = result
                left.remove(j)
        result += 1
    return label


@one_test
@pytest.mark.parametrize("block", [1, 3, 7, 512])
def test_they_are_those_of_sequential_clumping(monkeypatch, block):
    monkeypatch.setattr(module, "BLOCK", block)
    for seed in range(6):
        random = np.random.default_rng(seed)
        X = random.normal(size=(40, 4))[:, random.integers(0, 4, 30)]
        X += 0.7 * random.normal(size=X.shape)
        values = random.permutation(30) + 1.0
        place = {"chromosome": np.repeat(["1", "2"], 15), "position": np.tile(np.arange(15) + 1, 2)}
        apart = np.abs(np.subtract.outer(place["position"], place["position"]))
        same = np.equal.outer(place["chromosome"], place["chromosome"])
        r = np.corrcoef(X, rowvar=False)
        for positions, near in ((None, r == r), (place, same & (apart <= 4))):
            result = dm.importances.clusters(
                scores(values), X, threshold=0.5, correlation="pearson",
                positions=positions, distance=4,
            )  # fmt: skip
            assert result.labels.tolist() == clumped(r, np.argsort(-values), 0.5, near).tolist()
            own = r[np.arange(30), result.representatives[result.labels]]
            assert np.allclose(result.correlations, own)
            few = dm.importances.clusters(
                scores(values), X, threshold=0.5, correlation="pearson", most=5,
                positions=positions, distance=4,
            )  # fmt: skip
            assert (few.labels[few.labels >= 0] == result.labels[few.labels >= 0]).all()
            assert set(few.representatives) <= set(np.argsort(-values)[:5])


def test_blocks_of_haplotypes_are_found_from_a_file(tmp_path):
    random = np.random.default_rng(1)
    sizes = (5, 1, 8, 6)
    X = blocks(random, sizes)
    X[random.random(X.shape) < 0.02] = -1  # missing
    truth = np.repeat(np.arange(4), sizes)
    place = 10_000 * (np.arange(20) + 1)
    # The last block lies on two chromosomes; what is alike there is not linked.
    chromosome = np.where(np.arange(20) < 17, "1", "2")
    bim = "".join(f"{chromosome[j]}\trs{j}\t0\t{place[j]}\tA\tC\n" for j in range(20))
    store = dm.open_store(write_bed(tmp_path / "a.bed", X, bim=bim))
    result = scores(random.permutation(20) + 1.0, store.names)
    actual = dm.importances.clusters(result, store, threshold=0.7)
    wanted = np.unique(np.stack([truth, chromosome == "2"]), axis=1, return_inverse=True)[1]
    assert len(actual) == 5
    pairs = {*zip(actual.labels.tolist(), wanted.reshape(-1).tolist(), strict=True)}
    assert len(pairs) == 5
    packed = dm.pack(tmp_path / "a.bed", tmp_path / "s")
    again = dm.importances.clusters(result, packed, threshold=0.7)
    assert again.labels.tolist() == actual.labels.tolist()
    near = dm.importances.clusters(result, store, threshold=0.7, distance=10_000)
    for members in near.members().values():
        numbers = sorted(int(name[2:]) for name in members)
        assert len(numbers) <= 3
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
    everywhere = dm.importances.clusters(
        result, store.as_table(), threshold=0.7, correlation="pearson"
    )
    assert len(everywhere) == 4


def test_r_is_that_of_rows_where_both_are_known():
    random = np.random.default_rng(2)
    X = random.normal(size=(60, 2)) @ [[1, 0.9], [0, 0.4]]
    X[random.random(X.shape) < 0.2] = np.nan
    both = ~np.isnan(X).any(axis=1)
    r = np.corrcoef(X[both], rowvar=False)[0, 1]
    result = dm.importances.clusters(scores([2, 1]), X, threshold=0.5, correlation="pearson")
    assert result.correlations[1] == pytest.approx(r)


def test_unplaced_constant_and_unused_features():
    x = np.arange(20.0)
    X = np.column_stack([x, x, np.ones(20), x, -x])
    place = {"chromosome": ["1", "0", "1", "1", "1"], "position": [5, 5, 5, 0, 9]}
    result = dm.importances.clusters(scores([5, 4, 3, 2, 0]), X, positions=place)
    assert result.members() == {"x0": ("x0", "x4"), "x1": ("x1",), "x2": ("x2",), "x3": ("x3",)}
    assert result.columns()["correlation"].tolist()[4] == -1
    nothing = dm.importances.clusters(scores([0, 0, 0, 0, 0]), X)
    assert len(nothing) == 0
    assert nothing.members() == {}
    assert nothing.columns()["cluster"].tolist() == [0] * 5


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"importances": [1, 2]}, TypeError, "must be Importances"),
        ({"importances": scores([1], "z")}, ValueError, "lacks 'z'"),
    ],
)
def test_what_cannot_be_asked(changed, error, message):
    options = {"importances": scores([1, 2]), "X": np.eye(2), **changed}
    with pytest.raises(error, match=message):
        dm.importances.clusters(options.pop("importances"), options.pop("X"), **options)
