#include "culture/spikes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lanes.hpp"
#include "random.hpp"

namespace duramen::culture {

namespace {

// factor^0, factor^1, ... by repeated multiplication, which rounds equally on every processor.
class Powers {
 public:
  explicit Powers(double factor) {
    constexpr double kNothing = 1e-18;
    for (double value = 1.0; value > kNothing && powers_.size() < kMost; value *= factor) {
      powers_.push_back(value);
    }
  }
  double operator()(std::size_t exponent) const {
    return exponent < powers_.size() ? powers_[exponent] : 0.0;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;
  std::vector<double> powers_;
};

// The resource of every neuron's synapses: at rest, inactive, or recovering.
class Depression {
 public:
  Depression(const NeuronModel& model, std::size_t n)
      : model_(model),
        inactivation_(model.inactivation),
        recovery_(model.recovery),
        rest_(n, 1.0),
        inactive_(n, 0.0),
        last_(n, 0) {}

  // Amount that a spike of the neuron at this step releases.
  double release(std::uint32_t neuron, std::uint32_t step) {
    const std::size_t elapsed = step - last_[neuron];
    last_[neuron] = step;
    const double still_inactive = inactivation_(elapsed);
    const double unrecovered = recovery_(elapsed);
    const double recovering = 1.0 - rest_[neuron] - inactive_[neuron];
    // Both stages passed since the last spike.
    const double both = 1.0 - model_.ratio * unrecovered + (model_.ratio - 1.0) * still_inactive;
    rest_[neuron] += both * inactive_[neuron] + (1.0 - unrecovered) * recovering;
    const double released = model_.release * rest_[neuron];
    inactive_[neuron] = still_inactive * inactive_[neuron] + released;
    rest_[neuron] -= released;
    return released;
  }

 private:
  const NeuronModel& model_;
  Powers inactivation_;
  Powers recovery_;
  std::vector<double> rest_;
  std::vector<double> inactive_;
  std::vector<std::uint32_t> last_;
};

// Sets decayed values to 0: arithmetic on numbers below the normal range takes a hundred cycles.
void clear_faded(std::vector<double>& values) {
  constexpr double kFaded = 1e-30;
  for (double& value : values) value = std::abs(value) < kFaded ? 0.0 : value;
}

struct Emission {
  std::uint32_t neuron;
  double released;
};

}  // namespace

Spikes simulate(const Wiring& wiring, const NeuronModel& model, const std::vector<double>& noise,
                std::uint64_t seed, std::uint32_t n_steps, std::size_t most, Monitor& monitor) {
  const std::size_t n = wiring.n_neurons;
  std::vector<double> potential(n, 0.0);
  std::vector<double> current(n, 0.0);
  std::vector<double> rise(n, 0.0);
  Depression synapses(model, n);
  // Spikes of the last steps: those that arrive now, and those of neurons that still rest.
  const std::size_t ring = std::max(model.delay, model.refractory) + 1;
  std::vector<std::vector<Emission>> recent(ring);
  const std::uint64_t key = Random::key(seed, 0);
  Spikes spikes;

  for (std::uint32_t step = 0; step < n_steps && spikes.neuron.size() <= most; ++step) {
    if (step % 1024 == 0) {
      monitor.done = step;
      if (monitor.stop.load(std::memory_order_relaxed)) return spikes;
    }
    if (step % 256 == 0) {
      for (auto* state : {&potential, &current, &rise}) clear_faded(*state);
    }
    double* const __restrict v = potential.data();
    double* const __restrict i = current.data();
    double* const __restrict r = rise.data();
    for (std::size_t k = 0; k < n; ++k) {
      v[k] = model.membrane * v[k] + (model.by_rise * r[k] + model.by_current * i[k]);
      i[k] = model.synapse * i[k] + model.feed * r[k];
      r[k] = model.synapse * r[k];
    }
    for (std::size_t back = 1; back <= std::min<std::size_t>(model.refractory, step); ++back) {
      for (const Emission& spike : recent[(step - back) % ring]) v[spike.neuron] = 0.0;
    }
    if (step >= model.delay) {
      for (const Emission& spike : recent[(step - model.delay) % ring]) {
        const auto end = static_cast<std::size_t>(wiring.offsets[spike.neuron + 1]);
        for (auto link = static_cast<std::size_t>(wiring.offsets[spike.neuron]); link < end;
             ++link) {
          r[wiring.targets[link]] += spike.released * wiring.jumps[link];
        }
      }
    }
    Random random(key, step, Purpose::noise);
    const double u = random.uniform();
    for (std::size_t count = 0; count < noise.size() && u >= noise[count]; ++count) {
      r[random.below(static_cast<std::uint32_t>(n))] += model.noise_jump;
    }
    std::vector<Emission>& now = recent[step % ring];
    now.clear();
    if (largest_of(v, n) >= model.threshold) {
      for (std::size_t k = 0; k < n; ++k) {
        if (v[k] < model.threshold) continue;
        const auto neuron = static_cast<std::uint32_t>(k);
        v[k] = 0.0;
        now.push_back({neuron, synapses.release(neuron, step)});
        spikes.neuron.push_back(neuron);
        spikes.step.push_back(step);
      }
    }
  }
  monitor.done = n_steps;
  return spikes;
}

}  // namespace duramen::culture
