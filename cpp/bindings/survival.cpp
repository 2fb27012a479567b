// Survival forests, as Python calls them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/objects.hpp"
#include "bindings/watched.hpp"
#include "survival/concordance.hpp"
#include "survival/leaves.hpp"

namespace duramen::python {

namespace {

using Weights = std::optional<Vector<double>>;

// The event times of leaves (survival/leaves.hpp), checked once.
struct LeafEvents {
  Vector<std::int64_t> offsets;
  Vector<std::uint32_t> time, events, at_risk;
  duramen::LeafEventsView view;

  LeafEvents(Vector<std::int64_t> bounds, Vector<std::uint32_t> times, Vector<std::uint32_t> counts,
             Vector<std::uint32_t> rows_at_risk, std::size_t n_times)
      : offsets(std::move(bounds)),
        time(std::move(times)),
        events(std::move(counts)),
        at_risk(std::move(rows_at_risk)),
        view{offsets.data(), time.data(), events.data(), at_risk.data(), n_times} {
    const std::size_t n = time.shape(0);
    const std::int64_t* first = offsets.data();
    const std::int64_t* last = first + offsets.shape(0);
    need(first != last && *first == 0 && std::is_sorted(first, last) &&
             static_cast<std::size_t>(last[-1]) == n,
         "the offsets do not divide the events");
    need(events.shape(0) == n && at_risk.shape(0) == n, "the fields of the events differ in size");
    for (std::size_t i = 0; i < n; ++i) {
      need(view.time[i] < n_times, "an event is not at one of n_times times");
      need(view.at_risk[i] > 0 && view.events[i] <= view.at_risk[i],
           "more rows have an event than are at risk");
    }
  }
};

duramen::Problem problem_of(const Forest& forest, const Table& table, const Target& target,
                            const Bag& bag, duramen::Monitor& monitor) {
  need_fit(forest, table, target);
  need(target.view.outcomes.codes != nullptr, "the target is not of survival");
  duramen::Problem problem;
  problem.table = table.view;
  problem.settings = bag.settings(forest.view.n_trees, table.n_rows);
  problem.seed = bag.seed;
  problem.outcomes = target.view.outcomes;
  problem.monitor = &monitor;
  return problem;
}

std::tuple<Array<std::int64_t>, Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint32_t>,
           Array<double>>
leaf_events(const Forest& forest, const Table& table, const Target& target, const Weights& weights,
            const Bag& bag, unsigned n_threads) {
  duramen::Monitor monitor;
  duramen::Problem problem = problem_of(forest, table, target, bag, monitor);
  need(!weights || weights->shape(0) == table.n_rows, "weights has not one entry a row");
  if (weights) problem.weights = weights->data();
  duramen::LeafEvents result;
  run_watched(monitor, nb::none(), [&] {
    result = duramen::leaf_events(forest.view, problem, bag.first_tree, n_threads);
  });
  const std::size_t n_leaves = result.mortality.size();
  return {to_array(std::move(result.offsets)), to_array(std::move(result.time)),
          to_array(std::move(result.events)), to_array(std::move(result.at_risk)),
          to_array(std::move(result.mortality), n_leaves, 1)};
}

Array<double> mean_curves(const Forest& forest, const LeafEvents& leaves, bool survival,
                          const Rows& rows, unsigned n_threads) {
  need_fit(forest, rows);
  need(static_cast<std::int64_t>(leaves.offsets.shape(0)) ==
           forest.view.leaf_offsets[forest.view.n_trees] + 1,
       "the events are not of the leaves of the forest");
  const std::size_t width = leaves.view.n_times;
  std::vector<double> means(rows.n_rows * width);
  duramen::Monitor monitor;
  const duramen::Curve curve =
      survival ? duramen::Curve::survival : duramen::Curve::cumulative_hazard;
  run_watched(monitor, nb::none(), [&] {
    rows.visit([&](const auto& source) {
      duramen::mean_curves(forest.view, leaves.view, curve, source, rows.n_rows, n_threads, monitor,
                           means.data());
    });
  });
  return to_array(std::move(means), rows.n_rows, width);
}

std::tuple<Array<double>, Array<std::uint32_t>, Array<double>> out_of_bag_risks(
    const Forest& forest, const Table& table, const Target& target, const Bag& bag) {
  duramen::Monitor monitor;
  const duramen::Problem problem = problem_of(forest, table, target, bag, monitor);
  duramen::OutOfBagRisks result;
  run_watched(monitor, nb::none(),
              [&] { result = duramen::out_of_bag_risks(forest.view, problem, bag.first_tree); });
  return {to_array(std::move(result.sums), table.n_rows, 1), to_array(std::move(result.counts)),
          to_array(std::move(result.error))};
}

std::tuple<std::int64_t, std::int64_t, std::int64_t> concordant_pairs(const Target& target,
                                                                      const Vector<double>& risks) {
  const duramen::Outcomes& outcomes = target.view.outcomes;
  need(outcomes.codes != nullptr, "the target is not of survival");
  need(risks.shape(0) == target.view.n_rows, "there is not one risk a row");
  duramen::Pairs pairs;
  {
    nb::gil_scoped_release unlocked;
    const auto rows = duramen::rows_by_time(outcomes, target.view.n_rows);
    pairs = duramen::count_pairs(outcomes, rows, risks.data());
  }
  return {pairs.concordant, pairs.tied, pairs.comparable};
}

}  // namespace

void bind_survival(nb::module_& module) {
  nb::class_<LeafEvents>(module, "LeafEvents", "Event times of the leaves of survival trees.")
      .def(nb::init<Vector<std::int64_t>, Vector<std::uint32_t>, Vector<std::uint32_t>,
                    Vector<std::uint32_t>, std::size_t>(),
           lent("offsets"), lent("time"), lent("events"), lent("at_risk"), nb::arg("n_times"));
  module.def("leaf_events", &leaf_events, nb::arg("forest"), nb::arg("table"), nb::arg("target"),
             nb::arg("weights").none(), nb::arg("bag"), nb::arg("n_threads"),
             "Offsets, times, events, rows at risk, and mortality of every leaf.");
  module.def("mean_curves", &mean_curves, nb::arg("forest"), nb::arg("leaves"), nb::arg("survival"),
             nb::arg("rows"), nb::arg("n_threads"),
             "Mean cumulative hazards, or survival functions, row by event time.");
  module.def("out_of_bag_risks", &out_of_bag_risks, nb::arg("forest"), nb::arg("table"),
             nb::arg("target"), nb::arg("bag"),
             "Out-of-bag sums of mortalities, counts, and 1 - concordance after 1, 2, ... trees.");
  module.def("concordant_pairs", &concordant_pairs, nb::arg("target"), nb::arg("risks"),
             "Numbers of concordant, tied and comparable pairs.");
}

}  // namespace duramen::python
