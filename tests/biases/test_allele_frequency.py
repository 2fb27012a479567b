"""Claims of docs/biases/allele-frequency.md, in small."""

import numpy as np
import pytest
from benchmarks.biases import allele_frequency
from benchmarks.biases.allele_frequency import (
    GROUPS,
    INFORMATION,
    RELEVANT,
    TESTED,
    entropy,
    genotypes,
    log_odds,
    null_task,
    risk,
)
from benchmarks.biases.chance import QUICK, flatness, grouped, simulated

import duramen as dm

HIGH = 4.5  # standard errors of the largest of 7 deviations


@pytest.fixture(scope="module", params=allele_frequency.CASES.values())
def null(request):
    return simulated(null_task(request.param, QUICK), 10, 1)


@pytest.fixture(scope="module", params=allele_frequency.CASES.values())
def tested(request):
    return simulated(null_task(request.param, ()), 10, 1)


@pytest.mark.slow
def test_measures_are_flat_or_known_as_biased(null):
    for i, name in enumerate(QUICK):
        _, score = flatness(null[:, i], GROUPS)
        biased = dm.importances.catalogue[name].favors_many_values
        assert (score > HIGH) == biased, (name, score)
        if name == "mdi":
            means = grouped(null[:, i], GROUPS).mean(axis=0)
            assert means[-1] > 3 * means[0]


@pytest.mark.slow
def test_p_values_of_max_t_hold_at_every_frequency(tested):
    """50 SNPs of each frequency in 10 data sets; 3.5 standard errors of a binomial fraction."""
    for name in ("max-T of MDA, p", "max-T of MDI, p"):
        taken = grouped(tested[:, TESTED.index(name)], GROUPS).mean(axis=0)
        assert (taken < 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 50)).all()


@pytest.mark.parametrize("frequency", RELEVANT)
def test_relevant_snps_have_the_same_information(frequency):
    values = genotypes(frequency)
    cases = risk(np.arange(3), frequency, log_odds(frequency))
    cell = np.stack([values * cases, values * (1 - cases)])
    target = cell.sum(axis=1)
    bits = np.sum(cell * np.log2(cell / np.outer(target, values)))
    assert bits == pytest.approx(INFORMATION, abs=1e-9)
    assert entropy(target[:1])[0] > 0.9


def test_rare_alleles_gain_less_by_chance_in_theory():
    small = [row[1] for row in allele_frequency.at_a_node().rows]
    gini = [row[-1] for row in allele_frequency.at_a_node().rows]
    assert (np.diff(small) > 0).all()
    assert small[-1] > 10 * small[0]
    assert gini[-1] > 10 * gini[0]
