"""Options of `duramen network`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duramen.cli.declaration import argument, choice, group, option
from duramen.cli.options import Printed, Work
from duramen.cli.reading import Reading

COMMAND = "network"


@dataclass(frozen=True, kw_only=True)
class Expression:
    """Expression of genes, and the genes that may have links."""

    file: Path | None = argument(
        None,
        "File with the expression of genes in samples, or a folder made by duramen pack.",
        formats=("read", "groups", "columns"),
        metavar="FILE",
    )
    genes: str = choice(
        "columns",
        "duramen.networks.variables:GENES",
        "Orientation of the table: genes in columns, or in rows, where the first column may "
        "hold the gene names.",
    )
    regulators: tuple[str, ...] = option(
        (),
        "Gene that may regulate others, or a file of names, one per line; repeat for more. By "
        "default, all genes.",
        metavar="NAME",
    )
    targets: tuple[str, ...] = option(
        (),
        "Gene that may be regulated, or a file of names, one per line; repeat for more. By "
        "default, all genes.",
        metavar="NAME",
    )
    drop: tuple[str, ...] = option(
        (), "Column to leave out; repeat for more.", metavar="NAME", record="dropped"
    )
    keep_identifiers: bool = option(
        False,
        "Analyze columns that have a different value in each row, such as sample numbers; by "
        "default they are left out, with a note.",
        echo="changed",
    )
    gold: Path | None = option(
        None,
        "File of known links to score the network against: columns of source, target and, if "
        "there is a third, 1 for links and 0 for other pairs.",
        metavar="FILE",
    )
    demo: bool = option(False, "Use a simulated network of 50 genes, in place of FILE and --gold.")
    reading: Reading = group(Reading)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Forests of the targets, and the weights of links."""

    forest: str = choice(
        "random_forest", "duramen.networks.targets:forest_names", "Kind of forest."
    )
    trees: int = option(
        1000, "Number of trees for each target.", metavar="T", min=1, parameter="n_estimators"
    )
    max_features: str = option(
        "auto",
        "Number of regulators tried at a node: auto, sqrt, log2, all, a number or a fraction; auto "
        "is a third of them.",
        metavar="K",
    )
    min_samples_leaf: int | None = option(
        None, "Minimum number of samples in a leaf; 1 by default.", metavar="N", min=1
    )
    max_depth: int | None = option(
        None, "Maximum depth of the trees; no limit by default.", metavar="D", min=1
    )
    measure: str = choice(
        "mdi",
        "duramen.networks.targets:measure_names",
        "Importance measure that weights links.",
    )
    normalization: str = choice(
        "unit",
        "duramen.networks.targets:NORMALIZATIONS",
        "Scale of the weights: targets scaled to unit variance or entropy (unit), weights of "
        "each target scaled to add up to 1 (sum), or the unit of each target (none).",
    )
    source_scaling: str = choice(
        "variance",
        "duramen.networks.targets:SOURCE_SCALINGS",
        "Multiply the weights of a regulator by their variance over the targets, so that links "
        "of regulators of many genes rank higher; none is GENIE3 as published.",
    )
    permutations: int = option(
        0,
        "Number of permutations of each target for the p-values of links; 0 for no p-values.",
        metavar="B",
        min=0,
        parameter="n_permutations",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen network`."""

    input: Expression = group(Expression, "Data")
    scores: Scores = group(Scores, "Forests")
    links: int = option(
        100_000,
        "Number of links in the results, those of the largest weights.",
        metavar="N",
        min=1,
        section="Results",
    )
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-network"))
