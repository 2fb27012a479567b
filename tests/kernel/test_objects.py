"""Kernel objects: who owns them, how long they live, and what they refuse."""

import copy
import gc
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

import duramen as dm
from duramen import _kernel
from duramen.forests import GrowthSettings, grow
from duramen.forests.forest import mean_decreases
from duramen.forests.prediction import predict, rows_of


def bag_of_copies(originals):
    return _kernel.Bag(row_samples=0, bootstrap=True, seed=0, first_tree=0, originals=originals)


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3)).round(1)
    return dm.learning_set(X, np.where(X[:, 0] > 0, "b", "a"))


@pytest.fixture
def forest(data):
    return grow(data, GrowthSettings(bootstrap=True, max_features=2), n_trees=5, seed=1)


def owners(data, forest):
    """Owners of kernel objects, each with the name of the object."""
    return (
        (data.table, "kernel"),
        (data.table, "kernel_schema"),
        (data.target, "kernel"),
        (forest, "kernel"),
    )


def test_an_object_is_made_once(data, forest):
    for owner, name in owners(data, forest):
        assert getattr(owner, name) is getattr(owner, name)
    assert forest.bags is forest.bags


@pytest.mark.parametrize("copied", [lambda part: pickle.loads(pickle.dumps(part)), copy.deepcopy])
def test_copies_make_their_own(data, forest, copied):
    mean_decreases(forest)
    before = predict(forest, data.table)
    there = copied((data, forest))
    for (mine, name), (other, _) in zip(owners(data, forest), owners(*there), strict=True):
        assert name in vars(mine)
        assert name not in vars(other)
    again = grow(there[0], forest.settings, n_trees=5, seed=1)
    assert again.leaf_values.tobytes() == forest.leaf_values.tobytes()
    assert predict(there[1], there[0].table).tobytes() == before.tobytes()


def test_a_fingerprint_travels_along(data):
    assert data.table.fingerprint()
    assert "_digest" in vars(pickle.loads(pickle.dumps(data.table)))


def test_other_arrays_are_another_object(data, forest):
    predict(forest, data.table)
    other = replace(forest, leaf_values=1 - forest.leaf_values)
    np.testing.assert_allclose(predict(other, data.table), 1 - predict(forest, data.table))
    part = forest.part(1, 3)
    assert part.bags.draw(40, 0).tolist() == forest.bags.draw(40, 1).tolist()
    turned = data.permuted(np.arange(40)[::-1])
    assert turned.target.kernel is not data.target.kernel
    assert turned.table.kernel is data.table.kernel


def test_arrays_live_as_long_as_an_object_needs_them():
    arrays = [np.array([0.0, 1.0]), np.array([0, 2]), np.zeros(1, np.uint8), np.zeros(1, np.uint8)]
    schema = _kernel.Schema(*arrays)
    codes = np.array([[0, 1, 1]], np.uint8)
    none16, none32 = np.empty((0, 3), np.uint16), np.empty((0, 3), np.uint32)
    table = _kernel.Table(schema, codes, none16, none32, np.zeros(1, np.uint8), np.zeros(1, int))
    target = _kernel.Target(np.array([0, 1, 1], np.uint32), 2)
    del arrays, schema, codes, none16, none32
    gc.collect()
    trees = _kernel.TreeRange(seed=0, first=0, count=1)
    grown = _kernel.grow(table, target, None, GrowthSettings().for_kernel(), trees, 1, None)
    feature, values = grown.feature, grown.leaf_values
    del grown, table, target
    gc.collect()
    assert feature.tolist() == [0, -1, -1]
    assert values.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_rows_are_given_by_codes_or_values(data, forest):
    columns = [data.table.values(j)[data.table.codes(j)] for j in range(3)]
    values = rows_of(forest, np.array(columns).T, "Forest", "predict")
    assert predict(forest, values).tobytes() == predict(forest, data.table).tobytes()


def numbers():
    random = np.random.default_rng(0)
    return dm.learning_set(random.normal(size=(40, 3)), random.normal(size=40))


def one_tree(data, **settings):
    return grow(data, GrowthSettings(**settings), n_trees=1, seed=0)


def changed(forest, **arrays):
    return _kernel.Forest(**(forest.arrays() | arrays))


def decreases(forest, n_columns):
    _kernel.Decreases(n_columns, False, False).add(forest.kernel)


def decoys(cycle, bounds):
    """Decoys of three columns, as the kernel takes them."""
    order, ends = np.asarray(cycle, np.uint32), np.asarray(bounds, np.uint32)
    return _kernel.Decoys(order, np.ones(3, bool), ends)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda d, f: _kernel.Target(np.array([0, 2], np.uint32), 2), "not below n_classes"),
        (lambda d, f: _kernel.Target(np.array([0, 0], np.uint32), 0), "at least 1"),
        (lambda d, f: _kernel.Target(np.array([0.5]), 2), "must be 0 for numbers"),
        (lambda d, f: changed(f, feature=f.feature[1:]), "arrays of the forest differ"),
        (lambda d, f: changed(f, leaf_values=f.leaf_values[1:]), "arrays of the forest differ"),
        (lambda d, f: changed(f, offsets=f.offsets[1:]), "offsets of the forest"),
        (lambda d, f: decreases(f, n_columns=1), "more columns than n_columns"),
        (lambda d, f: predict(f, d.table.take_columns([0])), "columns that the rows lack"),
        (
            lambda d, f: _kernel.Values(d.table.schema.kernel_schema, np.zeros((2, 2))),
            "number of columns",
        ),
        (lambda d, f: one_tree(d.with_target(d.target.take(np.arange(9)))), "not one entry a row"),
        (lambda d, f: one_tree(replace(d, weights=np.ones(3))), "weights has not one entry"),
        (lambda d, f: one_tree(d, criterion="variance"), "criterion is for another kind of target"),
        (lambda d, f: one_tree(d, criterion="log_rank"), "criterion is for another kind of target"),
        (lambda d, f: one_tree(numbers(), criterion="variance", cut="pert"), "PERT is for classes"),
        (lambda d, f: decoys(np.zeros(3), [0, 3]), "every row once"),
        (lambda d, f: decoys(np.arange(3), [0, 2]), "bounds do not lead from 0"),
        (lambda d, f: decoys(np.arange(3), [1, 3]), "bounds do not lead from 0"),
        (lambda d, f: decoys(np.arange(3), [0, 2, 1, 3]), "bounds do not ascend"),
        (lambda d, f: bag_of_copies(np.array([0, 2], np.uint32)), "numbers of rows"),
        (lambda d, f: replace(d.table, slot=d.table.slot + 9).kernel, "none of its blocks"),
        (lambda d, f: replace(d.table, cut_values=np.zeros(1)).kernel, "does not divide"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(data, forest, make, message):
    with pytest.raises(ValueError, match=message):
        make(data, forest)


def test_arrays_are_lent_not_converted(forest):
    with pytest.raises(TypeError):
        changed(forest, threshold=forest.threshold.astype(np.float32))


def test_settings_of_the_kernel_are_those_of_growth():
    text = _kernel.Settings.__init__.__nb_signature__[0][0]
    # Trees are pruned once they are grown.
    names = {field.name for field in fields(GrowthSettings)} - {"ccp_alpha"}
    assert all(f"{name}: " in text for name in names)
