import numpy as np
import pytest
from tests.grid import one_test

from duramen import ContextImportances, ContextNetwork

NAMES = ("u", "v", "w")


def analysis(target, scale=1.0, p_values=None, tested=True, **changes):
    """What the two other variables say of a target, in the contexts "a" and "b"."""
    fields = {
        "names": tuple(name for name in NAMES if name != target),
        "contexts": ("a", "b"),
        "fractions": [0.5, 0.5],
        "importances": [0.4 * scale, 0.2 * scale],
        "absolute": [[0.3 * scale, 0.1 * scale], [0.2 * scale, 0.05 * scale]],
        "signed": [[-0.3 * scale, 0.1 * scale], [0.1 * scale, 0.0]],
        "conditional": [[0.7 * scale, 0.1 * scale], [0.3 * scale, 0.2 * scale]],
        "overall": [-0.1 * scale, 0.05 * scale],
        "relevance": 0.1,
        "context_name": "arm",
        "unit": "variance",
    }
    if tested:
        fields |= {
            "absolute_p_values": p_values,
            "signed_p_values": np.minimum(1, 2 * np.array(p_values)),
            "n_permutations": 99,
        }
    return ContextImportances(**{**fields, **changes})


P_VALUES = {
    "u": [[0.5, 0.6], [0.7, 0.8]],
    "v": [[0.001, 0.9], [0.02, 0.03]],
    "w": [[0.004, 0.03], [1.0, 0.004]],
}


def example(targets=NAMES, **changes):
    analyses = {
        target: analysis(target, 1.0 + NAMES.index(target), P_VALUES[target]) for target in targets
    }
    return ContextNetwork.of(NAMES, analyses, {"seed": 3}, **changes)


def untested():
    return ContextNetwork.of(NAMES, {name: analysis(name, tested=False) for name in NAMES})


# --- matrices ------------------------------------------------------------------------------------


def test_matrices_lead_from_source_to_target():
    network = example()
    # column "v" holds what u and w say of v
    wanted = [[0, 0.6, 0.9], [0.3, 0, 0.3], [0.1, 0.2, 0]]
    np.testing.assert_allclose(network.in_context("a").weights, wanted, rtol=0, atol=1e-15)
    assert network.in_context("a", "signed").weights[0, 1] == -0.6
    assert network.in_context("b", "signed").weights[2, 1] == 0.0
    np.testing.assert_allclose(network.in_context("b", "conditional").weights[:, 2], [0.9, 0.6, 0])
    np.testing.assert_allclose(network.weights[:, 0], [0, 0.4, 0.2])
    assert network.in_context("a").p_values.tolist() == [
        [1, 0.001, 0.004],
        [0.5, 1, 0.03],
        [0.6, 0.9, 1],
    ]
    assert network.in_context("a", "signed").p_values[0, 1] == 0.002


def test_some_targets_make_some_columns():
    network = example(targets=("w", "u"))
    assert tuple(network.analyses) == ("w", "u")
    assert network.targets.tolist() == [True, False, True]
    assert network.names == NAMES
    np.testing.assert_allclose(
        network.in_context("a").weights, [[0, 0, 0.9], [0.3, 0, 0.3], [0.1, 0, 0]]
    )
    assert network.in_context("a").p_values.tolist() == [[1, 1, 0.004], [0.5, 1, 0.03], [0.6, 1, 1]]
    # 8 p-values, of which the smallest two are .004
    assert network.links(alpha=0.016)[["source", "target"]].values.tolist() == [
        ["u", "w"],
        ["v", "w"],
    ]


def test_control_is_over_all_links_and_contexts():
    network = example()

    def count(alpha, control="fdr"):
        return len(network.links(alpha=alpha, control=control))

    # 12 p-values: .001, .004, .004, .02, .03, .03, .5, ...: q .012, .016, .016, .06, .06, .06
    assert [count(alpha) for alpha in (0.011, 0.013, 0.05, 0.06, 1.0)] == [0, 1, 3, 6, 12]
    # Holm: 12 x .001, 11 x .004
    assert [count(alpha, "fwer") for alpha in (0.043, 0.044)] == [1, 3]
    assert count(0.05, "none") == 6


def test_what_is_not_there():
    network = example()
    for call, message in (
        (lambda: network.in_context("a", "overall").weights, "effect must be one of"),
        (lambda: network.in_context("c").weights, "context must be one of 'a', 'b', got 'c'"),
        (lambda: network.in_context("a", "plain").weights, "the effect 'plain' was not computed"),
        (lambda: network.links(alpha=-1), r"ContextNetwork: alpha must be a number in"),
        (lambda: network.links(control="by"), "control must be"),
        (lambda: network.links("plain"), "no p-values of the effect 'plain'"),
        (lambda: untested().links(), "no p-values of the effect 'absolute'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# --- links ---------------------------------------------------------------------------------------


def test_links_are_sorted_and_significant():
    links = example().links()
    assert list(links.columns) == [
        *("source", "target", "context", "importance", "absolute", "signed"),
        *("p_value", "adjusted", "kind"),
    ]
    result = links[["source", "target", "context"]].to_numpy().tolist()
    # .001; then .004 twice, the larger effect first
    assert result == [["u", "v", "a"], ["u", "w", "a"], ["v", "w", "b"]]
    assert links["p_value"].tolist() == [0.001, 0.004, 0.004]
    np.testing.assert_allclose(links["adjusted"], [0.012, 0.016, 0.016])
    np.testing.assert_allclose(links["absolute"], [0.6, 0.9, 0.15])
    np.testing.assert_allclose(links["importance"], [0.8, 1.2, 0.6])
    assert links["kind"].tolist() == ["complementary", "complementary", "mixed"]
    assert len(example().links(control="none")) == 6
    assert len(example().links(alpha=1.0)) == 12
    assert len(example().links(alpha=0.0)) == 0
    signed = example().links("signed", control="none")
    assert signed["p_value"].tolist() == [0.002, 0.008, 0.008, 0.04]


# --- as a result ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("analyses", "message"),
    [
        ({}, "analyses must hold at least one target"),
        ({"x": analysis("u", tested=False)}, "the analysis of 'x' must have all other variables"),
        ({"v": analysis("u", tested=False)}, "the analysis of 'v' must have all other variables"),
        (
            {
                "u": analysis("u", tested=False),
                "v": analysis("v", tested=False, contexts=("a", "c")),
            },
            "the analysis of 'v' .* the contexts of the others",
        ),
    ],
)
def test_refuses(analyses, message):
    with pytest.raises(ValueError, match=f"ContextNetwork: {message}"):
        ContextNetwork.of(NAMES, analyses)
