"""Columns and sentences of verdicts."""

import numpy as np

from duramen.analyses.ranking.significance import (
    columns_of,
    record_of,
)
from duramen.results.significance import AdjustedSignificance

STATISTICS = {
    "stage": np.array([1.0, 2.0, 2.0]),
    "importance_statistic": np.array([2.0, 2.0, 0.2]),
    "marginal_statistic": np.array([4.0, 1.0, 0.1]),
    "marginal_p_adjusted": np.array([0.01, 0.3, 1.0]),
}


def verdict(**changes):
    """Three features: confirmed in the first stage, confirmed in the second, and noise."""
    options = {
        "names": ("a", "b", "c"),
        "scores": np.array([3.0, 2.0, 1.0]),
        "p_values": np.array([0.01, 0.01, 0.5]),
        "method": "max_t",
        "null": "No association.",
        "q_values": np.array([0.01, 0.02, 0.6]),
        "adjustment": "pooled permutations",
        "p_adjusted": np.array([0.01, 0.02, 0.9]),
        "statistics": np.array([4.0, 2.0, 0.2]),
        "details": STATISTICS,
        "metadata": {
            "n_permutations": 39,
            "n_forests": 79,
            "parameters": {"n_estimators": "50"},
            "measure": "mdi_oob",
        },
    }
    return AdjustedSignificance(**{**options, **changes})


def test_columns_and_counts_have_the_evidence():
    columns = columns_of(verdict(), ["b", "c", "a"])
    assert [column.name for column in columns] == ["verdict", "evidence", "p_adjusted", "fdr"]
    assert columns[1].cells == ["with others", "", "alone"]
    assert record_of(verdict())[1]["evidence"] == {"alone": 1, "with others": 1}


def test_joint_statistics_have_a_word_and_a_count():
    """The second feature is confirmed by its joint statistic, which is smaller than another."""
    joint = {
        "joint_statistic": np.array([3.0, 1.9, 0.1]),
        "joint_p_adjusted": np.array([0.02, 0.05, 1.0]),
    }
    tested = verdict(details={**STATISTICS, **joint})
    assert columns_of(tested, ["b", "c", "a"])[1].cells == ["jointly", "", "alone"]
    assert record_of(tested)[1]["evidence"] == {"alone": 1, "jointly": 1, "with others": 0}


def test_a_candidate_by_its_rank_statistic_alone_says_that_its_importance_is_negative():
    options = {
        "p_adjusted": np.array([0.01, 0.2, 0.9]),
        "scores": np.array([3.0, -0.2, -1.0]),
        "details": {**STATISTICS, "marginal_statistic": np.array([4.0, 2.0, 0.1])},
    }
    cells = columns_of(verdict(**options), ["a", "b", "c"])[1].cells
    assert cells == ["alone", "alone (importance < 0)", ""]
    options["scores"] = np.array([3.0, 0.2, -1.0])
    assert columns_of(verdict(**options), ["a", "b", "c"])[1].cells == ["alone", "alone", ""]
