"""Fitted selectors can be copied, and hold none of the rows that they were fitted on."""

import copy
import pickle

import numpy as np
import pytest

import duramen as dm

FITTED = {
    "InformationFilter": dm.InformationFilter(),
    "RidgeSelector": dm.RidgeSelector(),
    "LassoSelector": dm.LassoSelector(random_state=0),
    "MarkovBoundary": dm.MarkovBoundary(),
    "SequentialSelection": dm.SequentialSelection(),
    "VSURF": dm.VSURF(dm.RandomForestClassifier(5), random_state=0),
    "Boruta": dm.Boruta(dm.RandomForestClassifier(5), random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(size=(60, 5))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("name", FITTED)
def test_pickles_hold_no_row(name, rows):
    selector = FITTED[name].fit(*rows)
    packed = pickle.dumps(selector)
    assert not any(value.tobytes() in packed for value in rows[0].ravel())
    again = pickle.loads(packed)
    assert again.selected_.tolist() == selector.selected_.tolist()
    assert not hasattr(again, "feature_names_in_")


def test_representatives_are_copied(rows):
    clusters = dm.ClusterRepresentatives(n_clusters=2).fit(rows[0])
    for again in (copy.deepcopy(clusters), pickle.loads(pickle.dumps(clusters))):
        assert again.selected_.tolist() == clusters.selected_.tolist()
        assert again.representatives_.metadata == clusters.representatives_.metadata
