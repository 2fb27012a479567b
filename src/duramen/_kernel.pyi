from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.uint32]
Nodes: TypeAlias = NDArray[np.int32]
Progress: TypeAlias = Callable[[int], object]

def digest(bytes: Bytes) -> tuple[int, int]: ...

# encode

SPARSE_ROWS: int

def sparse_density(of_table: float) -> float: ...

class ColumnEncoder:
    def __init__(self, n_rows: int, n_threads: int = 1) -> None: ...
    def add(self, columns: list[NDArray[np.generic]]) -> int: ...
    def add_matrix(self, matrix: NDArray[np.generic]) -> int: ...
    def add_sparse(
        self, starts: Ints, rows: NDArray[np.generic], values: NDArray[np.generic]
    ) -> int: ...
    def add_codes(self, codes: Numbers, n_values: int, missing: bool) -> None: ...
    def finish(
        self,
    ) -> tuple[
        tuple[Bytes, NDArray[np.uint16], Numbers],
        tuple[NDArray[np.uint64], Numbers, Bytes, Ints, Bytes, NDArray[np.uint16], Numbers],
        Bytes,
        Ints,
        Floats,
        Ints,
        Bytes,
    ]: ...

# objects: arrays are lent, checked once, and used by any number of calls

class Schema:
    def __init__(
        self, cut_values: Floats, value_offsets: Ints, kinds: Bytes, missing: Bytes
    ) -> None: ...

class Rows: ...

class SparseColumns:
    def __init__(
        self,
        n_rows: int,
        bits: NDArray[np.uint64],
        frequent: Numbers,
        width: Bytes,
        begin: Ints,
        entries8: Bytes,
        entries16: NDArray[np.uint16],
        entries32: Numbers,
    ) -> None: ...

class Table(Rows):
    def __init__(
        self,
        schema: Schema,
        block8: Bytes,
        block16: NDArray[np.uint16],
        block32: Numbers,
        block_of: Bytes,
        slot: Ints,
        sparse: SparseColumns | None = None,
    ) -> None: ...
    def digest(self, width: int) -> tuple[int, int, int]: ...

class Values(Rows):
    def __init__(self, schema: Schema, values: Floats) -> None: ...

class Target:
    def __init__(
        self, values: Numbers | NDArray[np.uint64] | Floats, n_classes: int, n_times: int = 0
    ) -> None: ...

class Forest:
    def __init__(
        self,
        *,
        offsets: Ints,
        leaf_offsets: Ints,
        pool_offsets: Ints,
        feature: Nodes,
        child: Nodes,
        cut: Numbers,
        threshold: Floats,
        split: Bytes,
        pool: Numbers,
        rows: Numbers,
        node_degree: Numbers,
        node_weight: Floats,
        impurity: Floats,
        leaf_values: Floats,
    ) -> None: ...

class Bag:
    def __init__(
        self,
        *,
        row_samples: int,
        bootstrap: bool,
        seed: int,
        first_tree: int,
        originals: Numbers | None = None,
        groups: Numbers | None = None,
        drawn: Numbers | None = None,
    ) -> None: ...
    def draw(self, n_rows: int, tree: int) -> Numbers: ...

# growth

class Settings:
    def __init__(
        self,
        *,
        criterion: int,
        cut: int,
        splits: int,
        max_features: int,
        count_constants: bool,
        max_depth: int,
        min_samples_split: int,
        min_samples_leaf: int,
        min_impurity_decrease: float,
        min_impurity_split: float,
        max_leaf_nodes: int,
        stop_alpha: float,
        stop_permutations: int,
        n_best_splits: int,
        feature_first: bool,
        bootstrap: bool,
        row_samples: int,
        column_samples: int,
        balanced_subsample: bool,
    ) -> None: ...

class TreeRange:
    def __init__(
        self, *, seed: int, first: int, count: int, groups: Numbers | None = None
    ) -> None: ...

