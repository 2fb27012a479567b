r"""Simulation of random subspaces: any scenario, fraction kept and number of candidates K.

What is simulated is the simplified tree growth of Sutera et al. 2018 (thesis, appendix 7.B.1; the
mixed setting of the slides of Geurts 2016), with infinitely many rows:

* a relevant feature comes with one or more minimal conditionings: sets of other relevant features.
  It is informative on the target, or *active*, as soon as all of one of these sets has
  been tested above it, and it stays so (no masking: all relevant features are strongly relevant);
* a tree tests one feature a level. Of the features of its subspace that are not yet tested it draws
  K at random; it takes one of the active ones among them, all being equally likely, and if there is
  none, one of the K at random: they all tie at zero;
* a feature is found when it is taken while active.

With K = q this is the model of the paper: chains find all that can be found, cliques one feature a
tree. A smaller K lets features be used up before they are active.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from duramen.results.summary import Summarized, Summary
from duramen.support.arrays import BoolArray, FloatArray, IntArray
from duramen.support.checks import check_choice, check_integer, check_real, is_integer, refuse
from duramen.theory.subspaces.convergence import kept_places

# For each relevant feature its minimal conditionings, each a set of indices of relevant features.
Conditionings = Sequence[Sequence[Collection[int]]]
RandomState = int | np.random.Generator | None


def random_conditionings(
    n_relevant: int, *, max_degree: int = 5, random_state: RandomState = None
) -> Conditionings:
    """Draw degrees and minimal conditionings of relevant features: the mixed setting.

    Each degree is uniform on 0..`max_degree`. A feature of degree k has one minimal conditioning, k
    features drawn from the others whose degree is at most k, as it must be (thesis, Proposition
    5.2). Degrees for which there are not enough such others are drawn again, all of them.

    Parameters
    ----------
    n_relevant : int
        Number r of relevant features.
    max_degree : int, default=5
        Largest degree, below r.
    random_state : int, Generator or None, default=None
        Seed, for the same draw again.

    Returns
    -------
    tuple
        One entry a feature: a tuple of its one conditioning, a frozen set of indices.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    Geurts 2016, slide on the mixed setting: r = 20, largest degree 5; they do not state how degrees
    and conditionings are drawn.

    Examples
    --------
    >>> from duramen.theory.subspaces import random_conditionings
    >>> mixed = random_conditionings(4, max_degree=2, random_state=0)
    >>> [len(given) for (given,) in mixed]
    [2, 1, 1, 0]
    """
    function = "random_conditionings"
    r = check_integer(function, "n_relevant", n_relevant, 1)
    top = check_integer(
        function, "max_degree", max_degree, 0, most=r - 1, hint="a degree counts other features"
    )
    rng = np.random.default_rng(random_state)
    while True:
        degrees = rng.integers(0, top + 1, r)
        no_higher = np.searchsorted(np.sort(degrees), degrees, side="right")
        if np.all(no_higher - 1 >= degrees):
            break
    chosen = []
    for m, degree in enumerate(degrees):
        others = np.flatnonzero((degrees <= degree) & (np.arange(r) != m))
        chosen.append((frozenset(rng.choice(others, degree, replace=False).tolist()),))
    return tuple(chosen)


# Features of trees that are grown side by side, to bound the memory.
_CELLS = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Summarized):
    """Tree that found each relevant feature, in each of R simulated ensembles.

    Parameters
    ----------
    found_at : ndarray of int64, shape (R, r)
        Number of the tree, from 1 on, that found each feature; ``n_trees + 1`` if none did.
    degrees : ndarray of int64, shape (r,)
        Degree of each relevant feature.
    n_features, subspace, max_features, n_trees : int
        Numbers p, q and K, and the number of trees of each ensemble.
    keep : float
        Fraction of the subspace that may be taken by features found before.
    power : float, default=1
        Probability that a tree finds a feature that it takes while active.

    Examples
    --------
    >>> from duramen.theory.subspaces import simulate
    >>> setting = dict(n_features=100, subspace=50, n_relevant=2, keep=1, n_trees=200)
    >>> found = simulate("chain", **setting, random_state=0)
    >>> found.n_repeats, found.degrees.tolist(), found.curve.shape
    (200, [0, 1], (201,))
    """

    found_at: IntArray
    degrees: IntArray
    n_features: int
    subspace: int
    max_features: int
    n_trees: int
    keep: float
    power: float = 1.0

    @property
    def n_repeats(self) -> int:
        """Number R of simulated ensembles."""
        return int(self.found_at.shape[0])

    @property
    def n_relevant(self) -> int:
        """Number r of relevant features."""
        return int(self.found_at.shape[1])

    @property
    def curve(self) -> FloatArray:
        """Mean number of features found after 0 .. n_trees trees, shape (n_trees + 1,)."""
        return self._sums(np.ones(self.n_relevant)) / self.n_repeats

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of `curve`, shape (n_trees + 1,); not a number for one replicate."""
        R = self.n_repeats
        if R < 2:
            return np.full(self.n_trees + 1, np.nan)
        # The k-th feature found raises the square of the number found from (k-1)^2 to k^2.
        squares = self._sums(np.arange(1.0, 2.0 * self.n_relevant, 2.0))
        variance = np.maximum(squares / R - self.curve**2, 0.0) * R / (R - 1)
        return np.asarray(np.sqrt(variance / R))

    @property
    def feature_curves(self) -> FloatArray:
        """Fraction of the ensembles that had found each feature, shape (n_trees + 1, r)."""
        fractions = [self._counts(self.found_at[:, m]) for m in range(self.n_relevant)]
        return np.stack(fractions, axis=1) / self.n_repeats

    def expected_trees(self) -> tuple[float, float]:
        """Return the mean number of trees until all are found, and its standard error.

        Raises
        ------
        ValueError
            If some ensemble has not found all within its trees: its number is not known.
        """
        last = self.found_at.max(axis=1)
        complete = int(np.count_nonzero(last <= self.n_trees))
        if complete < self.n_repeats:
            raise ValueError(
                f"Simulation.expected_trees: {complete} of {self.n_repeats} ensembles found all "
                f"{self.n_relevant} features within {self.n_trees} trees. Hint: raise n_trees; or "
                "some feature cannot be found at all (K too small, its degree not below q, or all "
                "places taken)."
            )
        error = last.std(ddof=1) / np.sqrt(last.size) if last.size > 1 else np.nan
        return float(last.mean()), float(error)

    def _sums(self, weight_of_rank: FloatArray) -> FloatArray:
        """Sum over ensembles, at each tree, the weights of the first, second, .. feature found."""
        ordered = np.sort(self.found_at, axis=1)
        return self._counts(ordered.ravel(), np.tile(weight_of_rank, self.n_repeats))

    def _counts(self, trees: IntArray, weights: FloatArray | None = None) -> FloatArray:
        counts = np.bincount(trees, weights, minlength=self.n_trees + 2)
        return np.asarray(np.cumsum(counts[: self.n_trees + 1], dtype=np.float64))

    def _summary(self, rows: int) -> Summary:
        all_found = self.found_at <= self.n_trees
        complete = int(np.count_nonzero(all_found.all(axis=1)))
        return Summary(
            (
                f"Simulation: {self.n_repeats} ensembles of {self.n_trees} trees, "
                f"p={self.n_features}, q={self.subspace}, K={self.max_features}, "
                f"keep={self.keep:g}" + (f", power={self.power:g}" if self.power < 1 else ""),
                f"{all_found.sum(axis=1).mean():.4g} of {self.n_relevant} relevant features found "
                f"on average; all of them in {complete} ensembles",
            )
        )


