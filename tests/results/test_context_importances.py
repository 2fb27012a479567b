import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grid import one_test

from duramen import ContextImportances
from duramen.results.context_importances import KINDS

CONTEXTS, FEATURES = ("a", "b"), ("f", "g", "h")


def example(**changes):
    fields = {
        "names": FEATURES,
        "contexts": CONTEXTS,
        "fractions": [0.25, 0.75],
        "importances": [1.0, 0.5, 0.25],
        "absolute": [[0.5, 0.25, 0.0], [0.5, 0.25, 0.125]],
        "signed": [[-0.5, 0.125, 0.0], [0.5, -0.125, 0.0]],
        "conditional": [[1.5, 0.375, 0.25], [0.5, 0.625, 0.25]],
        "overall": [0.25, -0.0625, 0.0],
        "relevance": 0.3,
        "absolute_p_values": [[0.01, 0.2, 1.0], [0.02, 0.04, 0.5]],
        "signed_p_values": [[0.02, 0.4, 1.0], [0.04, 0.08, 0.9]],
        "overall_p_values": [0.04, 0.5, 1.0],
        "relevance_p_value": 0.015,
        "context_name": "arm",
        "n_permutations": 99,
        "metadata": {"seed": 3, "n_trees": 10},
    }
    return ContextImportances(**{**fields, **changes})


def untested(**changes):
    nothing = dict.fromkeys(
        ("absolute_p_values", "signed_p_values", "overall_p_values", "relevance_p_value")
    )
    return example(**{**nothing, "n_permutations": 0, **changes})


def one_cell(absolute, signed, conditional=1.0, importance=1.0, **changes):
    """The verdict on one feature in one of two contexts."""
    fields = {
        "names": ("f",),
        "fractions": [0.5, 0.5],
        "importances": [importance],
        "absolute": [[absolute], [0.0]],
        "signed": [[signed], [0.0]],
        "conditional": [[conditional], [importance]],
        "overall": [0.0],
        "tolerance": 0.05,
    }
    return untested(**fields | changes).kind[0, 0]


# --- verdicts ------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("absolute", "signed", "rest", "verdict"),
    [
        (0.0, 0.0, {}, "independent"),
        (0.05, 0.05, {}, "independent"),  # at most the tolerance times the largest importance
        (0.051, 0.051, {}, "redundant"),
        (0.5, -0.5, {}, "complementary"),
        (0.5, -0.475, {}, "complementary"),  # 1 - tolerance of the absolute effect
        (0.5, 0.475, {}, "redundant"),
        (0.5, 0.5, {"conditional": 0.05}, "irrelevant"),
        (0.5, 0.5, {"conditional": 0.051}, "redundant"),
        (0.5, -0.5, {"conditional": 0.0}, "complementary"),
        (0.5, -0.47, {}, "mixed, complementary"),
        (0.5, 0.47, {}, "mixed, redundant"),
        (0.5, 0.47, {"conditional": 0.0}, "mixed, redundant"),
        (0.5, 0.026, {}, "mixed, redundant"),
        (0.5, -0.026, {}, "mixed, complementary"),
        (0.5, 0.025, {}, "mixed"),
        (0.5, -0.025, {}, "mixed"),
        (0.5, 0.0, {}, "mixed"),
        (0.5, 0.47, {"tolerance": 0.1}, "redundant"),
        (0.5, 0.49, {"tolerance": 0.0}, "mixed, redundant"),
        (0.5, 0.5, {"tolerance": 0.0}, "redundant"),
        (0.09, 0.09, {"tolerance": 0.1}, "independent"),
        # A feature that says nothing on all rows, and all in each context.
        (1.0, -1.0, {"importance": 0.0}, "complementary"),
        (0.01, -0.01, {"importance": 0.0}, "complementary"),
    ],
)
def test_each_verdict(absolute, signed, rest, verdict):
    assert one_cell(absolute, signed, **rest) == verdict
    assert verdict in KINDS


