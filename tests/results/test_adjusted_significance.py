import numpy as np
import pytest

from duramen.results.significance import AdjustedSignificance


def result(**changes):
    options = {
        "names": ("a", "b", "c", "d"),
        "scores": np.array([3.0, 2.0, 0.1, 5.0]),
        "p_values": np.array([0.01, 0.01, 0.4, 0.01]),
        "method": "max_t",
        "null": "No feature is associated with the target.",
        "unit": "bits",
        "q_values": np.array([0.02, 0.03, 0.8, 0.01]),
        "adjustment": "pooled permutations",
        "p_adjusted": np.array([0.05, 0.12, 0.9, 0.01]),
        "statistics": np.array([7.0, 4.0, 0.2, 9.0]),
        "details": {"null_sd": np.arange(4.0)},
        "metadata": {"seed": 3},
    }
    return AdjustedSignificance(**{**options, **changes})


def test_verdicts_and_selections():
    actual = result()
    assert actual.verdicts() == ("confirmed", "candidate", "noise", "confirmed")
    assert actual.verdicts(0.01) == ("noise", "noise", "noise", "confirmed")
    assert actual.verdicts(1.0) == ("confirmed",) * 4
    assert actual.selected(control="fwer") == ("d", "a")
    assert actual.selected() == ("d", "a", "b")
    assert actual.selected(control="none") == ("d", "a", "b")
    for control in ("fwer", "fdr", "none", "all"):
        with pytest.raises(ValueError, match=r"Significance: (alpha|control) must be"):
            actual.mask(1.2 if control != "all" else 0.1, control)


def test_a_candidate_needs_a_p_value_of_its_own():
    """The rate of a set may be small although its last feature is no larger than by chance."""
    actual = result(p_values=np.array([0.01, 0.06, 0.4, 0.01]))
    assert actual.verdicts() == ("confirmed", "noise", "noise", "confirmed")
    assert actual.verdicts(0.06) == ("confirmed", "candidate", "noise", "confirmed")
    assert actual.selected() == ("d", "a", "b")


def test_order_top_and_columns():
    actual = result()
    best = actual.top(2)
    assert best.names == ("d", "a")
    assert best.p_adjusted.tolist() == [0.01, 0.05]
    assert best.statistics.tolist() == [9.0, 7.0]
    assert best.details["null_sd"].tolist() == [3.0, 0.0]
    columns = actual.columns()
    heads = ["name", "rank", "score", "statistic", "p_value", "p_adjusted", "fdr", "verdict"]
    assert list(columns) == [*heads, "evidence", "null_sd"]
    assert columns["evidence"] == [""] * 4
    assert columns["rank"].tolist() == [2, 3, 4, 1]
    assert columns["verdict"] == list(actual.verdicts())
    assert columns["fdr"].tolist() == [0.02, 0.03, 0.8, 0.01]
    assert len(actual.to_frame()) == 4


def staged(**changes):
    """Two features of a first stage, three of a second; their marginal statistics are known."""
    options = {
        "names": tuple("abcde"),
        "scores": np.arange(5.0),
        "p_values": np.full(5, 0.01),
        "p_adjusted": np.array([0.01, 0.02, 0.03, 0.2, 0.9]),
        "q_values": np.array([0.01, 0.01, 0.02, 0.04, 0.9]),
        "statistics": np.array([5.0, 2.0, 3.0, 2.5, 0.1]),
        "details": {
            "stage": np.array([1.0, 1.0, 2.0, 2.0, 2.0]),
            "importance_statistic": np.array([5.0, 2.0, 1.0, 0.5, 0.0]),
            "marginal_statistic": np.array([2.0, 1.9, 3.0, 2.5, 0.1]),
            "marginal_p_adjusted": np.array([0.02, 0.2, 0.03, 0.3, 1.0]),
        },
    }
    return result(**{**options, **changes})


def test_evidence_and_order_go_by_stage():
    """The marginal statistic confirms the first and the third, and is the larger of the fourth."""
    actual = staged()
    assert actual.verdicts() == ("confirmed", "confirmed", "confirmed", "candidate", "noise")
    assert actual.evidence() == ("alone", "with others", "alone", "alone", "")
    assert actual.evidence(0.01) == ("with others", "with others", "", "", "")
    assert actual.order().tolist() == [0, 1, 2, 3, 4]
    assert actual.columns()["evidence"] == list(actual.evidence())
    assert "with others" in repr(actual)
    assert actual.statistic_title == "test statistic"
    assert result().statistic_title == "standardized importance"
    with pytest.raises(ValueError, match="q_values must not decrease"):
        staged(p_adjusted=np.array([0.01, 0.02, 0.015, 0.2, 0.9]))


def test_evidence_names_the_joint_statistic():
    """It confirms the first two, the marginal one the first too; it is largest of the fourth."""
    joint = {
        "joint_statistic": np.array([3.0, 1.9, 1.0, 2.5, 0.0]),
        "joint_p_adjusted": np.array([0.02, 0.05, 0.4, 0.2, 1.0]),
    }
    details = {**staged().details, "marginal_statistic": np.array([2.0, 1.9, 3.0, 2.4, 0.1])}
    actual = staged(details={**details, **joint})
    assert actual.evidence() == ("alone", "jointly", "alone", "jointly", "")
    assert staged(details=details).evidence() == (
        "alone",
        "with others",
        "alone",
        "with others",
        "",
    )
