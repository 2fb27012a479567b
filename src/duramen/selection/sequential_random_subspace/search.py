"""Sequential random subspace search: rounds of trees, and the features found in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests.arrays import ARRAY_NAMES
from duramen.forests.parts import joined, separated
from duramen.jobs.workers import Run, Workers
from duramen.results.checkpoint import Checkpoint, identity_of
from duramen.selection.sequential_random_subspace.drawing import among_found, by_weight, stream
from duramen.selection.sequential_random_subspace.evidence import Evidence, Outcome
from duramen.selection.sequential_random_subspace.relevance import RelevanceTest
from duramen.selection.sequential_random_subspace.trees import Grower
from duramen.support.arrays import IntArray
from duramen.support.interrupts import uninterrupted

_KIND = "sequential random subspace"
_INTERVAL = 10.0  # seconds between two writes of a checkpoint


@dataclass(frozen=True)
class Plan:
    """Settings of a search.

    Attributes
    ----------
    n_trees : int
        Trees T at most.
    size : int
        Features q of a tree.
    places : int
        At most so many of them are kept from those found: floor(alpha q).
    soft : bool
        Whether these are drawn from all features by their importances instead.
    batch : int
        Trees of a round, all of which know what was found before it.
    patience : int or None
        Trees without anything new after which the search ends.
    """

    n_trees: int
    size: int
    places: int
    soft: bool
    batch: int
    patience: int | None


@dataclass(eq=False)
class State:
    """State of a search."""

    evidence: Evidence  # counts and sums by feature
    # The set F, in the order in which features entered it.
    found: list[int] = field(default_factory=list)
    entered: list[int] = field(default_factory=list)  # trees there were when each did
    trees: list[dict[str, NDArray[Any]]] = field(default_factory=list)  # flat arrays of each tree
    sizes: list[int] = field(default_factory=list)  # size of F after each tree

    def __post_init__(self) -> None:
        self.member = np.zeros(self.evidence.n_features, dtype=np.bool_)

    @property
    def n_trees(self) -> int:
        """Trees so far."""
        return len(self.sizes)

    def add(self, outcome: Outcome, test: RelevanceTest, check: bool) -> None:
        """Take a tree into account, and let in what passes the test."""
        self.evidence.add(outcome, self.member)
        self.trees.append(outcome.arrays)
        if check:
            self.let_in(test)
        self.sizes.append(len(self.found))

    def let_in(self, test: RelevanceTest) -> None:
        """Let in what passes the test."""
        new = np.flatnonzero(test.passes(self.evidence) & ~self.member)
        self.member[new] = True
        self.found += new.tolist()
        self.entered += [self.evidence.n_trees] * len(new)


def search(
    grower: Grower,
    plan: Plan,
    test: RelevanceTest,
    state: State,
    *,
    workers: Workers,
    checkpoint: Path | None,
    identity: Mapping[str, Any],
    function: str,
    progress: Callable[[State], object] | None = None,
) -> None:
    """Run algorithm 7.1 of the thesis, or go on with a run that was stopped.

    A tree depends on the seed, its number and what was found before its round alone, so that
    neither the threads nor a stop change anything. The state, at first without trees, has what is
    done also where Ctrl-C ends the search.
    """
    # A test reads all p features: on many, not after each tree, but as soon as a fiftieth of
    # them has been given to trees.
    every = max(1, grower.data.n_columns // (50 * plan.size))
    kept_in = Checkpoint(checkpoint, _KIND, identity_of(identity), function, _INTERVAL)
    store = _Rounds(kept_in)

    def take(outcome: Outcome) -> None:
        last = state.n_trees + 1 == plan.n_trees
        with uninterrupted():
            state.add(outcome, test, last or (state.n_trees + 1) % every == 0)

    with kept_in.held():
        kept = store.read(grower.n_probes)
        done = 0  # trees of whole rounds
        try:
            with workers.running(grower.grow) as grow:
                while state.n_trees < plan.n_trees and not _settled(state, plan):
                    numbers = range(done, min(done + plan.batch, plan.n_trees))
                    for outcome in _round(grower, plan, state, numbers, kept, grow):
                        take(outcome)
                        store.note(outcome)
                    done = state.n_trees
                    if progress is not None:
                        progress(state)
                    store.write_now_and_then(state)
        finally:  # also after an error or Ctrl-C: what is done stays
            store.write(state, whole_rounds=done)


def _round(
    grower: Grower,
    plan: Plan,
    state: State,
    numbers: range,
    kept: _Kept | None,
    grow: Run,
) -> Iterator[Outcome]:
    """Return the trees of a round, from an earlier run if it had all of them, or grown."""
    subspaces = [_draw(grower, plan, state, number) for number in numbers]
    if kept is not None and numbers.stop <= len(kept):
        return map(kept.outcome, numbers, subspaces)
    known = [state.member[columns] for columns in subspaces]
    return grow(zip(numbers, subspaces, known, strict=True))


def _settled(state: State, plan: Plan) -> bool:
    if plan.patience is None or state.n_trees < plan.patience:
        return False
    newest = state.entered[-1] if state.entered else 0
    return state.n_trees - newest >= plan.patience


def _draw(grower: Grower, plan: Plan, state: State, number: int) -> IntArray:
    random, p = stream(grower.seed, number, 0), grower.data.n_columns
    if plan.soft:
        weights = state.evidence.mean_when_drawn()[:p]
        return grower.with_shadows(by_weight(random, weights, plan.size, plan.places))
    found = np.array(state.found, dtype=np.int64)
    return grower.with_shadows(among_found(random, found, p, plan.size, plan.places))


class _Kept:
    """Trees of an earlier run."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], n_probes: int) -> None:
        self._n_probes = n_probes
        self._trees = separated({name: arrays[name] for name in ARRAY_NAMES})
        self._offsets = arrays["outcome_offsets"]
        self._places = arrays["outcome_places"]
        self._values = arrays["outcome_values"]
        self._widths = arrays["outcome_widths"]

    def __len__(self) -> int:
        return len(self._trees)

    def outcome(self, tree: int, columns: IntArray) -> Outcome:
        """Return the outcome of a tree for these columns."""
        some = slice(int(self._offsets[tree]), int(self._offsets[tree + 1]))
        values = np.zeros(int(self._widths[tree]))
        values[self._places[some]] = self._values[some]
        q, m = len(columns), self._n_probes
        probes, excess = values[q : q + m], values[q + m :]
        return Outcome(columns, values[:q], probes, excess, self._trees[tree])


