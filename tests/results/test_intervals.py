import pytest

from duramen.results.significance import Intervals


def example(**changes):
    options = {
        "names": ("a", "b", "c", "d"),
        "values": [0.1, 0.4, 0.1, 0.2],
        "standard_error": [0.1, 0.1, 0.0, 0.1],
        "low": [-0.1, 0.2, 0.1, 0.0],
        "high": [0.3, 0.6, 0.1, 0.4],
        "confidence_level": 0.95,
        "measure": "mda",
        "unit": "accuracy",
        "method": "subsampling",
        "kind": "normal",
        "p_values": [0.2, 0.001, 0.0, 0.02],
        "replicate_mean": [0.0, 0.3, 0.1, 0.1],
        "metadata": {"seed": 3},
    }
    return Intervals(**{**options, **changes})


def test_order_top_and_above():
    result = example()
    assert result.order().tolist() == [1, 3, 0, 2]  # ties keep the order of the columns
    assert result.top(2).names == ("b", "d")
    assert result.top(2).p_values.tolist() == [0.001, 0.02]
    assert result.above() == ("b", "c")
    assert result.above(0.15) == ("b",)
    assert result.above(1.0) == ()
    assert len(result.top(0)) == 0
    assert example(p_values=None, replicate_mean=None).top(1).p_values is None
    with pytest.raises(ValueError, match="k must be an int >= 0, got -1"):
        result.top(-1)
