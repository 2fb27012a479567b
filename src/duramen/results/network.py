"""Networks: a weight for every link from a source to a target."""

from __future__ import annotations

import csv
from codecs import getwriter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from duramen.results.adjustment import adjusted
from duramen.results.archive import is_sparse
from duramen.results.network_scores import (
    PAIRS,
    NetworkScores,
    Orientation,
    links_of,
    orientation_of,
    score_ranking,
)
from duramen.results.result import Result, checked_matrix, dense, entries
from duramen.results.summary import Column, Summary, hidden, small
from duramen.support import checks
from duramen.support.arrays import BoolArray, FloatArray, IntArray, native_frame
from duramen.support.files import replacing
from duramen.support.text import escaped, fixed

_OWNER = "Network"
_BLOCK = 1 << 20  # links that are looked at together, at least
_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Network(Result):
    """Weights of the links between p variables, such as genes or neurons.

    Parameters
    ----------
    names : tuple of str
        Names of the p variables, all different.
    weights : float64 or float32 array, or sparse matrix, of shape (p, p)
        ``weights[i, j]`` is the evidence for the link from i to j, in `unit`; 0 on the diagonal.
        A sparse matrix is held as a `scipy.sparse.csr_array`.
    sources, targets : bool arrays of shape (p,), optional
        Variables that may be the source, or the target, of a link; all by default.
    directed : bool
        Whether the link from i to j differs from that from j to i.
    measure : str
        Name of the score of a link, such as ``"mdi"``.
    unit : str
        Unit of the weights: ``"1"`` for a pure number.
    p_values : float64 array of shape (p, p), optional
        P-value of each link; 1 where there is no candidate.
    notes : tuple of str
        Limits of the result, one sentence each.
    metadata : mapping
        Settings, seed, versions and fingerprint of the data.

    Raises
    ------
    ValueError
        If shapes disagree, names repeat, a weight is not finite, or a weight outside the
        candidates is not 0.

    Examples
    --------
    >>> import numpy as np
    >>> from duramen.results.network import Network
    >>> network = Network(("a", "b"), np.array([[0.0, 0.7], [0.1, 0.0]]))
    >>> network.top(1)
    [('a', 'b', 0.7)]
    """

    names: tuple[str, ...]
    weights: Any
    sources: BoolArray = None  # type: ignore[assignment]
    targets: BoolArray = None  # type: ignore[assignment]
    directed: bool = True
    measure: str = "weight"
    unit: str = "1"
    p_values: FloatArray | None = None
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self, **_: int) -> None:
        settle, p = object.__setattr__, len(self.names)
        for what in ("sources", "targets"):
            settle(self, what, _mask(what, getattr(self, what), p))
        if is_sparse(self.p_values):
            raise ValueError(f"{_OWNER}: p_values must be a dense matrix, got a sparse one.")
        for what in ("weights", "p_values"):
            if (numbers := getattr(self, what)) is not None:
                settle(self, what, checked_matrix(_OWNER, what, numbers, (p, p)))
        if is_sparse(self.weights):
            i, j = self.weights.nonzero()
            outside = bool((~self.sources[i] | ~self.targets[j] | (i == j)).any())
        else:
            blocks = _blocks(np.arange(p), p)
            outside = bool(self.weights.diagonal().any()) or any(
                self.weights[rows][~self.sources[rows]].any()
                or self.weights[rows][:, ~self.targets].any()
                for rows in blocks
            )
        if outside:
            raise ValueError(
                f"{_OWNER}: weights must be 0 on the diagonal, in rows of variables that are not "
                "sources, and in columns of variables that are not targets."
            )
        super().__post_init__()  # last: it locks arrays, and those that can be changed are copied

    # --- links -----------------------------------------------------------------------------

    @property
    def n_candidates(self) -> int:
        """Number of links that can have a weight: pairs of a source and another target."""
        both = int((self.sources & self.targets).sum())
        pairs = int(self.sources.sum()) * int(self.targets.sum()) - both
        return pairs if self.directed else pairs - both * (both - 1) // 2

    def ranked(self, n: int | None = None) -> tuple[IntArray, IntArray]:
        """Return sources and targets of the links by decreasing weight, as indices.

        Equal weights are in the order of the sources, then of the targets. Of an undirected network
        each pair comes once.

        Parameters
        ----------
        n : int, optional
            Number of links; all candidates by default. With n, memory beyond the weights grows with
            n alone.
        """
        count = self.n_candidates if n is None else checks.check_integer(_OWNER, "n", n, 0)
        keep = min(count, self.n_candidates)
        best = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
        rows = np.flatnonzero(self.sources)
        for here in _blocks(rows if keep else _NONE, len(self.names), keep):
            block = dense(self.weights[here])
            candidates = self._candidates(here)
            # Lighter links than the lightest of `keep` links that are known are out.
            weights = block[candidates]
            least = best[2][-1] if len(best[2]) == keep else -np.inf
            if len(weights) > keep:
                least = max(least, np.partition(weights, -keep)[-keep])
            i, j = np.nonzero(candidates & (block >= least))
            new = here[i], j, block[i, j]
            best = tuple(map(np.concatenate, zip(best, new, strict=True)))  # type: ignore[assignment]
            order = np.lexsort((best[1], best[0], -best[2]))[:keep]
            best = best[0][order], best[1][order], best[2][order]
        return best[0], best[1]

    def _candidates(self, rows: IntArray) -> BoolArray:
        """Return a mask of the candidates among the links of some sources, shape (rows, p)."""
        columns = np.arange(len(self.names))
        mask = self.targets & (rows[:, None] != columns)
        if not self.directed:  # less the half that can be stated the other way round
            both = self.sources & self.targets[rows][:, None] & (rows[:, None] > columns)
            mask &= ~both
        result: BoolArray = mask
        return result

    def heaviest(self, n: int | None = None, *, per_target: int | None = None) -> Network:
        """Return the network of some links only, with sparse weights.

        The other candidates stay candidates, of weight 0; p-values stay as they are.

        Parameters
        ----------
        n : int, optional
            Number of links that are kept, the heaviest.
        per_target : int, optional
            Number of links of each target that are kept, the heaviest; of equal ones those of the
            first sources.

        Raises
        ------
        ValueError
            Unless one of `n` and `per_target` is given.

        Examples
        --------
        >>> import numpy as np
        >>> from duramen.results.network import Network
        >>> network = Network(("a", "b", "c"), np.triu(np.arange(9.0).reshape(3, 3), 1))
        >>> network.heaviest(per_target=1).weights.toarray().tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
        """
        function = f"{_OWNER}.heaviest"
        if (n is None) == (per_target is None):
            raise ValueError(f"{function}: one of n and per_target must be given.")
        if n is not None:
            i, j = self.ranked(n)
        else:
            k = checks.check_integer(function, "per_target", per_target, 0)
            sources, transposed = np.flatnonzero(self.sources), self.weights.T
            if not isinstance(self.weights, np.ndarray):
                transposed = transposed.tocsr()
            parts = [(_NONE, _NONE)]
            for columns in _blocks(np.flatnonzero(self.targets), len(self.names)):
                block = dense(transposed[columns])[:, sources].astype(np.float64)
                block[columns[:, None] == sources] = -np.inf
                order = np.argsort(-block, axis=1, kind="stable")[:, :k]
                i, j = sources[order].ravel(), np.repeat(columns, order.shape[1])
                parts.append((i[i != j], j[i != j]))
            i, j = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        if not self.directed:
            i, j = np.concatenate([i, j]), np.concatenate([j, i])
            first = np.unique(i * len(self.names) + j, return_index=True)[1]
            i, j = i[first], j[first]
        from scipy.sparse import csr_array

        weights = entries(self.weights, i, j).astype(self.weights.dtype)
        return self.reweighted(csr_array((weights, (i, j)), shape=self.weights.shape))

    def top(self, k: int) -> list[tuple[str, str, float]]:
        """Return source, target and weight of the `k` heaviest links."""
        links = self.columns(k)
        weights = links["weight"].tolist()
        return list(zip(links["source"], links["target"], weights, strict=True))

    def columns(self, n: int | None = None) -> dict[str, Any]:
        """Return the columns of `edges` by name."""
        i, j = self.ranked(n)
        columns: dict[str, Any] = {
            "source": [self.names[a] for a in i.tolist()],
            "target": [self.names[b] for b in j.tolist()],
            "weight": entries(self.weights, i, j),
        }
        if self.p_values is not None:
            columns["p_value"] = self.p_values[i, j]
        return columns

    def edges(self, n: int | None = None) -> Any:
        """Return a data frame of the links by decreasing weight.

        Its columns are ``source``, ``target``, ``weight`` and, where known, ``p_value``.

        Parameters
        ----------
        n : int, optional
            Number of links; all candidates by default.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The first of these libraries that is installed.
        """
        return native_frame(self.columns(n))

    def to_frame(self) -> Any:
        """Return `edges` of all candidates."""
        return self.edges()

    # --- other forms -----------------------------------------------------------------------

    def to_networkx(self, n: int | None = None) -> Any:
        """Return the heaviest links as a networkx.DiGraph, or Graph where undirected.

        All variables are nodes; edges have ``weight`` and, where known, ``p_value``.

        Parameters
        ----------
        n : int, optional
            Number of links; by default all with a weight other than 0.

        Raises
        ------
        ModuleNotFoundError
            If networkx is not installed.
        """
        nx = checks.extra_package("networkx", f"{_OWNER}.to_networkx", "networks")
        graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from(self.names)
        columns = self.columns(n)
        names = [name for name in columns if name not in ("source", "target")]
        linked = np.ones(len(columns["source"]), dtype=np.bool_)
        if n is None:
            linked = columns["weight"] != 0
        for k in np.flatnonzero(linked).tolist():
            values = {name: float(columns[name][k]) for name in names}
            graph.add_edge(columns["source"][k], columns["target"][k], **values)
        return graph

    def write_graphml(self, path: str | PathLike[str], n: int | None = None) -> None:
        """Write the heaviest links as GraphML, which Cytoscape and Gephi read.

        Characters that XML does not allow in names, such as control characters, are escaped.

        Parameters
        ----------
        path : path
            File to write.
        n : int, optional
            As for `to_networkx`.

        Raises
        ------
        ModuleNotFoundError
            If networkx is not installed.
        ValueError
            If two names are equal once they are escaped.
        """
        graph = replace(self, names=tuple(map(escaped, self.names))).to_networkx(n)
        nx = checks.extra_package("networkx", f"{_OWNER}.write_graphml", "networks")
        with replacing(Path(path)) as file:
            nx.write_graphml(graph, file)

    def write_tsv(self, path: str | PathLike[str], n: int | None = None) -> None:
        """Write source, target and weight of the heaviest links, one a line, without a header.

        This is the format of the DREAM challenges. Names that hold a tab, a quote or a line break
        are quoted.

        Parameters
        ----------
        path : path
            File to write.
        n : int, optional
            Number of links; all candidates by default.
        """
        self._write_links(path, "\t", self._heaviest(n))

    def write_adjacencies(self, path: str | PathLike[str], n: int | None = None) -> None:
        """Write the links of positive weight as pySCENIC and arboreto do: TF, target, importance.

        ``pyscenic ctx`` reads the file in place of that of ``pyscenic grn``. The heaviest links
        come first.

        Parameters
        ----------
        path : path
            File to write: separated by commas where its name ends in .csv, by tabs otherwise.
        n : int, optional
            Number of links at most; all by default.
        """
        positive = (link for link in self._heaviest(n) if link[2] > 0)
        sign = "," if Path(path).suffix.lower() == ".csv" else "\t"
        self._write_links(path, sign, chain([("TF", "target", "importance")], positive))

    def _heaviest(self, n: int | None) -> Iterator[tuple[str, str, float]]:
        """Yield source, target and weight of the heaviest links."""
        i, j = self.ranked(n)
        weights = entries(self.weights, i, j).tolist()
        for a, b, weight in zip(i.tolist(), j.tolist(), weights, strict=True):
            yield self.names[a], self.names[b], weight

    def _write_links(self, path: str | PathLike[str], sign: str, rows: Iterable[Any]) -> None:
        """Write rows to a file, with surrogates escaped, which UTF-8 does not allow."""
        with replacing(Path(path)) as file:
            text = getwriter("utf-8")(file, "backslashreplace")
            csv.writer(text, delimiter=sign, lineterminator="\n").writerows(rows)

    def score(self, gold: Any, *, pairs: str = "candidates") -> NetworkScores:
        """Score the ranked links against a gold standard.

        Parameters
        ----------
        gold : bool array of shape (p, p), data frame, networkx graph, or iterable of tuples
            True links: a matrix from source to target; or source, target and, optionally, 1 for
            links and 0 for pairs that are none.
        pairs : {"candidates", "listed", "dream5", "directed"}
            Pairs that are scored. "candidates": pairs of a source and another target of this
            network. "listed": pairs that `gold` lists, as in DREAM4. "dream5": each source of a
            link of `gold` with each variable that `gold` names; pairs that are no candidates of
            this network are ranked last, in random order (Marbach et al. 2012). "directed": the
            candidates, where pairs of an undirected network count in both directions with equal
            weights, as in the connectomics challenge; :func:`duramen.networks.undirected_ceiling`
            gives the best possible scores.

        Returns
        -------
        NetworkScores

        Raises
        ------
        ValueError
            If `gold` has another shape, names no pair of the network, or holds none or all of the
            pairs.

        Examples
        --------
        >>> import numpy as np
        >>> from duramen.results.network import Network
        >>> network = Network(("a", "b", "c"), np.triu(np.arange(9.0).reshape(3, 3), 1))
        >>> network.score([("b", "c"), ("a", "c")]).auroc
        1.0
        """
        checks.check_choice(f"{_OWNER}.score", "pairs", pairs, PAIRS)
        links, listed = links_of(gold, self.names)
        candidates = self.sources[:, None] & self.targets
        scored: BoolArray = listed if pairs == "listed" else candidates
        if pairs == "dream5":
            named = links.any(axis=0) | links.any(axis=1)
            scored = np.outer(links.any(axis=1), named)
        scored = np.logical_and(scored, ~np.eye(len(self.names), dtype=np.bool_))
        if not self.directed and pairs != "directed":
            links, scored = links | links.T, np.triu(np.asarray(scored | scored.T))
        weights = np.where(candidates[scored], dense(self.weights)[scored], -np.inf)
        return score_ranking(weights.astype(np.float64), links[scored])

    def orientation(self, gold: Any) -> Orientation:
        """Measure whether the weights give the direction of the links of a gold standard.

        Compared are pairs with exactly one true direction, both of whose directions are candidates
        (Huynh-Thu et al. 2010; thesis, 8.2.3).

        Parameters
        ----------
        gold
            True links, as for `score`.

        Returns
        -------
        Orientation

        Raises
        ------
        ValueError
            If there is no such pair.
        """
        links, _ = links_of(gold, self.names)
        candidates = np.outer(self.sources, self.targets)
        i, j = np.nonzero(links & ~links.T & candidates & candidates.T)
        if not len(i) or not self.directed:
            raise ValueError(
                f"{_OWNER}.orientation: gold must have links in one direction only, between "
                "variables that are both sources and targets of a directed network."
            )
        forward, backward = entries(self.weights, i, j), entries(self.weights, j, i)
        return orientation_of(forward, backward)

    def q_values(self) -> FloatArray:
        """Return p-values of the candidates adjusted for the false discovery rate, shape (p, p).

        Benjamini and Hochberg's rule over all candidates; 1 for other pairs.

        Raises
        ------
        ValueError
            If the network has no p-values.
        """
        if self.p_values is None:
            raise ValueError(
                f"{_OWNER}.q_values: this network has no p-values. Hint: genie3 with "
                "n_permutations=20."
            )
        i, j = self.ranked()
        result = np.ones(self.weights.shape)
        result[i, j] = adjusted(self.p_values[i, j], "fdr")
        return result

    def undirected(self) -> Network:
        """Return the network of pairs: each has the larger weight of its two directions."""
        ends = self.sources | self.targets
        changes = {"sources": ends, "targets": ends, "directed": False, "p_values": None}
        other = self.weights.T
        sparse = is_sparse(self.weights)
        larger = self.weights.maximum(other) if sparse else np.maximum(self.weights, other)
        return self.reweighted(larger, **changes)

    def reweighted(self, weights: Any, **changes: Any) -> Network:
        """Return a network of the same variables with other weights, and perhaps other fields.

        Parameters
        ----------
        weights : array or sparse matrix of shape (p, p)
            Weights of the links.
        **changes
            Further fields of `Network`.
        """
        same = {field.name: getattr(self, field.name) for field in fields(Network)}
        return Network(**{**same, "weights": weights, **changes})

    def __len__(self) -> int:
        return len(self.names)

    def _summary(self, rows: int) -> Summary:
        kind = "directed" if self.directed else "undirected"
        heading = (
            f"Network: {len(self.names):,} variables, {int(self.sources.sum()):,} sources, "
            f"{int(self.targets.sum()):,} targets, {self.n_candidates:,} {kind} links; "
            f"weight: {self.measure}"
        )
        links = self.columns(min(rows, self.n_candidates))
        shown = [
            Column("", [str(k + 1) for k in range(len(links["source"]))]),
            Column("source", links["source"], kind="words"),
            Column("target", links["target"], kind="words"),
            Column("weight", fixed(links["weight"], 4), bars=links["weight"]),
        ]
        if "p_value" in links:
            shown.append(Column("p", small(links["p_value"])))
        more = hidden(self.n_candidates, len(links["source"]))
        return Summary((heading,), shown, more, self.notes)


def _blocks(numbers: IntArray, width: int, least: int = 0) -> Iterator[IntArray]:
    """Yield blocks of row numbers; the block size depends on the width of the rows."""
    step = max(1, max(least, _BLOCK) // max(1, width))
    return (numbers[k : k + step] for k in range(0, len(numbers), step))


def _mask(what: str, asked: Any, p: int) -> BoolArray:
    mask = np.ones(p, dtype=np.bool_) if asked is None else np.array(asked, dtype=np.bool_)
    if mask.shape != (p,):
        raise ValueError(f"{_OWNER}: {what} must have shape ({p},), got {mask.shape}.")
    mask.setflags(write=False)
    return mask
