"""Wiring of cultures: given, drawn, and that of the challenge."""

import networkx as nx
import numpy as np
import pytest

from duramen import _kernel
from duramen.datasets import Wiring


def clustering(source, target, n):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(np.asarray(source).tolist(), np.asarray(target).tolist(), strict=True))
    return nx.average_clustering(graph)


@pytest.mark.parametrize("goal", [0.0, 0.3, 0.7])
def test_exchanges_keep_degrees_and_reach_the_clustering(goal):
    rng = np.random.default_rng(1)
    pairs = np.flatnonzero((rng.random((70, 70)) < 0.12) & ~np.eye(70, dtype=bool))
    source, target = (x.astype(np.uint32) for x in np.divmod(pairs, 70))
    result, reached = _kernel.rewire_links(source, target, 70, goal, 4, 200_000)
    assert reached == pytest.approx(clustering(source, result, 70))
    assert np.array_equal(np.sort(result), np.sort(target))
    assert (result != source).all()
    assert len(set(zip(source.tolist(), result.tolist(), strict=True))) == len(source)
    if goal > 0:
        assert reached == pytest.approx(goal, abs=0.003)
    else:
        assert reached < clustering(source, target, 70)


PLACES = [[0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Wiring([0], [1], positions=[0, 1]), "positions must be of shape"),
        (lambda: Wiring([0], [1], [1, 2], positions=PLACES), r"weight must be of shape \(1,\)"),
        (lambda: Wiring([0], [3], positions=PLACES), "source must be of neurons in 0..2"),
        (lambda: Wiring([1], [1], positions=PLACES), "target must be another neuron"),
        (lambda: Wiring([1, 1], [2, 2], positions=PLACES), "each link must be given once"),
        (lambda: Wiring([0, 1], [1], positions=PLACES), "each link must be given once"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
