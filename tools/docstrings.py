"""Compare the parameters in docstrings with texts that are written once, or write them.

    python tools/docstrings.py [--write]

Estimators: the texts are those of the docstring of ``BaseForest``, the defaults those of the
signatures, the names of criteria those of the catalogue. Functions that measure or test features:
the texts are those of ``SHARED``, except where a parameter means something else (``OWN``);
analyses: those of ``ANALYSES``.
"""

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duramen
from duramen.estimators.base import BaseForest
from duramen.estimators.catalogue import FORESTS
from duramen.forests.settings import CRITERIA

HEADING = "    Parameters\n    ----------\n"
BLOCK = re.compile(re.escape(HEADING) + r"(?:    \S.*\n(?:        \S.*\n)+)+")
ENTRY = re.compile(r"    (\S.*)\n((?:        \S.*\n)+)")

PACKAGES = ("duramen.importances", "duramen.significance", "duramen.contexts", "duramen.plots")
SHARED = {
    "estimator": ("estimator of duramen", "Parameters of the forests; it is cloned, not changed."),
    "forest": ("fitted estimator or Forest", "A forest of this package or of scikit-learn."),
    "X": ("table of shape (n, p), or LearningSet", "The rows."),
    "y": ("array-like of shape (n,), optional", "Classes or numbers; None with a learning set."),
    "measure": (
        "str or callable",
        "Name of a testable measure, or ``measure(forest, X, y)`` that returns importances. "
        '"auto" as in :func:`max_t`: "mdi_oob" if trees leave rows out, and trees of classes by '
        "entropy.",
    ),
    "strata": (
        "array-like of shape (n,), optional",
        "Stratum of each row; rows are exchanged within strata only.",
    ),
    "groups": (
        "array-like of shape (n,), optional",
        "Group of each row; the rows of a group stay together.",
    ),
    "random_state": ("int, RandomState, Generator or None", "Seed of all random numbers."),
    "n_jobs": ("int, optional", "Threads; the result does not depend on it."),
    "client": (
        "dask.distributed.Client, optional",
        "Cluster that does the work instead of threads; the result does not depend on it.",
    ),
    "checkpoint": (
        "path, optional",
        "File that keeps finished work: an interrupted run resumes from it, to the same bytes.",
    ),
    "verbose": ("int", "Above 0: a progress bar with the time left."),
    "ax": (
        "matplotlib.axes.Axes, optional",
        "Where to draw; a new figure by default, which is `ax.figure`.",
    ),
}
# The same for functions that `duramen.significance.permutations.reads_permuted` wraps.
READING = {
    "estimator": (
        "estimator of duramen, or PermutedImportances",
        "Parameters of the forests; it is cloned, not changed. Or the result of "
        "`permuted_importances`, in place of the data and of all other arguments that are about "
        "growing forests.",
    ),
    "X": ("table of shape (n, p), or LearningSet", "The rows; None with PermutedImportances."),
    "y": (
        "array-like of shape (n,), optional",
        "Classes or numbers; None with a learning set, and with PermutedImportances.",
    ),
}
# The same for `duramen.rank` and `duramen.select`.
ANALYSES = {
    "y": ("str or array-like of shape (n,), optional", "Target, where `data` is a table."),
    "random_state": SHARED["random_state"],
    "n_jobs": (
        "int, optional",
        "Number of threads; -1 for all processors. The result does not depend on it.",
    ),
    "checkpoint": (
        "path, optional",
        "File that saves the work done; the same call resumes a stopped run from it.",
    ),
    "verbose": ("int", "Above 0: progress bars."),
}
# Functions in which a parameter of these names means something more, or else.
OWN = {
    "estimator": {
        *("altmann", "fdr_curve", "max_t"),  # or the result of permuted_importances
        *("context_importances", "context_network", "mcfs", "mda"),
        *("prediction_change", "relative_influence", "knockoffs"),
    },
    "forest": {
        *("trees_needed", "vote_change", "interactions", "local_mdi", "mdi_plus", "sobol_mda"),
    },
    "X": {
        *("altmann", "fdr_curve", "max_t"),
        *("conditional_mda", "context_importances", "context_network"),
        *("mda", "mdi", "noising", "permutation_test", "probe_ranking"),
        *("representatives", "trees_needed", "vote_change", "clusters"),
        *("relative_influence", "prediction_change", "covariate_strata"),
        *("beeswarm", "interactions", "local_mdi", "mdi_plus", "sobol_mda"),
    },
    "y": {
        *("altmann", "fdr_curve", "max_t"),
        *("mcfs", "mdi", "permutation_test", "probe_ranking", "trees_needed", "vote_change"),
        *("covariate_strata", "prediction_change", "relative_influence"),
        "local_mdi",
    },
    "measure": {
        "confidence_intervals",
        "estimate_cost",
        "hapfelmeier",
        "max_t",
        "ranking_stability",
        "trees_needed",
    },
    "groups": {
        *("conditional", "confidence_intervals", "context_importances", "holdout_mda"),
        "ranking_stability",
    },
    "strata": {"conditional", "context_importances"},
    "random_state": {
        *("air", "conditional_mda", "holdout_mda", "mda", "noising", "sandri", "trees_needed"),
        *("vote_change", "prediction_change", "relative_influence"),
    },
    "n_jobs": {"context_network", "permutation_test"},
    "checkpoint": {"permutation_test"},
}


