"""Result of a ranking in one sentence, and remarks on counts that differ."""

from __future__ import annotations

from collections.abc import Sequence

from duramen.importances.after.comparison import Measured
from duramen.reports.measures import LEVEL, n_significant, words_of
from duramen.reports.run import Run
from duramen.reports.significance import Verdict
from duramen.results.significance import Significance

_NO_TEST = "No significance test was run: the order alone is no evidence that a feature is relevant"
_NO_ERROR = "the accuracy out of bag is not known, because every tree sees all rows"
# Whether the forest predicts better than without features, and whether a feature was found; None
# where nothing was tested.
_MEANINGS = {
    (True, True): "the features predict {target}, and the {found} associated with it",
    (True, False): "the features together predict {target}, but no single feature is "
    "distinguished from noise",
    (True, None): "the features together predict {target}",
    (False, True): "the {found} associated with {target}, but the forest does not "
    "predict it better than without any feature",
    (False, False): "there is no evidence that any feature is associated with {target}, and the "
    "order may be due to chance",
    (False, None): "there is no evidence that the features predict {target}, and the order may be "
    "due to chance",
}


def conclusion(run: Run, tested: Verdict | None) -> str:
    """Return what was found, how accurate the forest is out of bag, and what both mean.

    The record of the run gives ``oob_error``, and ``baseline_error``, the error of the best
    prediction without features, with ``baseline_p_value``, the p-value of the null hypothesis
    that the forest is not more accurate.
    """
    found = _NO_TEST if tested is None else tested.count()
    error, baseline = run.results.get("oob_error"), run.results.get("baseline_error")
    if error is None or baseline is None:
        return f"{found}; {_NO_ERROR}." if error is None else f"{found}{_concordance(run, error)}."
    accuracy = accuracy_words(run, float(error), float(baseline))
    better = run.results.get("baseline_p_value", 1.0) <= LEVEL
    n_found = len(tested.selected()) if tested is not None and tested.test.controls else None
    ones = "feature found is" if n_found == 1 else "features found are"
    known = None if n_found is None else n_found > 0
    meaning = _MEANINGS[better, known].format(target=run.target, found=ones)
    return f"{found}; out of bag, {accuracy}: {meaning}."


def _concordance(run: Run, error: float) -> str:
    """Say how well a forest of survival orders the rows; nothing for other tasks."""
    by_chance = run.target_class.chance_score
    if by_chance is None:
        return ""
    return (
        f"; out of bag, the concordance of the forest is {1 - error:.2f}, by chance {by_chance:.2f}"
    )


def accuracy_words(run: Run, error: float, baseline: float) -> str:
    """Say how accurate the forest is, compared with a prediction that uses no feature."""
    if run.target_class.categorical:
        return (
            f"the forest predicts {1 - error:.1%} of the rows correctly, the most frequent class "
            f"alone {1 - baseline:.1%}"
        )
    explained = 1 - error / baseline if baseline > 0 else 0.0
    if explained <= 0:
        return f"the forest explains none of the variance of {run.target}"
    return f"the forest explains {explained:.1%} of the variance of {run.target}, the mean alone 0%"


def remarks(measures: Sequence[Measured], tested: Verdict | None) -> tuple[str, ...]:
    """Explain counts of features that seem to contradict each other."""
    counts = {
        words_of(one).title: n_significant(one) for one in measures if isinstance(one, Significance)
    }
    if not counts or (tested is None and len(counts) < 2):
        return ()
    titles = " and ".join(counts)
    return (
        f"The counts differ because they answer different questions. The p-values of {titles} "
        "depend on the number of trees and shrink as trees are added, also for irrelevant "
        "features: they compare features within this forest."
        + ("" if tested is None else f" Evidence of relevance is the count by {tested.title}."),
    )
