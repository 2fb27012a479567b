"""Representatives in front of a selector."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import duramen as dm


def problem():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 6))
    X[:, 3:5] = X[:, [0]] + 0.1 * random.normal(size=(80, 2))
    return pd.DataFrame(X, columns=list("abcdef")), X[:, 0] + X[:, 1] > 0


def test_one_of_each_cluster_is_kept():
    frame, y = problem()
    model = dm.ClusterRepresentatives().fit(frame)
    (medoid,) = {0, 3, 4} & set(model.selected_.tolist())
    assert model.support_.sum() == 4
    assert model.representatives_.members()["abcdef"[medoid]] == ("a", "d", "e")
    assert sorted(model.history_["cluster_size"].tolist()) == [1, 1, 1, 3]
    assert model.transform(frame).shape == (80, 4)
    assert not hasattr(clone(model), "support_")
    again = dm.ClusterRepresentatives().fit(dm.learning_set(frame, y))
    assert again.selected_.tolist() == model.selected_.tolist()


def test_in_front_of_a_selector():
    frame, y = problem()
    selector = dm.InformationFilter("mrmr", n_features=2)
    line = make_pipeline(dm.ClusterRepresentatives(threshold=0.9), selector)
    line.set_output(transform="pandas").fit(frame, y)
    names = line.transform(frame).columns.tolist()
    assert len(names) == 2
    assert "b" in names
    spread = line[0].spread(line[1].importances_)
    assert len(spread.values) == 6
    assert spread.names == tuple("abcdef")
    assert spread.values[0] == spread.values[3] == spread.values[4]
    own = line[1].importances_
    assert spread.values[1] == own.values[own.names.index("b")]
    with pytest.raises(ValueError, match="importances of the 4 representatives"):
        line[0].spread(spread)
