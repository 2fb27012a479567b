"""Account of a sequential random subspace search, for the terminal and the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duramen.selection.records import CAUTIONS, NEXT_STEP, Account, Detail
from duramen.selection.sequential_random_subspace.parameters import SearchParameters

PARAMETERS_OF_TESTS = {
    "level": ("decoy", "binomial"),
    "min_draws": ("probe",),
    "confidence": ("probe",),
    "n_probes": ("probe", "binomial"),
}
"""Parameters that only some tests of relevance have, with these tests."""

_CAUTIONS = (
    "Features that carry the same information can replace each other: once one of them is found "
    "and kept, the others may add nothing and not be found. A smaller --max-features, or --alpha "
    "0, finds more of them.",
    "A relevant feature can be missed if few trees were given it, or few trees were given it "
    "together with the features that it needs: more trees (--trees) or larger ones (--memory, "
    "--subspace) may find it.",
    *CAUTIONS,
)


def account_of(search: SearchParameters) -> Account:
    """Return what a fitted search tells of its run."""
    n_trees, q = search.n_estimators_, search.n_subspace_features_
    mean_draws = float(search.draws_.mean())
    details = [
        Detail("entered", "found at tree", search.entered_, of_selected=True),
        Detail("draws", "given to trees", search.draws_),
    ]
    if search.relevance in ("probe", "binomial"):
        details.append(Detail("wins", "beat the probes in", search.wins_))
    settings = _settings(search)
    reading = (*_reading(settings, search.n_features_in_), meaning_of_test(settings))
    if search.n_shadows_:
        reading = (*reading, _SHADOWS.format(search.n_shadows_))
    return Account(
        run=f"{n_trees:,} trees of {q:,} features",
        step="tree",
        label=f"alpha = {search.alpha:g}",
        facts=(("trees", f"{n_trees:,}"), ("features a tree", f"{q:,}")),
        nothing=f"No feature was found; each was given to {mean_draws:,.1f} of {n_trees:,} trees "
        "on average",
        next_step=_next_step(mean_draws),
        details=tuple(details),
        reading=reading,
        cautions=_CAUTIONS,
        settings=settings,
        results={"trees": n_trees, "mean_draws": mean_draws, **_shadows(search.n_shadows_)},
    )


_FEW_DRAWS = 10  # trees that a feature is given at least to be judged, on average


def _next_step(mean_draws: float) -> str:
    """Say what to try where nothing was found."""
    if mean_draws < _FEW_DRAWS:
        return (
            f"A feature needs {_FEW_DRAWS} trees or more to be judged: --trees or --subspace gives "
            "each to more trees, and --patience 0 does not end the search early."
        )
    return (
        f"{NEXT_STEP} --level 0.2 accepts a fifth of false discoveries, and more trees (--trees) "
        "with --patience 0 search longer."
    )


_SHADOWS = (
    "There are too few features to estimate the null distribution of the decoys: for each "
    "feature, {} shadow features were added, copies with permuted rows that are never found."
)


def _shadows(count: int) -> dict[str, int]:
    return {"shadow_features_of_each": count} if count else {}


def _settings(search: SearchParameters) -> dict[str, Any]:
    """Return the settings that mean anything for the test of relevance, resolved."""
    asked = ("alpha", "tree", "relevance", *PARAMETERS_OF_TESTS, "sampling", "batch_size")
    tests = {name: PARAMETERS_OF_TESTS.get(name, (search.relevance,)) for name in asked}
    return {
        "n_estimators": search.n_estimators,
        "memory": search.memory,
        "n_subspace_features": search.n_subspace_features_,
        **{name: getattr(search, name) for name in asked if search.relevance in tests[name]},
        "patience": search.patience,
    }


def meaning_of_test(given: Mapping[str, Any]) -> str:
    """Say in a sentence what the test of a search means, and in another what it does not."""
    test = given["relevance"]
    if test == "decoy":
        return (
            "A feature is found when its importance exceeds that of its decoy, a copy with "
            "permuted rows, by more than expected under the null hypothesis, which is estimated "
            "from how far other features fall short of their decoys, at a false discovery rate "
            f"of {given['level']:g}. The test is repeated while trees are added, which makes "
            "false discoveries more frequent than that. A feature that is correlated with a "
            "relevant one is associated with the target, as its decoy is not, and may be found "
            "too, whether or not it adds anything."
        )
    if test == "positive":
        return (
            "A feature is found when its importance in some tree is greater than zero. In a "
            "sample this is so for nearly every feature; the rule is meant for rows that are the "
            "whole distribution."
        )
    probes, count = _probes(given["n_probes"])
    if test == "probe":
        return (
            f"A feature is found when more than {given['min_draws']:,} trees were given it and, "
            f"in a fraction of {given['confidence']:.4g} or more of them, it is more important "
            f"than {probes}. A feature that is correlated with the target by chance in these "
            "rows, or with a relevant feature, is so in every tree, and may pass too."
        )
    return (
        f"A feature is found when it is more important than {probes} in more of its trees than "
        f"under the null hypothesis, 1 in {count + 1:,}, at a false discovery rate of "
        f"{given['level']:g} over all features. The rate holds over trees, not rows: a feature "
        "that is correlated with the target by chance in these rows, or with a relevant feature, "
        "is so in every tree, and may pass too."
    )


def _probes(count: int) -> tuple[str, int]:
    if count == 1:
        return "a probe, a column whose rows were permuted for that tree", count
    return f"all of {count:,} probes, columns whose rows were permuted for that tree", count


def _reading(given: Mapping[str, Any], p: int) -> tuple[str, ...]:
    q = given["n_subspace_features"]
    kept = "features found before" if given["sampling"] == "hard" else "features by importance"
    share = given["alpha"]
    places = f"up to a fraction of {share:g} of them {kept}, the others drawn at random"
    return (
        f"Each tree is given {q:,} of the {p:,} features, "
        f"{places if share else 'drawn at random'}, so that no more than these have to be in "
        "memory at a time.",
        "The importance is the mean decrease of impurity over all trees, including those "
        "that were not given the feature, in {unit}. Features that were given to many trees "
        "therefore tend to rank before those given to few.",
    )
