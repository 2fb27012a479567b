"""Conclusions of the analyses: sentences for answers of five kinds, spelled out."""

import re

import numpy as np
import pytest
from tests.evaluation.test_enough import evaluation
from tests.plots.test_context import result as context_result
from tests.reports.test_reports import a_run

import duramen as dm
from duramen import Importances, Network, Significance
from duramen.analyses import compare, context, exact, network, plan, select
from duramen.analyses.ranking.report import conclusion as of_ranking
from duramen.effects import Direction
from duramen.evaluation.result import PairedTest
from duramen.results.significance import AdjustedSignificance, ErrorRates
from duramen.results.summary import percents
from duramen.selection import catalogue as selectors
from duramen.theory.dependence.relevant_features import Relevance

# --- answers, made by hand ------------------------------------------------------------------------

GOOD = {"oob_error": 0.1, "baseline_error": 0.4, "baseline_p_value": 0.001}
BAD = {"oob_error": 0.39, "baseline_error": 0.4, "baseline_p_value": 0.4}
HOW = {"method": "altmann", "null": "Nothing.", "metadata": {"measure": "mdi"}}


def by_p(*p_values):
    names = tuple("abcdefg"[: len(p_values)])
    return Significance(names, np.arange(len(names), 0, -1.0), np.array(p_values), **HOW)


def judged(*verdicts):
    """Return a test that gives these verdicts."""
    by_verdict = {"confirmed": 0.01, "candidate": 0.2, "noise": 0.9}
    p_adjusted = np.array([by_verdict[word] for word in verdicts])
    q_values = np.where(p_adjusted < 0.5, 0.02, 0.9)
    names = tuple("abcdefg"[: len(verdicts)])
    scores = np.arange(len(names), 0, -1.0)
    return AdjustedSignificance(
        names,
        scores,
        q_values,
        p_adjusted=p_adjusted,
        q_values=q_values,
        statistics=scores,
        **{**HOW, "method": "max_t"},
    )


def rated(*rates):
    names = tuple("abcdefg"[: len(rates)])
    scores, rates = np.arange(len(rates), 0, -1.0), np.array(rates)
    return ErrorRates(names, scores, rates, "fdr_curve", "Nothing.", metadata={"measure": "mdi"})


def ranking(test, results=GOOD, described=(), unfinished=(), task="classification"):
    return of_ranking(a_run(task=task, results=results), test, described, unfinished)


def by_time(*p_values, control="fdr", alpha=0.05, signs=(1, -1), **changes):
    """Return the conclusion about one feature for each p-value, by day; nights have p = 1."""
    p = np.array([p_values, np.ones(len(p_values))])
    signed = np.resize(signs, len(p_values)) * 0.2 * np.ones((2, 1))
    names = tuple("abcdefg"[: len(p_values)])
    p = None if changes.pop("untested", False) else p
    effects = {"absolute": np.abs(signed) * [[1.0], [0.01]], "signed": signed * [[1.0], [0.01]]}
    contextual = context_result(names, p=p, **{**effects, **changes})
    columns = context.effect_columns(contextual, alpha, control)
    return context.conclusion(contextual, columns, alpha, control)


def compared(*means, n_features=1, p=0.5, stop=None, pairs=True):
    """Return the conclusion about methods m0, m1, ... with these mean scores."""
    names = [f"m{i}" for i in range(len(means))]
    scores = np.add.outer(np.array([-0.01, 0.0, 0.01]), np.array(means))
    made = evaluation(scores, names, [n_features] * len(means))
    tests = [
        (names[i], names[j], PairedTest(means[i] - means[j], 0.0, 0.0, p), p)
        for i in range(len(means))
        for j in range(i + 1, len(means))
    ]
    return compare.conclusion(made, tests if pairs else (), stop)


def chosen(n, p=4, selector="boruta", stopped=""):
    scores = Importances(tuple("abcdefg"[:p]), np.arange(p, 0, -1.0), "mdi", "bits")
    return select.conclusion(scores, np.arange(n), "ill", selectors[selector], stopped)


def linked(p_values, n=2, scores=None):
    """Return the conclusion about the links from the first of n genes to the others."""
    weights, targets = np.zeros((n, n)), np.arange(n) > 0
    weights[0, 1:] = np.arange(n - 1, 0, -1) / n
    p = None
    if p_values is not None:
        p = np.ones((n, n))
        p[0, 1:] = p_values
    names = tuple(f"g{i}" for i in range(n))
    made = Network(names, weights, ~targets, targets, p_values=p)
    return network.conclusion(made, scores and made.score(scores))


