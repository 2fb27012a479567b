"""The result of network inference: ranked links, other forms, checks."""

import csv
import io
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from duramen import Network
from duramen.results import network as module


def made(p=7, seed=0, **options):
    weights = np.random.default_rng(seed).integers(0, 9, (p, p)).astype(float)
    np.fill_diagonal(weights, 0)
    return Network(tuple(f"g{i}" for i in range(p)), weights, **options)


def slow_ranking(network):
    pairs = [
        (i, j)
        for i in range(len(network))
        for j in range(len(network))
        if i != j and network.sources[i] and network.targets[j]
    ]
    if not network.directed:
        pairs = [(i, j) for i, j in pairs if i < j or (j, i) not in pairs]
    return sorted(pairs, key=lambda ij: (-network.weights[ij], *ij))


@pytest.mark.parametrize("block", [1, 10, 1 << 20])
@pytest.mark.parametrize("kind", ["all", "some", "undirected"])
def test_ranking_equals_a_sorted_list(monkeypatch, block, kind):
    monkeypatch.setattr(module, "_BLOCK", block)
    network = made()
    if kind == "some":
        sources, targets = np.arange(7) < 3, np.arange(7) > 1
        weights = network.weights * np.outer(sources, targets)
        network = Network(network.names, weights, sources, targets)
    if kind == "undirected":
        network = network.undirected()
    expected = slow_ranking(network)
    assert network.n_candidates == len(expected)
    for n in (None, 0, 1, 5, 1000):
        i, j = network.ranked(n)
        assert list(zip(i.tolist(), j.tolist(), strict=True)) == expected[:n]


@pytest.mark.smoke
def test_edges_graph_and_files_agree(tmp_path):
    network = made()
    frame = network.edges(5)
    assert list(frame.columns) == ["source", "target", "weight"]
    assert [tuple(row) for row in frame.to_numpy()] == network.top(5)
    graph = network.to_networkx(5)
    assert set(graph.nodes) == set(network.names)
    assert graph.number_of_edges() == 5
    assert graph.edges[network.top(1)[0][:2]]["weight"] == network.top(1)[0][2]
    network.write_graphml(tmp_path / "a.graphml", 5)
    again = nx.read_graphml(tmp_path / "a.graphml")
    assert set(again.edges) == set(graph.edges)
    network.write_tsv(tmp_path / "a.tsv")
    lines = io.StringIO((tmp_path / "a.tsv").read_text()).readlines()
    assert len(lines) == 42
    assert lines[0].split("\t")[:2] == list(network.top(1)[0][:2])
    assert isinstance(network.undirected().to_networkx(), nx.Graph)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones((7, 7))}, "diagonal"),
        ({"weights": np.zeros((7, 6))}, "shape"),
        ({"weights": np.full((7, 7), np.nan)}, "finite"),
        ({"sources": np.zeros(7, dtype=bool)}, "not sources"),
        ({"targets": np.ones(3, dtype=bool)}, "shape"),
        ({"names": ("a",) * 7}, "twice"),
    ],
)
def test_refuses(change, message):
    network = made()
    options = {"names": network.names, "weights": network.weights, **change}
    with pytest.raises(ValueError, match=message):
        Network(**options)


HOSTILE = ("tab\there", 'quote"', "line\nbreak", "\x1b[31m", "\x00", "\ud800", "plain")


def test_files_of_names_with_odd_characters(tmp_path):
    network = replace(made(), names=HOSTILE)
    network.write_tsv(tmp_path / "a.tsv")
    with (tmp_path / "a.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert len(rows) == network.n_candidates
    assert {row[0] for row in rows} == {*HOSTILE[:5], r"\ud800", "plain"}
    network.write_graphml(tmp_path / "a.graphml")
    nodes = nx.read_graphml(tmp_path / "a.graphml").nodes
    assert {'quote"', r"line\nbreak", r"\x1b[31m", r"\x00"} < set(nodes)
    assert len(nodes) == len(HOSTILE)