class Patches:
    def __init__(
        self,
        target: Target,
        weights: Floats | None,
        settings: Settings,
        seed: int,
        n_columns: int,
        groups: Numbers | None = None,
    ) -> None: ...
    def rows(self, tree: int) -> tuple[Numbers, Numbers]: ...
    def columns(self, tree: int) -> Numbers: ...
    def grow(self, table: Table, tree: int, rows: Numbers, multiplicity: Numbers) -> TreeArrays: ...

class Decoys:
    def __init__(self, cycle: Numbers, judged: Bools, bounds: Numbers) -> None: ...

class Guidance:
    def __init__(self, weight: Floats, factor: Floats | None, of_score: bool) -> None: ...

class TreeArrays:
    offsets: Final[Ints]
    leaf_offsets: Final[Ints]
    pool_offsets: Final[Ints]
    feature: Final[Nodes]
    child: Final[Nodes]
    cut: Final[Numbers]
    threshold: Final[Floats]
    split: Final[Bytes]
    pool: Final[Numbers]
    rows: Final[Numbers]
    node_degree: Final[Numbers]
    node_weight: Final[Floats]
    impurity: Final[Floats]
    leaf_values: Final[Floats]

def grow(
    table: Table,
    target: Target,
    weights: Floats | None,
    settings: Settings,
    trees: TreeRange,
    n_threads: int,
    progress: Progress | None,
) -> TreeArrays: ...
def grow_beside_decoys(
    table: Table,
    target: Target,
    weights: Floats | None,
    settings: Settings,
    trees: TreeRange,
    decoys: Decoys,
) -> tuple[TreeArrays, Floats]: ...
def grow_guided(
    table: Table,
    target: Target,
    weights: Floats | None,
    settings: Settings,
    trees: TreeRange,
    guidance: Guidance,
    n_threads: int,
    progress: Progress | None,
) -> TreeArrays: ...

# forests

def apply(forest: Forest, rows: Rows, n_threads: int, bag: Bag | None = None) -> Nodes: ...
def predict(forest: Forest, rows: Rows, n_threads: int) -> Floats: ...

class PathWeights:
    def __init__(self, bag: Bag, weighing: int, weights: Floats | None) -> None: ...

def path_changes(
    forest: Forest,
    rows: Rows,
    values: Floats,
    of_row: Numbers | None,
    weights: PathWeights,
    sparse: bool,
    n_threads: int,
) -> tuple[Floats, Floats, Floats, Ints, Nodes]: ...
def pair_interactions(
    forest: Forest, table: Table, bag: Bag, columns: Numbers, n_threads: int
) -> tuple[Floats, Floats]: ...
def path_pairs(forest: Forest, n_columns: int, n_threads: int) -> tuple[Nodes, Nodes, Floats]: ...

class OutOfBag:
    def __init__(self, n_rows: int, n_values: int) -> None: ...
    def add(
        self, forest: Forest, table: Table, target: Target, bag: Bag, n_threads: int
    ) -> None: ...
    def add_leaves(self, forest: Forest, leaves: Nodes, target: Target) -> None: ...
    def sums(self) -> tuple[Floats, Numbers, Floats]: ...

def proximity(leaves: Nodes, out: Bools | None, n_threads: int) -> Floats: ...

class Decreases:
    def __init__(self, n_columns: int, by_degree: bool, scored: bool) -> None: ...
    def add(self, forest: Forest) -> None: ...
    def means(self) -> tuple[Floats, Floats, Floats]: ...

def excess_information(forest: Forest, counts: Ints) -> Floats: ...
def weakest_links(forest: Forest) -> tuple[Floats, Floats, Ints]: ...

# survival

class LeafEvents:
    def __init__(
        self, offsets: Ints, time: Numbers, events: Numbers, at_risk: Numbers, n_times: int
    ) -> None: ...

def leaf_events(
    forest: Forest,
    table: Table,
    target: Target,
    weights: Floats | None,
    bag: Bag,
    n_threads: int,
) -> tuple[Ints, Numbers, Numbers, Numbers, Floats]: ...
def mean_curves(
    forest: Forest, leaves: LeafEvents, survival: bool, rows: Rows, n_threads: int
) -> Floats: ...
def out_of_bag_risks(
    forest: Forest, table: Table, target: Target, bag: Bag
) -> tuple[Floats, Numbers, Floats]: ...
def concordant_pairs(target: Target, risks: Floats) -> tuple[int, int, int]: ...

