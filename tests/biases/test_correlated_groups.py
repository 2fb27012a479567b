"""Claims of docs/biases/correlated-groups.md, in small."""

from functools import partial

import numpy as np
import pytest
from benchmarks.biases import correlated_groups
from benchmarks.biases.chance import simulated
from benchmarks.biases.correlated_groups import SIZES, by_size, of_bystander, of_copies, of_groups

import duramen as dm


def test_copies_divide_the_importance():
    for c, mdi, other, mda, _, row, _, group in of_copies().rows:
        assert mdi == pytest.approx(1 / c)
        assert mda == pytest.approx(0.5 / c)
        assert other == pytest.approx(1)
        assert group == pytest.approx(1)
        assert row == pytest.approx(0.5 if c == 1 else 0)


def test_copies_agree_with_the_closed_form():
    two = dm.theory.specify(
        {
            "X1": dm.theory.distributions.specification.uniform(2),
            "X2": dm.theory.distributions.specification.uniform(2),
            "Y": dm.theory.distributions.specification.function(lambda a, b: 2 * a + b, "X1", "X2"),
        }
    )
    for row in of_copies().rows:
        closed = dm.theory.population.redundant_importances(two, "X1", copies=row[0] - 1)
        assert row[1] == pytest.approx(closed["X1"], abs=1e-12)
        assert row[2] == pytest.approx(closed["X2"], abs=1e-12)


def test_members_of_larger_groups_have_less_each_and_more_together():
    rows = np.array(correlated_groups.of_members((1, 2, 3)).rows, dtype=float)
    _, each, together, other, mda, _, _ = rows.T
    assert (np.diff(each) < 0).all()
    assert (np.diff(together) > 0).all()
    assert np.allclose(other, other[0])
    assert (np.diff(mda) < 0).all()


def test_a_bystander_has_mdi_with_one_candidate_and_none_with_all():
    for same, *values in of_bystander().rows:
        _, first_candidate, _, both, _, mda, _, options = values
        if same in ("0.7", "0.9"):
            assert first_candidate > 0.04
            assert both == pytest.approx(0)
            assert mda == pytest.approx(0)
        assert options == pytest.approx(0)


def test_blocks_of_normal_features_have_the_known_importance():
    table = {row[0]: row[1:] for row in correlated_groups.of_normal_blocks((3,)).rows}
    assert table[3][2] == pytest.approx(0.10331, abs=1e-5)


@pytest.mark.slow
def test_members_of_large_groups_are_below_a_single_feature_in_forests():
    measures = ("mdi", "mda", "conditional_mda")
    groups = partial(of_groups, measures=measures, tested=False)
    rows = {row[0]: row[1:] for row in by_size(simulated(groups, 6, 1), measures).rows}
    for name in ("MDI", "MDA", "conditional MDA"):
        each = rows[f"{name} of each feature"]
        assert each[0] > each[3] > each[4]
    together = rows["MDA of the group, permuted together"]
    assert together[4] > together[0]
    representative = rows["MDA of its representative"][: len(SIZES)]
    assert max(representative) < 3 * min(representative)
