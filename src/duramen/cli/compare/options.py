"""Options of `duramen compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duramen.analyses.defaults import COMPARED_TREES
from duramen.cli.declaration import choice, group, option
from duramen.cli.options import Printed, Work
from duramen.cli.sampling import SampledInput

COMMAND = "compare"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Methods, and how they are evaluated."""

    selector: tuple[str, ...] = option(
        (),
        "Selector of duramen select, with its defaults, or all-features; repeat for more.",
        metavar="NAME",
    )
    measure: tuple[str, ...] = option(
        (),
        "Importance measure of duramen rank, evaluated with its first --features; repeat for "
        "more. Without --selector and --measure: mdi, mda and all-features.",
        metavar="NAME",
    )
    features: tuple[int, ...] = option(
        (),
        "Number of features to keep from the top of a ranking; repeat for more. By default 1, 2, "
        "5, 10, 20, 50, ... below the number of columns.",
        metavar="K",
        parameter="n_features",
    )
    trees: int = option(
        COMPARED_TREES, "Number of trees of the forests that rank and predict.", metavar="T", min=1
    )
    learner: str = choice(
        "forest",
        "duramen.evaluation.learners:catalogue",
        "Learner that predicts from the features selected.",
    )
    score: tuple[str, ...] = option(
        (),
        "Score of the predictions: balanced-accuracy, auc or r2; repeat for more. By default "
        "balanced-accuracy for classes and r2 for numbers.",
        metavar="NAME",
    )
    resamples: int = option(
        50,
        "Number of random splits into training and test rows.",
        metavar="B",
        min=2,
        parameter="n_resamples",
    )
    test: str = option(
        "0.1", "Number of test rows, or their fraction.", metavar="M", parameter="test_size"
    )
    selection: str = choice(
        "inside",
        "duramen.evaluation.selections:SELECTIONS",
        "Rows on which features are selected: the training rows (inside), or all rows (outside), "
        "which biases the scores upward.",
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `duramen compare`."""

    input: SampledInput = group(SampledInput, "Data")
    evaluation: Evaluation = group(Evaluation, "Evaluation")
    work: Work = group(Work, "Run")
    output: Printed = group(Printed, "Results", out=Path("duramen-compare"))
