"""What the user may ask of `duramen context`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from duramen.cli.exact import Missing
from duramen.cli.options import Task
from duramen.cli.reading import Reading


class Empty(StrEnum):
    """What becomes of nodes without rows of a context."""

    skip = "skip"
    zero = "zero"


class Splits(StrEnum):
    """Families of splits."""

    auto = "auto"
    multiway = "multiway"
    ordered = "ordered"


class Permute(StrEnum):
    """Rows that exchange contexts."""

    within_target = "within-target"
    all = "all"


class ControlName(StrEnum):
    """Error rates."""

    fdr = "fdr"
    fwer = "fwer"
    none = "none"


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    file: Path | None
    target: str | None
    contexts: tuple[str, ...]
    network: bool
    targets: tuple[str, ...]
    demo: bool
    task: Task
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    reading: Reading
    missing: Missing
    trees: int
    permutations: int
    permute: Permute
    strata: str | None
    blocks: str | None
    propensity_strata: int | None
    empty: Empty
    criterion: str
    splits: Splits
    bins: int | None
    context_bins: int
    max_features: int
    max_depth: int | None
    plain_p_values: bool
    tolerance: float
    alpha: float
    control: ControlName
    checkpoint: Path | None
    seed: int
    jobs: int
    out: Path
    top: int
    spreadsheet_safe: bool
    quiet: bool

    def labels(self) -> dict[str, str]:
        """Return the columns of strata and blocks, by the name of the option."""
        given = {"strata": self.strata, "blocks": self.blocks}
        return {option: name for option, name in given.items() if name is not None}
