"""Simulated cultures: neurons, synapses, imaging, search for a strength."""

import numpy as np
import pytest
from benchmarks.networks.simulator import (
    culture_wiring,
)
from tests.oracles import culture as oracle

import duramen as dm
from duramen import _kernel
from duramen.datasets import CalciumImaging, NeuronModel, Spikes, Wiring
from duramen.datasets.cultures import decay, poisson_distribution, simulate_spikes


def ring(n, peak=1.0):
    """Links from each neuron to the next two, every third one inhibitory."""
    source = np.repeat(np.arange(n), 2)
    target = (source + 1 + np.arange(2 * n) % 2) % n
    weight = np.where(source % 3 == 2, -peak, peak)
    return Wiring(source, target, weight, positions=np.random.default_rng(0).random((n, 2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"step": 1.0, "delay": 2.0, "recovery_time": 80.0},
        {"event_current": 4.0, "event_rate": 60.0, "refractory_time": 0.0},
        {"capacitance": 2.0, "synapse_time": 4.0, "inactivation_time": 20.0, "release": 0.8},
    ],
)
def test_spikes_are_those_of_the_oracle(change):
    model = NeuronModel(**{"event_rate": 8.0, **change})
    wiring, strength, seed = ring(7), 25.0, 12345
    spikes = simulate_spikes(wiring, strength, model, 800.0, seed, most_rate=1e3)
    n_steps = round(800 / model.step)
    events = oracle.noise_events(seed, 7, 7 * model.event_rate * model.step / 1000, n_steps)
    links = zip(wiring.source, wiring.target, strength * wiring.weight, strict=True)
    expected = oracle.simulate(list(links), model, events)
    assert len(expected) > 40
    actual = zip((spikes.time / model.step).round().astype(int), spikes.neuron, strict=True)
    assert [(int(a), int(b)) for a, b in actual] == expected


def test_constants():
    assert decay(0.5, 20.0) == pytest.approx(np.exp(-0.025), abs=1e-12)
    from scipy.stats import poisson

    for mean in (0.0, 0.1, 30.0):
        values = poisson_distribution(mean)
        assert np.allclose(values, poisson.cdf(np.arange(len(values)), mean), atol=1e-11)
        assert values[-1] > 1 - 1e-11


@pytest.mark.parametrize(("frames", "n"), [(1, 1), (5, 17), (9, 16), (300, 33)])
def test_light_is_scattered_in_a_fixed_order(frames, n):
    rng = np.random.default_rng(n)
    signal = rng.random((frames, n), dtype=np.float32)
    gain = rng.random((n, n), dtype=np.float32)
    expected = np.zeros((frames, n), dtype=np.float32)
    for j in range(n):
        expected += signal[:, j : j + 1] * gain[j]
    assert np.array_equal(_kernel.scatter_light(signal, gain), expected)


def test_fluorescence_of_one_spike():
    imaging = CalciumImaging(noise=0.0, scattering=0.0)
    spikes = Spikes(np.array([1, 0]), np.array([-500.0, 65.0]))
    light = imaging.record(spikes, [[0, 0], [1, 1]], 5000)
    after = (np.arange(5000) + 1) * 20.0
    old, new = 50 * np.exp(-(after + 500) / 1000), 50 * np.exp(-(after - 65) / 1000) * (after > 65)
    assert light[:, 1] == pytest.approx(old / (old + 300), rel=1e-5)
    assert light[:, 0] == pytest.approx(new / (new + 300), rel=1e-5)
    assert light[3, 0] == pytest.approx(0.1410, abs=1e-4)  # 15 ms after: 49.26 / 349.26


def test_noise_and_scattering_are_those_of_the_formula():
    places = np.array([[0.0, 0.0], [0.03, 0.0], [0.03, 0.06], [0.9, 0.9]])
    spikes = Spikes(np.array([0, 0, 3]), np.array([100.0, 110.0, 4000.0]))
    clear = CalciumImaging(noise=0.0, scattering=0.0).record(spikes, places, 6000)
    noisy = CalciumImaging(scattering=0.0).record(spikes, places, 6000, random_state=1)
    assert (noisy - clear).std() == pytest.approx(0.03, rel=0.03)
    seen = CalciumImaging().record(spikes, places, 6000, random_state=1)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    gain = 0.15 * np.exp(-((apart / 0.03) ** 2))
    np.fill_diagonal(gain, 1.0)
    assert seen == pytest.approx(noisy @ gain, abs=1e-5)


def test_culture_is_reproducible_and_knows_its_truth():
    wiring = culture_wiring(40, random_state=3)
    made, again = (
        dm.datasets.calcium_culture(300, wiring=wiring, strength=12.0, random_state=s)
        for s in (1, np.random.default_rng(1))
    )
    assert made.fluorescence.tobytes() == again.fluorescence.tobytes()
    assert made.fluorescence.shape == (300, 40)
    assert made.fluorescence.dtype == np.float32
    active = wiring.reweighted(np.maximum(wiring.weight, 0))
    assert np.array_equal(made.links, active.matrix())
    assert made.wiring.weight.max() == 12.0
    assert made.names[:2] == ("N1", "N2")
    assert made.positions.shape == (40, 2)
    assert made.spikes.time.min() >= 0
    assert made.spikes.time.max() < 6000.0
    assert (np.diff(made.spikes.time) >= 0).all()
    assert made.firing_rate == pytest.approx(len(made.spikes.time) / 40 / 6)
    open_ = dm.datasets.calcium_culture(
        300, wiring=wiring, strength=12.0, block_inhibition=False, random_state=1
    )
    assert open_.links.sum() == wiring.n_links
    assert open_.wiring.weight.min() == -12.0
    assert open_.firing_rate < made.firing_rate


def test_refuses():
    with pytest.raises(ValueError, match="warm_up must be a multiple"):
        dm.datasets.calcium_culture(9, warm_up=0.3)
    with pytest.raises(ValueError, match=r"imaging\.frame_time must be a multiple"):
        dm.datasets.calcium_culture(9, imaging=CalciumImaging(frame_time=0.7))


def test_builds_simulate_the_same_bytes(both_kernels, use_build):
    made = []
    for build in both_kernels:
        use_build(build)
        made.append(dm.datasets.calcium_culture(500, n_neurons=30, strength=14.0, random_state=0))
    assert made[0].spikes.time.tobytes() == made[1].spikes.time.tobytes()
    assert made[0].fluorescence.tobytes() == made[1].fluorescence.tobytes()