def population(*kinds, information=0.5, **changes):
    names = tuple("abcdefg"[: len(kinds)])
    run = a_run(target="ill", results={"information": information, "impurity": 1.0}, **changes)
    scores = Importances(names, np.arange(len(names), 0, -1.0), "mdi", "bits")
    entries = [
        Relevance(name, kind, 0, ((),), True, 0.1, 0.1, len(kinds) - 1)
        for name, kind in zip(names, kinds, strict=True)
    ]
    return exact.conclusion(run, scores, entries)


def planned(relevant, n_features=1000, **changes):
    options = {"n_rows": 200, "memory": 64_000, "relevant": relevant, "keep": (0.0, 0.5, 1.0)}
    return plan.conclusion(dm.theory.search_plan(n_features=n_features, **{**options, **changes}))


# --- the sentences --------------------------------------------------------------------------------

SEEN = (
    "The forest classifies 90% of the rows that it had not seen correctly; always guessing the "
    "most frequent class gives 60%."
)
UNCERTAIN = " That is no evidence of equal importances: differences are hard to detect in few rows."
A_SAMPLE = (
    " In a sample nearly every feature is relevant by chance: duramen rank tests features of a "
    "sample."
)
FEW_ROWS = " With 200 rows more trees are needed, and weak features may not be found at all."
FOUND, NOTHING, ALL, ONE, INTERRUPTED = "found", "nothing", "all", "one", "interrupted"
HIGHER = [Direction("a", "up", "x"), Direction("b", "up", "x"), Direction("c", "down", "x")]

