import hashlib
from importlib.resources import files

import numpy as np
import pytest
from tests.grid import one_test

from duramen import datasets

LOADERS = {
    "digits7": (datasets.digits7, 10, 7),
    "xor": (datasets.xor, 4, 2),
    "madelon_like": (lambda: datasets.madelon_like(300, random_state=0), 300, 500),
    "linear_sign": (lambda: datasets.linear_sign(random_state=0), 500, 120),
    "leukemia": (datasets.load_leukemia, 72, 7129),
    "primary_tumor": (datasets.load_primary_tumor, 339, 17),
}


@pytest.mark.slow
@pytest.mark.smoke
@one_test
@pytest.mark.parametrize("name", LOADERS)
def test_every_set_is_whole(name):
    load, n_rows, n_features = LOADERS[name]
    data = load()
    assert data.name == name
    assert data.X.shape == (n_rows, n_features)
    assert data.y.shape == (n_rows,)
    assert len(set(data.names)) == n_features
    assert data.description
    assert (data.n_rows, data.n_features) == (n_rows, n_features)
    assert f"{n_rows} rows x {n_features} features" in repr(data)
    assert data.relevant is None or set(data.relevant) <= set(data.names)


def test_madelon_like_knows_its_truth():
    data = datasets.madelon_like(random_state=1)
    kinds = {kind: set(names) for kind, names in data.details.items()}
    assert {kind: len(names) for kind, names in kinds.items()} == {
        "informative": 5,
        "redundant": 5,
        "repeated": 10,
    }
    assert len(data.relevant) == 20
    assert set(data.relevant) == kinds["informative"] | kinds["redundant"] | kinds["repeated"]
    assert list(data.relevant) != list(data.names[:20])
    place = [data.names.index(name) for name in data.relevant]
    spectrum = np.linalg.eigvalsh(np.corrcoef(data.X[:, place].T))
    # Five dimensions, and the noise of each feature: a hundredth of its variance.
    assert spectrum[14] < 0.02 < 0.2 < spectrum[15]
    assert spectrum[:15].mean() == pytest.approx(0.01, abs=0.002)
    noise = np.delete(data.X, place, axis=1)
    assert np.abs(np.corrcoef(noise.T) - np.eye(480)).max() < 0.15
    assert abs(data.y.mean() - 0.5) < 0.02


def test_no_dimension_of_madelon_like_decides_the_class():
    # scikit-learn's make_classification, asked for all vertices, has the last one do so: the
    # correlation is then .85 in every draw.
    strongest = []
    for seed in range(20):
        data = datasets.madelon_like(2000, n_probes=0, random_state=seed)
        strongest.append(np.abs(np.corrcoef(data.X.T, data.y)[-1, :-1]).max())
    # The classes of sixteen vertices on a side: hypergeometric, of standard deviation .09.
    assert np.median(strongest) < 0.3
    assert max(strongest) < 0.5


def test_the_vertices_of_madelon_like_decide_the_class():
    data = datasets.madelon_like(3200, n_probes=0, flip=0.0, noise=0.0, random_state=4)
    informative = data.X[:, np.isin(data.names, data.details["informative"])]
    vertex = (informative > 0) @ (1 << np.arange(5))
    fractions = np.array([data.y[vertex == number].mean() for number in range(32)])
    assert np.sum(fractions > 0.5) == 16
    assert np.median(np.abs(fractions - 0.5)) > 0.25  # clouds overlap


def test_linear_sign_follows_its_weights():
    data = datasets.linear_sign(random_state=2)
    weights = data.details["weights"]
    assert np.count_nonzero(weights) == 20
    assert data.relevant == data.names[:20]
    agree = np.sign(data.X @ weights) == data.y
    assert agree.sum() == 450
    assert set(data.y.tolist()) == {-1, 1}


@pytest.mark.parametrize("make", [datasets.madelon_like, datasets.linear_sign])
def test_random_state(make):
    first, same, other = make(random_state=5), make(random_state=5), make(random_state=6)
    assert np.array_equal(first.X, same.X)
    assert np.array_equal(first.y, same.y)
    assert not np.array_equal(first.X, other.X)
    drawn = make(random_state=np.random.default_rng(5))
    assert np.array_equal(first.X, drawn.X)


@one_test
@pytest.mark.parametrize(
    "make, arguments, message",
    [
        (datasets.madelon_like, {"n_samples": 0}, "n_samples must be an int >= 1, got 0"),
        (datasets.linear_sign, {"n_relevant": 200}, "at most n_features=120, got 200"),
    ],
)
def test_generators_refuse(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_leukemia_is_the_set_of_the_paper():
    data = datasets.load_leukemia()
    assert dict(zip(*np.unique(data.y, return_counts=True), strict=True)) == {"ALL": 47, "AML": 25}
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.array_equal(data.X, np.rint(data.X))
    assert data.names[0] == "AFFX-BioB-5_at"
    zyxin = data.X[:, data.names.index("X95735_at")]
    assert zyxin[data.y == "AML"].mean() > 3 * zyxin[data.y == "ALL"].mean()
    assert "Golub" in data.citation


def test_primary_tumor_keeps_categories_and_missing_values():
    data = datasets.load_primary_tumor()
    assert sum(column.null_count for column in data.X.columns) == 225
    assert "y" not in data.X.column_names
    assert tuple(data.X.column_names) == data.names
    assert len(set(data.y.tolist())) == 21
    assert "Zwitter" in data.citation


@pytest.mark.shared
@pytest.mark.parametrize(
    "shipped, folder", [("leukemia", "golub-leukemia"), ("primary_tumor", "primary-tumor")]
)
def test_shipped_files_are_those_of_the_shared_folder(shipped, folder, shared_data):
    ours = (files("duramen.datasets") / "data" / f"{shipped}.parquet").read_bytes()
    theirs = (shared_data / folder / "data.parquet").read_bytes()
    assert hashlib.sha256(ours).digest() == hashlib.sha256(theirs).digest()


@pytest.mark.smoke
def test_shipped_files_come_with_their_terms():
    terms = (files("duramen.datasets") / "data" / "README.md").read_text(encoding="utf-8")
    for word in ("leukemia.parquet", "MIT", "primary_tumor.parquet", "M. Zwitter and\n  M. Soklic"):
        assert word in terms