def entry(name: str, kind: str, text: str) -> str:
    """Return the lines of a parameter in a docstring."""
    lines = textwrap.fill(
        text, 100, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    return f"    {name} : {kind}\n{lines}\n"


def base_texts() -> dict[str, tuple[str, str]]:
    """Return the type and the description of each parameter of an estimator, by name."""
    block = BLOCK.search(inspect.getsource(BaseForest))
    assert block is not None
    entries = ENTRY.finditer(block[0].removeprefix(HEADING))
    return {
        match[1].partition(" : ")[0]: (match[1].partition(" : ")[2], " ".join(match[2].split()))
        for match in entries
    }


def parameter_block(kind: type) -> str:
    """Return the section of parameters that the docstring of an estimator must have."""
    lines, texts = [], base_texts()
    criteria = [criterion for criterion in CRITERIA.values() if criterion.task == kind.task]
    meanings = [
        " or ".join(f'"{alias}"' for alias in criterion.aliases) + f" for the {criterion.title}"
        for criterion in criteria
    ]
    names = ", ".join(f'"{alias}"' for criterion in criteria for alias in criterion.aliases)
    texts["criterion"] = (f"{{{names}}}", f"Impurity: {', '.join(meanings)}.")
    for name, parameter in inspect.signature(kind).parameters.items():
        default = (
            f'"{parameter.default}"' if isinstance(parameter.default, str) else parameter.default
        )
        allowed, text = texts[name]
        lines.append(entry(name, f"{allowed}, default={default}", text))
    return HEADING + "".join(lines)


def shared_block(function: Callable[..., Any], block: str) -> str:
    """Return the section of parameters of a function with the shared texts in it.

    Entries of several names without a type, such as ``a, b`` "As for ...", stay as they are.
    """
    lines = []
    texts = texts_of(function)
    for match in ENTRY.finditer(block.removeprefix(HEADING)):
        names, _, kind = match[1].partition(" : ")
        own = [name for name in names.split(", ") if function.__name__ in OWN.get(name, ())]
        shared = [name for name in names.split(", ") if name in texts and name not in own]
        if not kind or not shared:
            lines.append(match[0])
            continue
        lines += [f"    {name} : {kind}\n{match[2]}" for name in own]
        lines += [entry(name, *texts[name]) for name in shared]
    return HEADING + "".join(lines)


def texts_of(function: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """Return the texts that a function shares with others."""
    if function.__module__.startswith("duramen.analyses"):
        return ANALYSES
    reads = function.__code__.co_qualname.startswith("reads_permuted.")
    return {**SHARED, **READING} if reads else SHARED


def functions() -> Iterator[Callable[..., Any]]:
    """Yield the public functions that measure, test or analyze features."""
    yield from (duramen.rank, duramen.select)
    for package in PACKAGES:
        module = importlib.import_module(package)
        yield from filter(inspect.isfunction, (getattr(module, name) for name in module.__all__))


def rewritten(thing: Any, source: str) -> str:
    """Return the source of a module with the section of a class or function replaced."""
    word = "class" if inspect.isclass(thing) else "def"
    start = re.search(rf"^{word} {thing.__name__}\(", source, re.MULTILINE)
    assert start is not None
    head, rest = source[: start.start()], source[start.start() :]
    if inspect.isclass(thing):
        return head + BLOCK.sub(lambda _: parameter_block(thing), rest, count=1)
    return head + BLOCK.sub(lambda match: shared_block(thing, match[0]), rest, count=1)


def main(write: bool) -> int:
    """Compare all docstrings with their texts; return the number of files that differ."""
    things: dict[Path, list[Any]] = {}
    for thing in [*(kind for forest in FORESTS for kind in forest.estimators), *functions()]:
        things.setdefault(Path(inspect.getfile(inspect.unwrap(thing))), []).append(thing)
    wrong = 0
    for path, inside in things.items():
        source = new = path.read_text(encoding="utf-8")
        for thing in inside:
            new = rewritten(thing, new)
        if new != source:
            wrong += 1
            print(f"{path}: parameters differ from the texts that tools/docstrings.py has for them")
            if write:
                path.write_text(new, encoding="utf-8")
    return 0 if write else wrong


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
