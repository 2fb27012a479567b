// A network of leaky integrate-and-fire neurons with depressing synapses, driven by noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/problem.hpp"

namespace duramen::culture {

// The links of neuron i lie in offsets[i] .. offsets[i + 1] - 1.
struct Wiring {
  const std::int64_t* offsets;
  const std::uint32_t* targets;
  const double* jumps;  // of the target's current, by a link whose whole resource is released
  std::size_t n_neurons;
};

// Constants for one step of time. The linear equations between spikes are solved exactly:
//   potential' = membrane potential + by_rise rise + by_current current
//   current'   = synapse current + feed rise
//   rise'      = synapse rise
struct NeuronModel {
  double membrane;
  double synapse;
  double feed;
  double by_rise;
  double by_current;
  double threshold;
  std::size_t refractory;  // steps
  std::size_t delay;       // steps, at least 1
  // Depression: a spike releases the fraction `release` of the resource at rest; the released
  // resource becomes inactive, then recovers.
  double release;
  double inactivation;  // factors per step
  double recovery;
  double ratio;  // time constants: recovery / (recovery - inactivation)
  double noise_jump;
};

struct Spikes {
  std::vector<std::uint32_t> neuron;
  std::vector<std::uint32_t> step;
};

// Spikes in order of time, then of the neuron. `noise` holds the distribution function of the
// number of noise events of a step in the whole network. Ends early once there are more than `most`
// spikes.
Spikes simulate(const Wiring& wiring, const NeuronModel& model, const std::vector<double>& noise,
                std::uint64_t seed, std::uint32_t n_steps, std::size_t most, Monitor& monitor);

}  // namespace duramen::culture