SENTENCES = [
    # ------------------------------------------------------------------------------------- rank
    (
        "rank",
        FOUND,
        lambda: ranking(
            judged("confirmed", "confirmed", "candidate", "candidate", "noise"), GOOD, HIGHER
        ),
        "2 of 5 features are reliably associated with type: the chance that even one of them is a "
        "false alarm is at most 5%. Another 2 are promising: of all 4, about 5% may be false "
        f"alarms. {SEEN} Strongest: a (higher in x), b (higher in x), c (lower in x).",
    ),
    (
        "rank",
        NOTHING,
        lambda: ranking(judged("noise", "noise"), BAD),
        "None of 2 features is distinguishable from noise. The forest classifies 61% of the rows "
        "that it had not seen correctly; always guessing the most frequent class gives 60%. "
        "Nothing here is evidence that any feature is associated with type; the order may be due "
        "to chance.",
    ),
    (
        "rank",
        ALL,
        lambda: ranking(judged("confirmed", "confirmed"), GOOD, HIGHER),
        "All 2 features are reliably associated with type: the chance that even one of them is a "
        f"false alarm is at most 5%. {SEEN} Strongest: a, b (both higher in x).",
    ),
    (
        "rank",
        ONE,
        lambda: ranking(judged("confirmed", "candidate", "noise"), GOOD, HIGHER[:1]),
        "1 of 3 features is reliably associated with type: the chance that it is a false alarm is "
        f"at most 5%. One more is promising: of all 2, about 5% may be false alarms. {SEEN} "
        "Strongest: a (higher in x).",
    ),
    (
        "rank",
        INTERRUPTED,
        lambda: ranking(None, GOOD, (), ("the significance test", "the directions of effects")),
        "No significance test was run: the order alone is no evidence that a feature is relevant. "
        f"{SEEN} The features predict type. The analysis was stopped early, without the "
        "significance test, the directions of effects.",
    ),
    (
        "rank",
        "only feature",
        lambda: ranking(judged("noise")),
        f"The only feature is not distinguishable from noise. {SEEN} Together the features predict "
        "type, but no single one stands out.",
    ),
    (
        "rank",
        "only feature found",
        lambda: ranking(judged("confirmed")),
        "The only feature is reliably associated with type: the chance that it is a false alarm is "
        f"at most 5%. {SEEN} Strongest: a.",
    ),
    (
        "rank",
        "promising alone",
        lambda: ranking(judged("candidate", "noise")),
        "None of 2 features is reliably associated with type. One is promising: about 5% of such "
        f"features are false alarms. {SEEN} Strongest: a.",
    ),
    (
        "rank",
        "false discovery rate",
        lambda: ranking(by_p(0.001, 0.9)),
        "1 of 2 features is associated with type; about 5% of these may be false alarms. "
        f"{SEEN} Strongest: a.",
    ),
    (
        "rank",
        "error rates",
        lambda: ranking(rated(0.01, 0.02, 0.3)),
        f"2 of 3 features are selected, with an error rate up to 0.05. {SEEN} Strongest: a, b.",
    ),
    (
        "rank",
        "no error rate",
        lambda: ranking(rated(0.2, 0.3), BAD),
        "None of 2 features is selected. The forest classifies 61% of the rows that it had not "
        "seen correctly; always guessing the most frequent class gives 60%. Nothing here is "
        "evidence that any feature is associated with type; the order may be due to chance.",
    ),
    (
        "rank",
        "found, but no better than guessing",
        lambda: ranking(by_p(0.001, 0.9), BAD),
        "1 of 2 features is associated with type; about 5% of these may be false alarms. The "
        "forest classifies 61% of the rows that it had not seen correctly; always guessing the "
        "most frequent class gives 60%. That is no better than without any feature: those found "
        "are associated with type, but do not predict it well. Strongest: a.",
    ),
    (
        "rank",
        "no test, no accuracy",
        lambda: ranking(None, {}),
        "No significance test was run: the order alone is no evidence that a feature is relevant. "
        "The accuracy of the forest is not known, because every tree sees all rows (no row is out "
        "of bag).",
    ),
    (
        "rank",
        "numbers",
        lambda: ranking(
            judged("confirmed", "confirmed"),
            {"oob_error": 0.9, "baseline_error": 1.2, "baseline_p_value": 0.01},
            [Direction("a", "down"), Direction("b", "down")],
            task="regression",
        ),
        "All 2 features are reliably associated with type: the chance that even one of them is a "
        "false alarm is at most 5%. In rows that it had not seen, the forest explains 25% of the "
        "variance of type. Strongest: a, b (both falling with type).",
    ),
    (
        "rank",
        "survival",
        lambda: ranking(None, {"oob_error": 0.3, "groups": 9}, task="survival"),
        "No significance test was run: the order alone is no evidence that a feature is relevant. "
        "Of two rows of groups that it had not seen, the forest tells in 70% of all cases which "
        "has its event first; guessing gives 50%.",
    ),
    # ---------------------------------------------------------------------------------- context
    (
        "context",
        FOUND,
        lambda: by_time(0.001, 0.002, 0.9),
        "The importance of 2 of 3 features depends on time: a matters less where time is day than "
        "overall (q = 0.006); b matters more where time is day than overall (q = 0.006). Of "
        "findings like these, about 5% may be false alarms.",
    ),
    (
        "context",
        NOTHING,
        lambda: by_time(0.5, 0.9),
        f"The importance of none of 2 features was found to depend on time.{UNCERTAIN}",
    ),
    (
        "context",
        ALL,
        lambda: by_time(0.001, 0.001, 0.001, 0.001),
        "The importance of all 4 features depends on time: a matters less where time is day than "
        "overall (q = 0.002); b matters more where time is day than overall (q = 0.002); c matters "
        "less where time is day than overall (q = 0.002); 1 more in the table. Of findings like "
        "these, about 5% may be false alarms.",
    ),
    (
        "context",
        ONE,
        lambda: by_time(0.9, 0.001, control="fwer"),
        "The importance of 1 of 2 features depends on time: b matters more where time is day than "
        "overall (Holm's p = 0.004). The chance that any finding is a false alarm is at most 5%.",
    ),
    (
        "context",
        "only feature",
        lambda: by_time(0.001, control="none", conditional=np.zeros((2, 1))),
        "The importance of the only feature depends on time: a does not matter where time is day "
        "(p = 0.001). Each feature was tested by itself: of those whose importance does not depend "
        "on time, about 5% are found as well.",
    ),
    (
        "context",
        "only feature, nothing",
        lambda: by_time(0.9),
        f"The importance of the only feature was not found to depend on time.{UNCERTAIN}",
    ),
    (
        "context",
        "no test",
        lambda: by_time(1.0, 1.0, untested=True),
        "The importance of all 2 features differs in these rows by time: a matters less where time "
        "is day than overall; b matters more where time is day than overall. No significance test "
        "was run: these differences may be due to chance.",
    ),
    # ---------------------------------------------------------------------------------- compare
    (
        "compare",
        FOUND,
        lambda: compared(0.9, 0.7, 0.6, p=0.01, n_features=2),
        "m0 with 2 features predicts best: mean balanced accuracy 0.900 in rows not used to "
        "select. All other methods are shown to predict worse.",
    ),
    (
        "compare",
        NOTHING,
        lambda: compared(0.9, 0.8),
        "m0 with 1 feature predicts best: mean balanced accuracy 0.900 in rows not used to select. "
        "No method is shown to predict worse.",
    ),
    (
        "compare",
        ALL,
        lambda: compared(0.9, 0.9, p=1.0),
        "All predict equally well: mean balanced accuracy 0.900 in rows not used to select. No "
        "method is shown to predict worse.",
    ),
    (
        "compare",
        ONE,
        lambda: compared(0.9, n_features=7129),
        "With 7,129 features, m0 predicts best: mean balanced accuracy 0.900 in rows not used to "
        "select.",
    ),
    (
        "compare",
        INTERRUPTED,
        lambda: compared(0.9, 0.7, p=0.01, stop=KeyboardInterrupt()),
        "m0 with 1 feature predicts best: mean balanced accuracy 0.900 in rows not used to select. "
        "The other method is shown to predict worse. The comparison was stopped early, after 3 "
        "splits.",
    ),
    (
        "compare",
        "undefined",
        lambda: compared(np.nan, np.nan, pairs=False),
        "The balanced accuracy is not defined in any of the splits.",
    ),
    # ----------------------------------------------------------------------------------- select
    (
        "select",
        FOUND,
        lambda: chosen(2),
        "2 of 4 features were selected as relevant for ill. Most important: a, b.",
    ),
    (
        "select",
        NOTHING,
        lambda: chosen(0),
        "None of 4 features was selected as relevant for ill.",
    ),
    (
        "select",
        ALL,
        lambda: chosen(4),
        "All 4 features were selected as relevant for ill. Most important: a, b, c.",
    ),
    (
        "select",
        ONE,
        lambda: chosen(1),
        "1 of 4 features was selected as relevant for ill. It is a.",
    ),
    (
        "select",
        INTERRUPTED,
        lambda: chosen(2, stopped="40 trees of 15 features"),
        "2 of 4 features were selected as relevant for ill. Most important: a, b. The search was "
        "stopped early, after 40 trees of 15 features; more may be relevant.",
    ),
    (
        "select",
        "only feature",
        lambda: chosen(0, 1),
        "The only feature was not selected as relevant for ill.",
    ),
    (
        "select",
        "a number that was chosen",
        lambda: chosen(2, selector="mrmr"),
        "2 of 4 features were selected as relevant for ill. Their number was chosen, not "
        "estimated. Most important: a, b.",
    ),
    # ------------------------------------------------------------- network, and so connectome
    (
        "network",
        FOUND,
        lambda: linked([0.9, 0.001, 0.01], 4),
        "2 of 3 possible links are supported by the test: about 5% of such links may be false "
        "alarms. Strongest: g0 -> g2, g0 -> g3.",
    ),
    (
        "network",
        NOTHING,
        lambda: linked([0.9, 0.5], 3),
        "None of 2 possible links is distinguishable from noise. Strongest: g0 -> g1, g0 -> g2.",
    ),
    (
        "network",
        ALL,
        lambda: linked([0.01, 0.01], 3),
        "All 2 possible links are supported by the test: about 5% of such links may be false "
        "alarms. Strongest: g0 -> g1, g0 -> g2.",
    ),
    (
        "network",
        ONE,
        lambda: linked([0.9, 0.001], 3),
        "1 of 2 possible links is supported by the test: about 5% of such links may be false "
        "alarms. Strongest: g0 -> g2.",
    ),
    (
        "network",
        "no test, known links",
        lambda: linked(None, 3, [("g0", "g1")]),
        "Strongest of 2 possible links: g0 -> g1, g0 -> g2. Weights rank links: without a test, "
        "none of them is known to be real. The first pair holds 1 of 1 known link; in a random "
        "order it holds 0.5.",
    ),
    (
        "network",
        "only link",
        lambda: linked(None),
        "The only possible link: g0 -> g1. Weights rank links: without a test, it is not known to "
        "be real.",
    ),
    # ------------------------------------------------------------------------------------ exact
    (
        "exact",
        FOUND,
        lambda: population("strong", "weak", "weak", "irrelevant"),
        "3 of 4 features are relevant for ill in these rows, taken as the whole population. "
        "Together they account for 50% of the uncertainty about ill. 1 of them carries information "
        f"that all others lack. Most important: a, b, c.{A_SAMPLE}",
    ),
    (
        "exact",
        NOTHING,
        lambda: population("irrelevant", "irrelevant", information=0.0),
        "None of 2 features is relevant for ill in these rows, taken as the whole population."
        + A_SAMPLE,
    ),
    (
        "exact",
        ALL,
        lambda: population("strong", "strong", information=1.0, task="regression"),
        "All 2 features are relevant for ill in these rows, taken as the whole population. "
        "Together they account for 100% of the variance of ill. 2 of them carry information that "
        f"all others lack. Most important: a, b.{A_SAMPLE}",
    ),
    (
        "exact",
        ONE,
        lambda: population("strong", "irrelevant"),
        "1 of 2 features is relevant for ill in these rows, taken as the whole population. It "
        f"accounts for 50% of the uncertainty about ill. It is a.{A_SAMPLE}",
    ),
    (
        "exact",
        "copies, and a search that is not complete",
        lambda: population("weak", "weak", "unknown"),
        "2 of 3 features are relevant for ill in these rows, taken as the whole population. "
        "Together they account for 50% of the uncertainty about ill. None of them carries "
        "information that all others lack. Most important: a, b. The relevance of 1 more is not "
        f"known.{A_SAMPLE}",
    ),
    # ------------------------------------------------------------------------------------- plan
    (
        "plan",
        FOUND,
        lambda: planned({0: 3, 1: 2}),
        "Grow at least 46 trees, each on 198 of 1,000 features, up to 50% of them kept from those "
        "found before. Of many rows, they find all 5 relevant features with a probability of 0.95."
        + FEW_ROWS,
    ),
    (
        "plan",
        ALL,
        lambda: planned({0: 2}, n_features=10),
        "Grow 1 tree or more on all 10 features: memory holds them. Of many rows, it finds all 2 "
        f"relevant features with a probability of 0.95.{FEW_ROWS}",
    ),
    (
        "plan",
        ONE,
        lambda: planned({0: 1}, keep=0.0),
        "Grow at least 45 trees, each on 198 of 1,000 features, all of them drawn anew for each "
        "tree. Of many rows, they find the relevant feature with a probability of 0.95." + FEW_ROWS,
    ),
]
# A search is planned for at least one relevant feature, and only the others can be stopped with a
# result.
MISSING = {
    **{analysis: {INTERRUPTED} for analysis in ("context", "network", "exact")},
    "plan": {NOTHING, INTERRUPTED},
}


