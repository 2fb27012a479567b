// Simulated cultures of neurons, as Python calls them.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/watched.hpp"
#include "culture/rewiring.hpp"
#include "culture/scattering.hpp"
#include "culture/spikes.hpp"

namespace duramen::python {

namespace {

struct Wiring {
  Vector<std::int64_t> offsets;
  Vector<std::uint32_t> targets;
  Vector<double> jumps;
  duramen::culture::Wiring view;

  Wiring(Vector<std::int64_t> ends, Vector<std::uint32_t> neurons, Vector<double> strengths)
      : offsets(std::move(ends)), targets(std::move(neurons)), jumps(std::move(strengths)) {
    need(offsets.shape(0) >= 2, "there are no neurons");
    const std::size_t n = offsets.shape(0) - 1;
    const std::int64_t* places = offsets.data();
    const std::size_t links = targets.shape(0);
    need(std::is_sorted(places, places + n + 1) && places[0] == 0 &&
             static_cast<std::size_t>(places[n]) == links && jumps.shape(0) == links,
         "offsets does not divide the links");
    need(std::all_of(targets.data(), targets.data() + links, [n](auto i) { return i < n; }),
         "a target is no neuron");
    view = {places, targets.data(), jumps.data(), n};
  }
};

std::tuple<Array<std::uint32_t>, Array<std::uint32_t>> simulate_spikes(
    const Wiring& wiring, const duramen::culture::NeuronModel& model, const Vector<double>& noise,
    std::uint64_t seed, std::uint32_t n_steps, std::size_t most) {
  const std::vector<double> counts(noise.data(), noise.data() + noise.shape(0));
  duramen::culture::Spikes spikes;
  duramen::Monitor monitor;
  run_watched(
      monitor, nb::none(),
      [&] {
        spikes =
            duramen::culture::simulate(wiring.view, model, counts, seed, n_steps, most, monitor);
      },
      n_steps * (wiring.view.n_neurons / 8 + 1));
  return {to_array(std::move(spikes.neuron)), to_array(std::move(spikes.step))};
}

Array<float> scatter_light(const Matrix<float>& signal, const Matrix<float>& gain) {
  const std::size_t frames = signal.shape(0);
  const std::size_t n = signal.shape(1);
  need(gain.shape(0) == n && gain.shape(1) == n, "gain has not one row and column a neuron");
  std::vector<float> result(frames * n);
  duramen::Monitor monitor;
  run_watched(
      monitor, nb::none(),
      [&] {
        duramen::culture::scatter(signal.data(), gain.data(), frames, n, monitor, result.data());
      },
      frames * n / 16);
  return to_array(std::move(result), frames, n);
}

std::tuple<Array<std::uint32_t>, double> rewire_links(const Vector<std::uint32_t>& source,
                                                      const Vector<std::uint32_t>& target,
                                                      std::size_t n_neurons, double goal,
                                                      std::uint64_t seed, std::uint64_t tries) {
  const std::size_t count = source.shape(0);
  need(target.shape(0) == count, "source and target differ in length");
  duramen::culture::Links links{{source.data(), source.data() + count},
                                {target.data(), target.data() + count}};
  const auto is_neuron = [n_neurons](std::uint32_t i) { return i < n_neurons; };
  need(std::all_of(links.source.begin(), links.source.end(), is_neuron) &&
           std::all_of(links.target.begin(), links.target.end(), is_neuron),
       "a link joins no two neurons");
  double reached = 0.0;
  duramen::Monitor monitor;
  run_watched(monitor, nb::none(), [&] {
    reached = duramen::culture::rewire(links, n_neurons, goal, seed, tries, monitor);
  });
  return {to_array(std::move(links.target)), reached};
}

}  // namespace

void bind_cultures(nb::module_& module) {
  using Model = duramen::culture::NeuronModel;
  nb::class_<Wiring>(module, "Wiring", "Links of a network of neurons.")
      .def(nb::init<Vector<std::int64_t>, Vector<std::uint32_t>, Vector<double>>(), nb::kw_only(),
           lent("offsets"), lent("targets"), lent("jumps"));
  nb::class_<Model>(module, "NeuronModel", "Constants of a neuron for one step of time.")
      .def(
          "__init__",
          [](Model* self, double membrane, double synapse, double feed, double by_rise,
             double by_current, double threshold, std::size_t refractory, std::size_t delay,
             double release, double inactivation, double recovery, double ratio,
             double noise_jump) {
            need(delay >= 1, "a delay is at least one step");
            new (self)
                Model{membrane, synapse, feed,         by_rise,  by_current, threshold, refractory,
                      delay,    release, inactivation, recovery, ratio,      noise_jump};
          },
          nb::kw_only(), nb::arg("membrane"), nb::arg("synapse"), nb::arg("feed"),
          nb::arg("by_rise"), nb::arg("by_current"), nb::arg("threshold"), nb::arg("refractory"),
          nb::arg("delay"), nb::arg("release"), nb::arg("inactivation"), nb::arg("recovery"),
          nb::arg("ratio"), nb::arg("noise_jump"));
  module.def("simulate_spikes", &simulate_spikes, nb::arg("wiring"), nb::arg("model"),
             lent("noise"), nb::arg("seed"), nb::arg("n_steps"), nb::arg("most"),
             "Neuron and step of every spike.");
  module.def("rewire_links", &rewire_links, lent("source"), lent("target"), nb::arg("n_neurons"),
             nb::arg("goal"), nb::arg("seed"), nb::arg("tries"),
             "Targets after the exchanges, and the clustering coefficient.");
  module.def("scatter_light", &scatter_light, lent("signal"), lent("gain"),
             "Product of a signal, frames by neurons, and what neurons receive of each other.");
}

}  // namespace duramen::python