# --- the simulation -------------------------------------------------------------------------------


def simulate(
    scenario: str | Conditionings,
    *,
    n_features: int,
    subspace: int,
    keep: float,
    n_trees: int,
    n_relevant: int | None = None,
    max_features: int | None = None,
    power: float = 1.0,
    n_repeats: int = 200,
    random_state: RandomState = None,
) -> Simulation:
    """Simulate ensembles of trees on random subspaces.

    The model of tree growth is the module's: one feature a level, drawn from the active ones among
    K candidates. It has infinitely many rows, so that a feature that is taken while active is
    found; with `power` below 1 it is found with that probability, as by a test on finitely many
    rows.

    Parameters
    ----------
    scenario : {"chain", "clique", "marginal"} or sequence
        A named scenario, with `n_relevant`; or for each relevant feature the list of its minimal
        conditionings, each a set of indices of other relevant features: ``[[()], [{0}]]`` is a
        chain of two. See also `random_conditionings`.
    n_features : int
        Number p of features.
    subspace : int
        Number q of features that a tree is grown on.
    keep : float
        Fraction of the subspace, in [0, 1], that may be taken by features found before.
    n_trees : int
        Number of trees of each ensemble.
    n_relevant : int, optional
        Number r of relevant features of a named scenario.
    max_features : int, optional
        Number K of candidates at each level, at most q; by default q.
    power : float, default=1
        Probability, in (0, 1], that a tree finds a feature that it takes while active.
    n_repeats : int, default=200
        Number R of ensembles.
    random_state : int, Generator or None, default=None
        Seed, for the same result again.

    Returns
    -------
    Simulation

    Raises
    ------
    ValueError
        If a parameter is out of its range, or a conditioning names a feature that is not there.

    Notes
    -----
    Features found change only when one is found. So a batch of trees is grown from what an ensemble
    has found, and those after the first that finds something new are thrown away.

    In cliques, where a tree finds one feature at the most, the mean number of trees is that of
    `expected_trees` divided by `power`. False discoveries, which would take places, are not
    simulated. Relaxed hypotheses are future work in the thesis (Sutera 2019, section 7.5).

    Examples
    --------
    >>> from duramen.theory.subspaces.simulation import simulate
    >>> chain = simulate("chain", n_relevant=3, n_features=1000, subspace=50, keep=1,
    ...                  n_trees=500, random_state=0)
    >>> mean, error = chain.expected_trees()  # exactly 59.24
    >>> abs(mean - 59.24) < 3 * error
    True
    """
    function = "simulate"
    p = check_integer(function, "n_features", n_features, 1, most=inf)
    q = check_integer(
        function, "subspace", subspace, 1, most=p, hint="it holds at most all features"
    )
    if not isinstance(scenario, str | Sequence) or not scenario:
        allowed = "'chain', 'clique', 'marginal', or for each relevant feature its conditionings"
        raise refuse(function, "scenario", allowed, scenario)
    if isinstance(scenario, str):
        check_choice(function, "scenario", scenario, ("chain", "clique", "marginal"))
        r = check_integer(function, "n_relevant", n_relevant, 1)
        needed: dict[str, list[set[int]]] = {
            "chain": [set(range(m)) for m in range(r)],
            "clique": [set(range(r)) - {m} for m in range(r)],
            "marginal": [set() for _ in range(r)],
        }
        scenario = [(members,) for members in needed[scenario]]
    elif n_relevant not in (None, len(scenario)):
        allowed = f"{len(scenario)} (one a conditioning) or None"
        raise refuse(function, "n_relevant", allowed, n_relevant)
    if len(scenario) > p:
        raise refuse(function, "n_features", f"at least the {len(scenario)} relevant features", p)
    K = q
    if max_features is not None:
        hint = "a tree sees q features"
        K = check_integer(function, "max_features", max_features, 1, most=q, hint=hint)
    power = check_real(function, "power", power, 0.0, 1.0, ends="(]")
    grower = _Grower(scenario, p, q, K, power, np.random.default_rng(random_state))
    found_at = _ensembles(
        grower,
        kept_places(q, check_real(function, "keep", keep, 0.0, 1.0)),
        check_integer(function, "n_trees", n_trees, 0, most=inf),
        check_integer(function, "n_repeats", n_repeats, 1),
    )
    return Simulation(
        found_at=found_at,
        degrees=np.minimum.reduceat(grower.sizes, grower.starts).astype(np.int64),
        n_features=p,
        subspace=q,
        max_features=K,
        n_trees=int(n_trees),
        keep=float(keep),
        power=power,
    )