def test_verdicts_need_significance_where_there_are_p_values():
    result = example()
    assert result.verdicts(control="none").tolist() == [
        ["complementary", "independent", "independent"],
        ["redundant", "mixed, complementary", "independent"],
    ]
    assert result.verdicts(0.015, "none").tolist() == [
        ["complementary", "independent", "independent"],
        ["independent", "independent", "independent"],
    ]
    # Holm: .06, .10, ...; Benjamini and Hochberg: .06, .06, .08, ...
    assert set(result.kind.ravel()) == {"independent"}
    assert set(result.verdicts(control="fwer").ravel()) == {"independent"}
    assert result.verdicts(0.06, "fdr")[1, 0] == "redundant"
    assert result.verdicts(0.06, "fwer").tolist() == [
        ["complementary", "independent", "independent"],
        ["independent"] * 3,
    ]
    # P-values alone are not enough: nothing must be 0.
    assert result.verdicts(1.0, "none")[0, 2] == "independent"
    assert result.verdicts(1.0, "none")[1, 2] == "mixed"
    assert result.verdicts(0.05, "none", tolerance=0.6)[1, 0] == "independent"
    assert untested().kind[0, 1] == "mixed, redundant"


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=2),
    st.lists(st.floats(-1, 1), min_size=2, max_size=2),
    st.floats(0, 0.99),
)
def test_verdicts_agree_with_the_numbers(absolute, ratios, tolerance):
    signed = [a * s for a, s in zip(absolute, ratios, strict=True)]
    result = untested(
        names=("f",),
        importances=[0.5],
        absolute=np.reshape(absolute, (2, 1)),
        signed=np.reshape(signed, (2, 1)),
        conditional=[[0.1], [0.2]],
        overall=[0.0],
        tolerance=tolerance,
    )
    for kind, whole, part in zip(result.kind[:, 0], absolute, signed, strict=True):
        if kind == "independent":
            assert whole <= tolerance * max(0.5, *absolute)
        elif kind in ("complementary", "mixed, complementary"):
            assert part < 0
        elif kind in ("redundant", "irrelevant", "mixed, redundant"):
            assert part > 0 or tolerance > 0.9
        else:
            assert abs(part) <= tolerance * whole
    wider = result.verdicts(tolerance=min(0.99, tolerance + 0.1))
    assert ((wider == "independent") >= (result.kind == "independent")).all()


# --- p-values ------------------------------------------------------------------------------------


def test_mask():
    result = example()
    assert not result.mask().any()
    assert result.mask(alpha=0.06).tolist() == [[True, False, False], [True, False, False]]
    assert result.mask(alpha=0.06, control="fwer").sum() == 1
    assert result.mask(control="none").tolist() == [[True, False, False], [True, True, False]]
    assert result.mask("signed", 0.04, "none").sum() == 2
    assert not result.mask(alpha=0.0).any()
    assert result.mask(alpha=1.0).all()
    for arguments, message in (
        ({"alpha": 2}, r"alpha must be a number in \[0, 1\]"),
        ({"control": "bh"}, "control must be"),
        ({"effect": "overall"}, "effect must be one of"),
    ):
        with pytest.raises(ValueError, match=f"ContextImportances: {message}"):
            result.mask(**arguments)


def test_order_is_by_p_value_then_effect_then_column():
    assert example().order().tolist() == [0, 1, 2]
    result = example(
        absolute=[[0.1, 0.2, 0.1], [0.1, 0.3, 0.4]],
        absolute_p_values=[[0.5, 0.1, 0.1], [0.1, 0.5, 0.2]],
    )
    assert result.order().tolist() == [2, 1, 0]
    tied = example(absolute=[[0.1] * 3] * 2, absolute_p_values=[[0.1] * 3] * 2)
    assert tied.order().tolist() == [0, 1, 2]
    alone = untested(absolute=[[0.1, 0.2, 0.1], [0.4, 0.3, 0.4]])
    assert alone.order().tolist() == [0, 2, 1]


# --- schemes of permutations, and notes -----------------------------------------------------------