class _Rounds:
    """Trees of whole rounds with the importances in each, on disk."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._values: list[NDArray[np.float64]] = []
        self._written = 0

    def read(self, n_probes: int) -> _Kept | None:
        arrays = self._checkpoint.read()
        if arrays is None:
            return None
        kept = _Kept(arrays, n_probes)
        self._written = len(kept)
        return kept

    def note(self, outcome: Outcome) -> None:
        if self._checkpoint.wanted:
            self._values.append(np.concatenate([outcome.values, outcome.probes, outcome.excess]))

    def write_now_and_then(self, state: State) -> None:
        if self._checkpoint.due:
            self.write(state, whole_rounds=state.n_trees)

    def write(self, state: State, *, whole_rounds: int) -> None:
        """Keep the trees of whole rounds, unless as many are kept already."""
        if not self._checkpoint.wanted or whole_rounds <= self._written:
            return
        values = self._values[:whole_rounds]
        places = [np.flatnonzero(one) for one in values]
        self._checkpoint.write(
            {
                **joined(state.trees[:whole_rounds]),
                "outcome_offsets": np.cumsum([0, *map(len, places)]),
                "outcome_places": np.concatenate(places),
                "outcome_values": np.concatenate(
                    [one[place] for one, place in zip(values, places, strict=True)]
                ),
                "outcome_widths": np.array([len(one) for one in values]),
            }
        )
        self._written = whole_rounds
