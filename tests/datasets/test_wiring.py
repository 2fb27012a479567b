"""Wiring of cultures: given, drawn, and that of the challenge."""

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.networks.simulator import (
    clustering_of,
    culture_wiring,
    load_chalearn_topology,
    part_of,
)

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


def test_wiring_has_the_structure_asked_for():
    made = culture_wiring(200, modules=4, clustering=(0.3, 0.6), random_state=0)
    assert (made.n_neurons, made.n_links) == (200, 3000)
    inside = made.modules[made.source] == made.modules[made.target]
    assert inside.mean() == 0.8
    for k, goal in enumerate((0.3, 0.4, 0.5, 0.6)):
        part = part_of(made, made.modules == k)
        assert clustering_of(part) == pytest.approx(goal, abs=0.005)
        assert clustering_of(part) == pytest.approx(
            clustering(part.source, part.target, part.n_neurons)
        )
    negative = np.unique(made.source[made.weight < 0])
    assert len(negative) == 40
    assert not set(negative) & set(made.source[made.weight > 0])
    assert set(made.weight) == {-1.0, 1.0}


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.67, 1.0])
def test_links_of_modules_are_answered_as_often_as_asked(fraction):
    made = culture_wiring(200, modules=2, clustering=0.45, reciprocity=fraction, random_state=0)
    assert made.n_links == 3000
    for k in range(2):
        part = part_of(made, made.modules == k)
        links = part.matrix()
        chance = links.mean()
        result = (links & links.T).sum() / part.n_links
        assert max(fraction - 0.08, 0) <= result <= max(fraction, chance) + 0.05
        assert clustering_of(part) == pytest.approx(0.45, abs=0.005)


def test_reciprocity_needs_no_clustering_and_follows_the_modules():
    made = culture_wiring(300, modules=3, clustering=None, reciprocity=(0.1, 0.7), random_state=1)
    parts = [part_of(made, made.modules == k) for k in range(3)]
    results = [(part.matrix() & part.matrix().T).sum() / part.n_links for part in parts]
    assert results == pytest.approx([0.13, 0.4, 0.7], abs=0.06)
    assert made.n_links == 4500


def test_links_have_the_length_degrees_and_weights_asked_for():
    settings = {"n_links": 4000, "modules": 1, "clustering": None, "random_state": 1}
    made = culture_wiring(
        400, length=0.1, degree_spread=0.6, weight_spread=0.5, inhibitory=0.0, **settings
    )
    apart = np.linalg.norm(made.positions[made.source] - made.positions[made.target], axis=1)
    assert np.mean(apart) == pytest.approx(0.1 * np.sqrt(np.pi / 2), rel=0.1)  # Rayleigh
    assert np.log(made.weight).std() == pytest.approx(0.5, rel=0.05)
    assert made.weight.mean() == pytest.approx(1.0, rel=0.05)
    even = culture_wiring(400, **settings)
    degrees = [np.bincount(x.source, minlength=400) for x in (made, even)]
    assert degrees[0].std() > 1.5 * degrees[1].std()


def test_default_is_like_the_challenge():
    made = culture_wiring(random_state=0)
    assert (made.n_neurons, made.n_links, made.modules.max()) == (1000, 15_000, 9)
    assert clustering_of(made) == pytest.approx(0.25, abs=0.03)
    small = culture_wiring(30, random_state=0)
    assert small.n_links == 290


@pytest.mark.shared
def test_structure_of_the_challenge(shared_data):
    for i, count in ((1, 14_912), (2, 15_030)):
        made = load_chalearn_topology(i, shared_data / "chalearn-topology")
        assert (made.n_neurons, made.n_links) == (1000, count)
        assert clustering_of(made) == pytest.approx(0.2485, abs=0.001)
        assert (made.modules[made.source] != made.modules[made.target]).sum() == 3000


def test_reads_the_challenge_and_names_missing_files(tmp_path):
    folder = tmp_path / "normal-3"
    folder.mkdir()
    links = {"source": [0, 1], "target": [1, 2], "weight": [1, -1]}
    pq.write_table(pa.table(links), folder / "connections.parquet")
    with pytest.raises(FileNotFoundError, match=r"folder must hold normal-3/positions\.parquet"):
        load_chalearn_topology(3, tmp_path)
    places = {"neuron": [0, 1, 2], "subset": [1, 1, 5], "x": [0.1, 0.2, 0.3], "y": [0.0, 0.5, 1.0]}
    pq.write_table(pa.table(places), folder / "positions.parquet")
    made = load_chalearn_topology(3, tmp_path)
    assert made.weight.tolist() == [1.0, -1.0]
    assert made.modules.tolist() == [0, 0, 1]
    assert made.positions[1].tolist() == [0.2, 0.5]
    with pytest.raises(ValueError, match=r"i must be an int in 1\.\.4"):
        load_chalearn_topology(5, tmp_path)


PLACES = [[0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Wiring([0], [1], positions=[0, 1]), "positions must be finite numbers of shape"),
        (lambda: Wiring([0, 1], [1], positions=PLACES), r"target must be of shape \(2,\)"),
        (lambda: Wiring([0], [1], [1, 2], positions=PLACES), r"weight must be of shape \(1,\)"),
        (lambda: Wiring([0], [1], [np.nan], positions=PLACES), "weight must be finite"),
        (lambda: Wiring([0], [3], positions=PLACES), "target must be neurons in 0..2, got 3"),
        (lambda: Wiring([0.5], [1], positions=PLACES), "source must be a sequence of integers"),
        (lambda: Wiring([1], [1], positions=PLACES), "another neuron than source"),
        (lambda: Wiring([1, 1], [2, 2], positions=PLACES), "without repeated links"),
        (lambda: Wiring([], [], positions=PLACES, modules=[0]), r"modules must be of shape \(3,\)"),
        (lambda: culture_wiring(5, n_links=21), "n_links must leave at most 20 links"),
        (
            lambda: culture_wiring(5, clustering=(0, 1, 2)),
            "clustering must be a number",
        ),
        (lambda: culture_wiring(5, clustering=1.5), "clustering must be a number in"),
        (
            lambda: culture_wiring(5, reciprocity=-0.1),
            "reciprocity must be a number in",
        ),
        (lambda: culture_wiring(5, length=0.0), "length must be a number > 0"),
        (lambda: culture_wiring(5, modules=6), "modules must be an int in 1..5"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
