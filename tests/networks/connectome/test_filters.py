"""Filters of calcium signals."""

import numpy as np
import pytest
from scipy import sparse
from tests.networks.connectome.cultures import bursting
from tests.oracles import connectome as oracle

from duramen.networks import connectome as dc
from duramen.networks.connectome.filters import peaks_of, process

IMPULSE = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [0.0], [0.0], [0.0], [0.0]])


@pytest.mark.parametrize(
    "name, expected",
    [
        ("f1", [0, 0, 0, 1, 1, 1, 0, 0, 0]),
        ("f2", [0, 0, 0, 0, 1, 1, 0.8, 0.4, 0]),
        ("f3", [0, 0, 1, 1, 1, 1, 0, 0, 0]),
        ("f4", [0, 1, 1, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_low_pass_filters_of_an_impulse(name, expected):
    np.testing.assert_allclose(dc.low_pass(IMPULSE, name).ravel(), expected)


def test_a_recording_goes_on_beyond_its_ends_with_its_first_and_last_frame():
    x = np.array([[1.0], [2.0], [4.0], [8.0]])
    assert dc.low_pass(x, "f1").ravel().tolist() == [4, 7, 14, 20]
    assert dc.low_pass(x, "f4").ravel().tolist() == [15, 22, 28, 32]
    assert dc.low_pass(x, "f2").ravel() == pytest.approx([3.2, 4.2, 7.2, 14.0])
    assert dc.difference(x).ravel().tolist() == [0, 1, 2, 4]


@pytest.mark.parametrize("name", ["f1", "f2", "f3", "f4"])
def test_a_constant_recording_has_no_rises(name):
    rises = dc.difference(dc.low_pass(np.full((9, 2), 0.7), name))
    assert np.abs(rises).max() < 1e-15


def test_threshold_keeps_its_own_value():
    x = np.array([[0.12, 0.1199], [-0.5, 0.3]])
    result = dc.hard_threshold(x, 0.12)
    assert sparse.issparse(result)
    assert result.toarray().tolist() == [[0.12, 0], [0, 0.3]]


def test_w_of_frames_made_by_hand():
    x = np.array([[0.5, 0.0, 0.0], [0.5, 0.5, 1.0], [0.0, 0.0, 0.0]])
    expected = [[1.5**3, 1, 1], [1.5**1.5, 1.5**1.5, 2**1.5], [1, 1, 1]]
    np.testing.assert_allclose(dc.emphasize(x), expected, rtol=1e-14)
    raised = dc.emphasize(dc.hard_threshold(x, 0.1))
    np.testing.assert_allclose(raised.toarray() + 1, expected, rtol=1e-14)


def test_w_star_of_frames_made_by_hand():
    # Sums 1, 0, 8: with half of the frame before 1, .5, 8; relative 1/8, 1/16, 1.
    x = np.array([[1.0, 0.0], [0.0, 0.0], [4.0, 4.0]])
    program = [[(2**2) ** 1.9, 1], [1, 1], [(5**1.125) ** 1.4] * 2]
    np.testing.assert_allclose(dc.emphasize(x, tuned="f1"), program, rtol=1e-13)
    paper = [[2 ** (2**1.9), 1], [1, 1], [5 ** (1.125**1.4)] * 2]
    np.testing.assert_allclose(dc.emphasize(x, tuned="f1", form="paper"), paper, rtol=1e-13)


def test_the_sum_of_the_program_takes_half_of_the_frame_before():
    x = np.array([[2.0, 0.0], [1.0, 0.0]])
    result = dc.emphasize(x, k=1)
    np.testing.assert_allclose(result, [[3**1.5, 1], [2**1.5, 1]], rtol=1e-14)


@pytest.mark.parametrize("form", ["program", "paper"])
def test_w_star_with_exponent_1_is_w_in_frames_after_silence(form):
    x = np.array([[1.0, 0.3], [0.0, 0.0], [0.2, 0.4], [0.0, 0.0]])
    np.testing.assert_allclose(dc.emphasize(x, form=form, k=1), dc.emphasize(x), rtol=1e-14)


@pytest.mark.parametrize("name", [None, "f1", "f2", "f3", "f4"])
@pytest.mark.parametrize("weighting", ["none", "w", "w_star"])
@pytest.mark.parametrize("exponent", [None, 0.9])
def test_processing_equals_the_formulas(name, weighting, exponent):
    if name is None and weighting == "w_star":
        pytest.skip("w* belongs to a low-pass filter")
    x = bursting()
    for form in ("program", "paper"):
        printed = form == "paper" and weighting == "w_star"
        used = "w_star_paper" if printed else weighting
        peaks = peaks_of(x, name or "none", 0.1)
        result = process(peaks, name or "none", 0.13, exponent, used).toarray()
        result += weighting != "none"
        expected = oracle.processed(
            x, name, 0.13, exponent=exponent, weighting=weighting, form=form
        )
        np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("name", [None, "f1", "f2", "f3", "f4"])
def test_blocks_of_frames_do_not_change_the_peaks(monkeypatch, name):
    x = bursting(p=7)
    composed = dc.hard_threshold(dc.difference(x if name is None else dc.low_pass(x, name)), 0.1)
    for numbers in (7, 50, 1 << 20):
        monkeypatch.setattr("duramen.networks.connectome.filters._FRAMES", numbers)
        for n_threads in (1, 3):
            result = peaks_of(x, name or "none", 0.1, n_threads=n_threads)
            for part in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(result, part), getattr(composed, part))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: dc.low_pass(IMPULSE, "f9"), "low_pass: name must be one of"),
        (lambda: dc.low_pass(np.zeros(3)), "low_pass: x must be frames by neurons"),
        (lambda: dc.hard_threshold(IMPULSE, 0), "hard_threshold: threshold must be a number > 0"),
        (lambda: dc.emphasize(-IMPULSE), "emphasize: x must not be negative"),
        (lambda: dc.emphasize(IMPULSE, form="book"), "emphasize: form must be one of"),
        (lambda: dc.power(IMPULSE, 0), "power: exponent must be a number > 0"),
        (lambda: dc.difference(sparse.csr_array(IMPULSE)), "difference: x must be a dense array"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