def _ensembles(grower: _Grower, places: int, n_trees: int, n_repeats: int) -> IntArray:
    """Return the tree that found each feature in each ensemble, shape (R, r)."""
    r = len(grower.holds)
    found_at = np.full((n_repeats, r), n_trees + 1, dtype=np.int64)
    relevant = np.zeros((n_repeats, r), dtype=bool)
    grown = np.zeros(n_repeats, dtype=np.int64)
    active = np.arange(n_repeats)
    batch = 4
    while n_trees and active.size:
        batch = max(1, min(batch, n_trees, _CELLS // (active.size * r)))
        new = grower.found_by_trees(np.repeat(relevant[active], batch, axis=0), places)
        lucky = new.any(axis=1).reshape(active.size, batch)
        hit = lucky.any(axis=1)
        first = lucky.argmax(axis=1)
        grown[active] += np.where(hit, first + 1, batch)
        hit &= grown[active] <= n_trees
        which = active[hit]
        fresh = new.reshape(active.size, batch, r)[hit, first[hit]]
        relevant[which] |= fresh
        found_at[which] = np.where(fresh, grown[which, np.newaxis], found_at[which])
        # Batches as long as it takes some to find something.
        fraction = which.size / active.size
        batch = batch * 2 if fraction < 0.25 else batch // 2 if fraction > 0.75 else batch
        active = active[(grown[active] < n_trees) & ~relevant[active].all(axis=1)]
    return found_at


class _Grower:
    """Trees grown side by side, with the features that each of them finds."""

    def __init__(
        self,
        conditionings: Conditionings,
        p: int,
        q: int,
        K: int,
        power: float,
        rng: np.random.Generator,
    ) -> None:
        r = len(conditionings)
        for m, sets in enumerate(conditionings):
            valid = isinstance(sets, Sequence) and bool(sets)
            valid = valid and all(
                isinstance(members, Collection)
                and all(is_integer(j) and 0 <= j < r and j != m for j in members)
                for members in sets
            )
            if not valid or any(set(b) < set(a) for a in sets for b in sets):
                allowed = (
                    f"a list of minimal sets of indices in 0..{r - 1}, without {m} itself, "
                    "none within another"
                )
                raise refuse("simulate", f"conditionings[{m}]", allowed, sets)
        sets = [members for some in conditionings for members in some]
        self.starts = np.cumsum([0, *map(len, conditionings[:-1])])  # first set of each feature
        self.holds = np.zeros((r, len(sets)), dtype=bool)  # which features each set has
        for column, members in enumerate(sets):
            self.holds[list(map(int, members)), column] = True
        self.sizes = self.holds.sum(axis=0).astype(np.int16)
        self.p, self.q, self.power, self.rng = p, q, power, rng
        # With K = q every active feature is a candidate: levels of irrelevant features, which come
        # before and after, do not matter and are left out.
        self.skips_irrelevant = all_candidates = q == K
        levels, most_active = min(q, r) if all_candidates else q, min(q, r)
        # C(u-a, K) / C(u, K), the probability that none of a active features of u unused ones is
        # among the K candidates; 0 when u - a < K.
        unused = np.arange(levels + 1, dtype=np.float64)
        self.none_active = np.ones((levels + 1, most_active + 1))
        for a in range(1, most_active + 1):
            factor = np.maximum(unused - K - a + 1, 0.0) / np.maximum(unused - a + 1, 1.0)
            self.none_active[:, a] = self.none_active[:, a - 1] * factor

    def found_by_trees(self, relevant: BoolArray, places: int) -> BoolArray:
        """Return the features that N new trees find beyond `relevant`, shape (N, r)."""
        new = np.zeros_like(relevant)
        crowded = relevant.sum(axis=1) > places
        drawn = relevant.copy()
        drawn[crowded] = self._some_of(relevant[crowded], np.full(crowded.sum(), places))
        taken = drawn.sum(axis=1)
        r = len(self.holds)
        more = self.rng.hypergeometric(r - taken, self.p - r, self.q - taken)
        tree = np.flatnonzero(more)
        held = drawn[tree] | self._some_of(~drawn[tree], more[tree])
        useful = (held & ~relevant[tree]).any(axis=1)
        tree, held = tree[useful], held[useful]
        new[tree] = self._grow(held, held & ~relevant[tree])
        if self.power < 1:
            new &= self.rng.random(new.shape) < self.power
        return new

    def _some_of(self, pool: BoolArray, number: IntArray) -> BoolArray:
        """Choose `number` members of each row of `pool` at random."""
        keys = np.where(pool, self.rng.random(pool.shape), 2.0)
        ranks = keys.argsort(axis=1).argsort(axis=1)
        return np.asarray(ranks < number[:, np.newaxis])

    def _grow(self, held: BoolArray, wanted: BoolArray) -> BoolArray:
        """Return the `wanted` features that each tree finds among its features."""

        def satisfied(missing: NDArray[np.int16]) -> BoolArray:
            """Return the features with a complete conditioning set."""
            return np.logical_or.reduceat(missing == 0, self.starts, axis=1)

        useful_features = np.zeros_like(held)
        tree = np.arange(len(held))
        unused = held.copy()
        missing = np.tile(self.sizes, (len(held), 1))
        irrelevant = self.q - held.sum(axis=1)
        if self.skips_irrelevant:
            irrelevant[:] = 0
        active = unused & satisfied(missing)
        n_active, n_idle = active.sum(axis=1), (unused & ~active).sum(axis=1)
        while tree.size:
            left = n_idle + irrelevant
            takes_active = self.rng.random(tree.size) >= self.none_active[n_active + left, n_active]
            takes_idle = ~takes_active & (self.rng.random(tree.size) * left < n_idle)
            takes_relevant = takes_active | takes_idle
            irrelevant -= ~takes_relevant & (irrelevant > 0)
            row = np.flatnonzero(takes_relevant)
            useful = takes_active[row]
            pool = np.where(useful[:, np.newaxis], active[row], unused[row] & ~active[row])
            feature = np.where(pool, self.rng.random(pool.shape), -1.0).argmax(axis=1)
            useful_features[tree[row[useful]], feature[useful]] = True
            unused[row, feature] = False
            missing[row] -= self.holds[feature]
            active[row] = unused[row] & satisfied(missing[row])
            n_active[row] = active[row].sum(axis=1)
            n_idle[row] = unused[row].sum(axis=1) - n_active[row]
            going = (unused & wanted[tree]).any(axis=1)
            if np.count_nonzero(going) < 0.8 * tree.size or not going.any():
                tree, unused, missing, active = (
                    tree[going],
                    unused[going],
                    missing[going],
                    active[going],
                )
                irrelevant, n_active, n_idle = irrelevant[going], n_active[going], n_idle[going]
        return useful_features & wanted