@pytest.mark.parametrize(
    ("conclusion", "sentences"),
    [entry[2:] for entry in SENTENCES],
    ids=[f"{analysis}: {kind}" for analysis, kind, *_ in SENTENCES],
)
def test_sentences_for_each_answer(conclusion, sentences):
    assert conclusion() == sentences


def test_every_analysis_has_a_sentence_for_each_kind_of_answer():
    kinds = {FOUND, NOTHING, ALL, ONE, INTERRUPTED}
    for analysis in {entry[0] for entry in SENTENCES}:
        written = {kind for name, kind, *_ in SENTENCES if name == analysis}
        assert kinds - written == MISSING.get(analysis, set()), analysis


def test_first_sentences_are_for_readers_who_know_no_method():
    for *_, text in SENTENCES:
        first = re.split(r"(?<=[.:]) ", text)[0]
        assert not re.search(r"\b[A-Z]{2,}\b|_", first), first
        assert text.endswith(".")
        assert not re.search(r"\b1 (features|links|trees|splits|are|were)\b", text), text


@pytest.mark.parametrize(
    ("fractions", "n", "texts"),
    [
        ((69 / 72, 47 / 72), 72, ["96%", "65%"]),  # one row is 1.4%
        ((0.9996,), 500, ["99.96%"]),  # not all of them
        ((0.0004,), 5000, ["0.04%"]),  # not none
        ((1.0, 0.0), 10, ["100%", "0%"]),
        ((1 - 1e-16 * 3,), 10, ["100%"]),
        ((0.904, 0.9), 250, ["90.4%", "90.0%"]),  # which differ
        ((0.5, 0.5), 2000, ["50.0%", "50.0%"]),
    ],
)
def test_percentages_are_rounded_to_what_is_true(fractions, n, texts):
    assert percents(*fractions, n=n) == texts
