// Sending rows down forests, and reducing them, as Python calls it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/objects.hpp"
#include "bindings/watched.hpp"
#include "forest/accumulate.hpp"
#include "forest/prune.hpp"

namespace duramen::python {

namespace {

Array<std::int32_t> apply(const Forest& forest, const Rows& rows, unsigned n_threads) {
  need_fit(forest, rows);
  std::vector<std::int32_t> leaves(rows.n_rows * forest.view.n_trees);
  duramen::Monitor monitor;
  const auto work = [&] {
    rows.visit([&](const auto& given) {
      duramen::apply(forest.view, given, rows.n_rows, n_threads, monitor, leaves.data());
    });
  };
  run_watched(monitor, nb::none(), work, leaves.size());
  return to_array(std::move(leaves), rows.n_rows, forest.view.n_trees);
}

Array<double> predict(const Forest& forest, const Rows& rows, unsigned n_threads) {
  need_fit(forest, rows);
  std::vector<double> means(rows.n_rows * forest.view.n_values);
  duramen::Monitor monitor;
  const auto work = [&] {
    rows.visit([&](const auto& given) {
      duramen::predict(forest.view, given, rows.n_rows, n_threads, monitor, means.data());
    });
  };
  run_watched(monitor, nb::none(), work, means.size() * forest.view.n_trees);
  return to_array(std::move(means), rows.n_rows, forest.view.n_values);
}

std::tuple<Array<double>, Array<std::uint32_t>, Array<double>> oob(const Forest& forest,
                                                                   const Table& table,
                                                                   const Target& target,
                                                                   const Bag& bag,
                                                                   unsigned n_threads) {
  need_fit(forest, table, target);
  need_no_survival(target);
  duramen::Monitor monitor;
  duramen::Problem problem;
  problem.table = table.view;
  problem.settings = bag.settings();
  problem.seed = bag.seed;
  problem.n_classes = target.view.n_classes;
  problem.classes = target.view.classes;
  problem.response = target.view.response;
  problem.monitor = &monitor;
  duramen::OutOfBag result;
  run_watched(monitor, nb::none(), [&] {
    result = duramen::out_of_bag(forest.view, problem, bag.first_tree, n_threads);
  });
  return {to_array(std::move(result.sums), table.n_rows, forest.view.n_values),
          to_array(std::move(result.counts)), to_array(std::move(result.error))};
}

Array<double> proximity(const Matrix<std::int32_t>& leaves, const std::optional<Matrix<bool>>& out,
                        unsigned n_threads) {
  const std::size_t n = leaves.shape(0);
  const std::uint8_t* mask = nullptr;
  if (out) {
    need(out->shape(0) == n && out->shape(1) == leaves.shape(1),
         "the mask and the leaves differ in shape");
    mask = reinterpret_cast<const std::uint8_t*>(out->data());
  }
  std::vector<double> result(n * n);
  duramen::Monitor monitor;
  run_watched(monitor, nb::none(), [&] {
    duramen::proximity(leaves.data(), mask, n, leaves.shape(1), n_threads, monitor, result.data());
  });
  return to_array(std::move(result), n, n);
}

std::tuple<Array<double>, Array<double>, std::optional<Array<double>>> mdi(const Forest& forest,
                                                                           std::size_t n_columns,
                                                                           bool by_degree,
                                                                           bool scored) {
  need(forest.n_columns <= n_columns, "the forest splits on more columns than n_columns");
  duramen::Decreases result;
  {
    nb::gil_scoped_release unlocked;
    result = duramen::mean_decreases(forest.view, n_columns, by_degree, scored);
  }
  std::optional<Array<double>> degrees;
  if (by_degree) degrees = to_array(std::move(result.by_degree), n_columns, result.n_degrees);
  return {to_array(std::move(result.mean)), to_array(std::move(result.standard_error)), degrees};
}

std::tuple<Array<double>, Array<double>, Array<std::int64_t>> weakest_links(const Forest& forest) {
  duramen::WeakestLinks links;
  {
    nb::gil_scoped_release unlocked;
    links = duramen::weakest_links(forest.view);
  }
  return {to_array(std::move(links.alpha)), to_array(std::move(links.increase)),
          to_array(std::move(links.fewer))};
}

}  // namespace

void bind_forests(nb::module_& module) {
  module.def("apply", &apply, nb::arg("forest"), nb::arg("rows"), nb::arg("n_threads"),
             "Leaves of rows, row by tree.");
  module.def("predict", &predict, nb::arg("forest"), nb::arg("rows"), nb::arg("n_threads"),
             "Mean leaf values of rows, row by value.");
  module.def("oob", &oob, nb::arg("forest"), nb::arg("table"), nb::arg("target"), nb::arg("bag"),
             nb::arg("n_threads"), "Out-of-bag sums, counts, and the error after 1, 2, ... trees.");
  module.def("proximity", &proximity, nb::arg("leaves"), nb::arg("out").none(),
             nb::arg("n_threads"), "Fraction of trees with a common leaf, row by row.");
  module.def("mdi", &mdi, nb::arg("forest"), nb::arg("n_columns"), nb::arg("by_degree"),
             nb::arg("scored") = false,
             "Mean decrease of impurity of every column, its standard error, and its parts by "
             "degree.");
  module.def(
      "weakest_links", &weakest_links, nb::arg("forest"),
      "Complexity parameter at which each node becomes a leaf (NaN: never by itself), and by "
      "what the impurity of the leaves grows and their number falls then.");
}

}  // namespace duramen::python
