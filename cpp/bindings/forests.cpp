// Sending rows down forests, and reducing them, as Python calls it.
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
#include "forest/accumulate.hpp"
#include "forest/apply.hpp"
#include "forest/changes.hpp"
#include "forest/information.hpp"
#include "forest/pairs.hpp"
#include "forest/prune.hpp"

namespace duramen::python {

namespace {

// -1 where a row is in the bag of a tree, if bags are given.
Array<std::int32_t> apply(const Forest& forest, const Rows& rows, unsigned n_threads,
                          const Bag* bag) {
  need_fit(forest, rows);
  std::vector<std::int32_t> leaves(rows.n_rows * forest.view.n_trees, -1);
  duramen::Monitor monitor;
  std::optional<duramen::OutOfBagRows> out_of_bag;
  if (bag != nullptr) {
    out_of_bag.emplace(bag->settings(forest.view.n_trees, rows.n_rows), rows.n_rows, bag->seed,
                       bag->first_tree);
  }
  const auto work = [&] {
    rows.visit([&](const auto& source) {
      duramen::apply(forest.view, source, rows.n_rows, n_threads, monitor,
                     out_of_bag ? &*out_of_bag : nullptr, leaves.data());
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
    rows.visit([&](const auto& source) {
      duramen::predict(forest.view, source, rows.n_rows, n_threads, monitor, means.data());
    });
  };
  run_watched(monitor, nb::none(), work, means.size() * forest.view.n_trees);
  return to_array(std::move(means), rows.n_rows, forest.view.n_values);
}

// `weighing` says how rows count: 0 in every tree, 1 in those whose bag lacks them, 2 by their
// multiplicity in the bag, times `weights` if given.
struct PathWeights {
  PathWeights(const Bag& drawn, unsigned weighing, std::optional<Vector<double>> masses)
      : bag(drawn), kind(weighing), weights(std::move(masses)) {
    need(kind <= 2, "weighing is not 0, 1 or 2");
  }
  Bag bag;
  unsigned kind;
  std::optional<Vector<double>> weights;
};

using Changes = std::tuple<Array<double>, Array<double>, Array<double>, Array<std::int64_t>,
                           Array<std::int32_t>>;

Changes path_changes(const Forest& forest, const Rows& rows, const Matrix<double>& values,
                     const std::optional<Vector<std::uint32_t>>& of_row,
                     const PathWeights& weighted, bool sparse, unsigned n_threads) {
  need_fit(forest, rows);
  const std::size_t n_nodes = static_cast<std::size_t>(forest.view.offsets[forest.view.n_trees]);
  need(values.shape(0) == n_nodes, "values has not one row a node");
  need(!of_row || of_row->shape(0) == rows.n_rows, "of_row has not one entry a row");
  need(!weighted.weights || weighted.weights->shape(0) == rows.n_rows,
       "weights has not one entry a row");
  duramen::NodeNumbers numbers{values.data(), values.shape(1), nullptr};
  if (of_row) {
    const std::uint32_t* places = of_row->data();
    need(std::all_of(places, places + rows.n_rows,
                     [&](std::uint32_t place) { return place < numbers.width; }),
         "an entry of of_row is no column of values");
    numbers.of_row = places;
  }
  const duramen::PathWeights weights{
      .kind = static_cast<duramen::PathWeights::Kind>(weighted.kind),
      .settings = weighted.kind == 0  // new rows, of which no bag knows
                      ? duramen::Settings{}
                      : weighted.bag.settings(forest.view.n_trees, rows.n_rows),
      .seed = weighted.bag.seed,
      .first_tree = weighted.bag.first_tree,
      .weights = weighted.weights ? weighted.weights->data() : nullptr};
  duramen::Monitor monitor;
  duramen::PathChanges result;
  const auto work = [&] {
    rows.visit([&](const auto& source) {
      result = duramen::path_changes(forest.view, source, rows.n_rows, numbers, weights, sparse,
                                     n_threads, monitor);
    });
  };
  run_watched(monitor, nb::none(), work, rows.n_rows * forest.view.n_trees);
  const std::size_t p = rows.view.n_columns;
  Array<double> changes = sparse ? to_array(std::move(result.entries))
                                 : to_array(std::move(result.dense), rows.n_rows, p);
  return {to_array(std::move(result.weight)), to_array(std::move(result.start)), std::move(changes),
          to_array(std::move(result.offsets)), to_array(std::move(result.columns))};
}

std::tuple<Array<double>, Array<double>> pair_interactions(const Forest& forest, const Table& table,
                                                           const Bag& bag,
                                                           const Vector<std::uint32_t>& columns,
                                                           unsigned n_threads) {
  need_fit(forest, table);
  const std::vector<std::uint32_t> chosen(columns.data(), columns.data() + columns.shape(0));
  const std::size_t p = table.view.n_columns;
  need(std::all_of(chosen.begin(), chosen.end(), [p](std::uint32_t j) { return j < p; }),
       "a column is not of the table");
  duramen::Monitor monitor;
  duramen::PairMeans means;
  const auto work = [&] {
    means = duramen::pair_interactions(forest.view, duramen::CodeRows{table.view},
                                       bag.settings(forest.view.n_trees, table.n_rows), bag.seed,
                                       bag.first_tree, chosen, n_threads, monitor);
  };
  run_watched(monitor, nb::none(), work, table.n_rows * forest.view.n_trees);
  const std::size_t k = chosen.size();
  return {to_array(std::move(means.mean), k, k), to_array(std::move(means.standard_error), k, k)};
}

std::tuple<Array<std::int32_t>, Array<std::int32_t>, Array<double>> path_pairs(
    const Forest& forest, std::size_t n_columns, unsigned n_threads) {
  need(forest.n_columns <= n_columns, "the forest splits on more columns than n_columns");
  need(forest.view.degree == nullptr, "the trees have degrees of their own");
  duramen::Monitor monitor;
  duramen::PathPairs pairs;
  run_watched(monitor, nb::none(),
              [&] { pairs = duramen::path_pairs(forest.view, n_columns, n_threads, monitor); });
  return {to_array(std::move(pairs.first)), to_array(std::move(pairs.second)),
          to_array(std::move(pairs.mean))};
}

void add_out_of_bag(duramen::OutOfBag& sums, const Forest& forest, const Table& table,
                    const Target& target, const Bag& bag, unsigned n_threads) {
  need_fit(forest, table, target);
  need_no_survival(target);
  need(
      sums.counts.size() == table.n_rows && sums.sums.size() == table.n_rows * forest.view.n_values,
      "the sums are not of these rows");
  duramen::Monitor monitor;
  duramen::Problem problem;
  problem.table = table.view;
  problem.settings = bag.settings(forest.view.n_trees, table.n_rows);
  problem.seed = bag.seed;
  problem.n_classes = target.view.n_classes;
  problem.classes = target.view.classes;
  problem.response = target.view.response;
  problem.monitor = &monitor;
  run_watched(monitor, nb::none(),
              [&] { sums.add(forest.view, problem, bag.first_tree, n_threads); });
}

void add_out_of_bag_leaves(duramen::OutOfBag& sums, const Forest& forest,
                           const Matrix<std::int32_t>& leaves, const Target& target) {
  need_no_survival(target);
  const std::size_t n = target.view.n_rows;
  need(sums.counts.size() == n && sums.sums.size() == n * forest.view.n_values,
       "the sums are not of these rows");
  need(leaves.shape(0) == n && leaves.shape(1) == forest.view.n_trees,
       "leaves has not one entry for each row and tree");
  for (std::size_t t = 0; t < forest.view.n_trees; ++t) {
    const std::int64_t first = forest.view.offsets[t];
    const std::int64_t size = forest.view.offsets[t + 1] - first;
    for (std::size_t row = 0; row < n; ++row) {
      const std::int32_t leaf = leaves.data()[row * forest.view.n_trees + t];
      need(leaf < 0 || (leaf < size && forest.view.feature[first + leaf] < 0),
           "an entry of leaves is no leaf");
    }
  }
  duramen::Monitor monitor;
  duramen::Problem problem;
  problem.table.n_rows = n;
  problem.n_classes = target.view.n_classes;
  problem.classes = target.view.classes;
  problem.response = target.view.response;
  problem.monitor = &monitor;
  run_watched(monitor, nb::none(), [&] { sums.add_leaves(forest.view, problem, leaves.data()); });
}

// Copies: further trees can be added.
std::tuple<Array<double>, Array<std::uint32_t>, Array<double>> out_of_bag_sums(
    const duramen::OutOfBag& sums) {
  const std::size_t n = sums.counts.size();
  return {to_array(std::vector<double>(sums.sums), n, n > 0 ? sums.sums.size() / n : 0),
          to_array(std::vector<std::uint32_t>(sums.counts)),
          to_array(std::vector<double>(sums.error))};
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

void add_decreases(duramen::DecreaseSums& sums, const Forest& forest) {
  need(forest.n_columns <= sums.n_columns(), "the forest splits on more columns than n_columns");
  nb::gil_scoped_release unlocked;
  sums.add(forest.view);
}

std::tuple<Array<double>, Array<double>, Array<double>> mean_decreases(
    const duramen::DecreaseSums& sums) {
  duramen::Decreases result = sums.means();
  return {to_array(std::move(result.mean)), to_array(std::move(result.standard_error)),
          to_array(std::move(result.by_degree), sums.n_columns(), result.n_degrees)};
}

Array<double> excess_information(const Forest& forest, const Matrix<std::int64_t>& counts) {
  const auto n_leaves = static_cast<std::size_t>(forest.view.leaf_offsets[forest.view.n_trees]);
  need(counts.shape(0) == n_leaves, "counts must have a row for each leaf");
  std::vector<double> excess;
  {
    nb::gil_scoped_release unlocked;
    excess = duramen::excess_information(forest.view, counts.data(), counts.shape(1));
  }
  return to_array(std::move(excess));
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
             nb::arg("bag").none() = nb::none(),
             "Leaves of rows, row by tree; -1 where a row is in the bag of a tree, if given.");
  module.def("predict", &predict, nb::arg("forest"), nb::arg("rows"), nb::arg("n_threads"),
             "Mean leaf values of rows, row by value.");
  nb::class_<PathWeights>(module, "PathWeights", "How rows count in the trees of a forest.")
      .def(nb::init<const Bag&, unsigned, std::optional<Vector<double>>>(), nb::arg("bag"),
           nb::arg("weighing"), lent("weights").none());
  module.def("path_changes", &path_changes, nb::arg("forest"), nb::arg("rows"), lent("values"),
             lent("of_row").none(), nb::arg("weights"), nb::arg("sparse"), nb::arg("n_threads"),
             "Weights and roots of rows, the changes of a number of the nodes along their paths by "
             "column, row by column, or the entries of a sparse matrix, its offsets and columns.");
  module.def("pair_interactions", &pair_interactions, nb::arg("forest"), nb::arg("table"),
             nb::arg("bag"), lent("columns"), nb::arg("n_threads"),
             "Interactions of pairs of columns in the trees, mean and standard error.");
  module.def("path_pairs", &path_pairs, nb::arg("forest"), nb::arg("n_columns"),
             nb::arg("n_threads"),
             "Interactions of the pairs of columns on a common path: columns, and means.");
  nb::class_<duramen::OutOfBag>(module, "OutOfBag", "Out-of-bag estimates of trees, added up.")
      .def(nb::init<std::size_t, std::size_t>(), nb::arg("n_rows"), nb::arg("n_values"))
      .def("add", &add_out_of_bag, nb::arg("forest"), nb::arg("table"), nb::arg("target"),
           nb::arg("bag"), nb::arg("n_threads"), "Add trees, which come after those before.")
      .def("add_leaves", &add_out_of_bag_leaves, nb::arg("forest"), nb::arg("leaves"),
           nb::arg("target"), "Add trees by the leaves of the rows, -1 in the bag.")
      .def("sums", &out_of_bag_sums, "Sums, counts, and the error after 1, 2, ... trees.");
  module.def("proximity", &proximity, nb::arg("leaves"), nb::arg("out").none(),
             nb::arg("n_threads"), "Fraction of trees with a common leaf, row by row.");
  nb::class_<duramen::DecreaseSums>(module, "Decreases", "Decreases of impurity, added up.")
      .def(nb::init<std::size_t, bool, bool>(), nb::arg("n_columns"), nb::arg("by_degree"),
           nb::arg("scored"))
      .def("add", &add_decreases, nb::arg("forest"), "Add trees, which come after those before.")
      .def("means", &mean_decreases,
           "Mean over the trees of every column, its standard error, and its parts by degree.");
  module.def(
      "excess_information", &excess_information, nb::arg("forest"), lent("counts"),
      "Information of rows in the splits beyond that by chance, times their number, per node.");
  module.def(
      "weakest_links", &weakest_links, nb::arg("forest"),
      "Complexity parameter at which each node becomes a leaf (NaN: never by itself), and by "
      "what the impurity of the leaves grows and their number falls then.");
}

}  // namespace duramen::python