# permutations: of the rows out of the bags of the trees, or of all where there is no bag

class Permutations:
    def __init__(
        self,
        *,
        seed: int,
        first_repeat: int,
        n_repeats: int,
        every: bool,
        group_offsets: Ints | None,
        group_columns: Numbers | None,
        associated: Bytes | None,
        level: float | None,
        donors: Numbers | None,
    ) -> None: ...

class Projections:
    def __init__(self, *, masses: Floats, scale: float, min_rows: int) -> None: ...

class Counted:
    def __init__(self, *, score: int, by_class: bool, votes: bool) -> None: ...

def permutation_losses(
    forest: Forest,
    rows: Rows,
    target: Target,
    bag: Bag | None,
    permutations: Permutations,
    counted: Counted,
    n_threads: int,
    progress: Progress | None,
) -> tuple[Numbers, Floats, int, Ints, Ints]: ...
def permuted_ballots(
    forest: Forest,
    rows: Rows,
    target: Target,
    bag: Bag | None,
    permutations: Permutations,
    wanted: Numbers,
    scale: float,
    n_threads: int,
) -> tuple[Numbers, Ints, Ints]: ...
def projected_values(
    forest: Forest,
    rows: Table,
    bag: Bag,
    projections: Projections,
    group_offsets: Ints,
    group_columns: Numbers,
    n_threads: int,
) -> tuple[Numbers, Ints, Ints]: ...
def replaced_values(
    forest: Forest,
    rows: Rows,
    chosen: Numbers,
    group_offsets: Ints,
    group_columns: Numbers,
    donors: Numbers,
    scale: float,
    n_threads: int,
) -> tuple[Ints, Ints]: ...

# context

class Contexts:
    def __init__(
        self,
        *,
        codes: Numbers,
        count: int,
        empty_is_zero: bool,
        levels: Floats,
        seed: int,
        first: int,
        n_permutations: int,
        column: int = -1,
    ) -> None: ...

def context_effects(
    forest: Forest,
    table: Table,
    target: Target,
    contexts: Contexts,
    criterion: int,
    n_threads: int,
) -> tuple[Floats, Floats, Floats, Floats, Floats]: ...

# cultures

class Wiring:
    def __init__(self, *, offsets: Ints, targets: Numbers, jumps: Floats) -> None: ...

class NeuronModel:
    def __init__(
        self,
        *,
        membrane: float,
        synapse: float,
        feed: float,
        by_rise: float,
        by_current: float,
        threshold: float,
        refractory: int,
        delay: int,
        release: float,
        inactivation: float,
        recovery: float,
        ratio: float,
        noise_jump: float,
    ) -> None: ...

def simulate_spikes(
    wiring: Wiring,
    model: NeuronModel,
    noise: Floats,
    seed: int,
    n_steps: int,
    most: int,
) -> tuple[Numbers, Numbers]: ...
def rewire_links(
    source: Numbers, target: Numbers, n_neurons: int, goal: float, seed: int, tries: int
) -> tuple[Numbers, float]: ...
def scatter_light(
    signal: NDArray[np.float32], gain: NDArray[np.float32]
) -> NDArray[np.float32]: ...

# theory

LATTICE_DONE: int

class LatticeTable:
    def __init__(
        self,
        codes: Numbers,
        classes: Numbers,
        n_classes: int,
        weights: Floats | None,
        numbers: Floats | None,
        criterion: int,
    ) -> None: ...
    n_rows: Final[int]

def lattice(
    table: LatticeTable, depth: int, costs: Floats, n_threads: int, progress: Progress | None
) -> Floats: ...
def probe_lattice(
    table: LatticeTable, depth: int, sets: Numbers
) -> tuple[Floats, float, float]: ...
