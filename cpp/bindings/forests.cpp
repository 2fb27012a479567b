// Growing forests and sending rows down them, as Python calls it.
#include "../accumulate.hpp"
#include "../bag.hpp"
#include "../grow.hpp"
#include "../route.hpp"
#include "arrays.hpp"
#include "bind.hpp"

namespace duramen::python {

namespace {

duramen::Settings settings_of(const nb::dict& given) {
  duramen::Settings settings;
  const auto number = [&](const char* name) { return nb::cast<std::uint32_t>(given[name]); };
  settings.criterion = static_cast<duramen::Criterion>(number("criterion"));
  settings.cut = static_cast<duramen::Cut>(number("cut"));
  settings.splits = static_cast<duramen::Family>(number("splits"));
  settings.max_features = number("max_features");
  settings.count_constants = nb::cast<bool>(given["count_constants"]);
  settings.max_depth = number("max_depth");
  settings.min_samples_split = number("min_samples_split");
  settings.min_samples_leaf = number("min_samples_leaf");
  settings.min_impurity_decrease = nb::cast<double>(given["min_impurity_decrease"]);
  settings.max_leaf_nodes = number("max_leaf_nodes");
  settings.stop_alpha = nb::cast<double>(given["stop_alpha"]);
  settings.bootstrap = nb::cast<bool>(given["bootstrap"]);
  settings.row_samples = number("row_samples");
  settings.column_samples = number("column_samples");
  settings.balanced_subsample = nb::cast<bool>(given["balanced_subsample"]);
  return settings;
}

// The target: class codes, or numbers where n_classes is 0.
void set_target(duramen::Problem& problem, const nb::object& target, std::uint32_t n_classes) {
  problem.n_classes = n_classes;
  if (n_classes > 0) {
    const auto classes = nb::cast<Vector<std::uint32_t>>(target);
    need(classes.shape(0) == problem.table.n_rows, "the target has not one entry a row");
    for (std::size_t i = 0; i < problem.table.n_rows; ++i) {
      need(classes.data()[i] < n_classes, "a class code is not below n_classes");
    }
    problem.classes = classes.data();
  } else {
    const auto response = nb::cast<Vector<double>>(target);
    need(response.shape(0) == problem.table.n_rows, "the target has not one entry a row");
    problem.response = response.data();
  }
}

// Decoys that follow a cycle of all rows; what the columns get beyond them is summed up in
// `excess`.
void set_decoys(duramen::Problem& problem, const nb::object& cycle, const nb::object& judged,
                std::vector<double>& excess) {
  const auto rows = nb::cast<Vector<std::uint32_t>>(cycle);
  const auto columns = nb::cast<Vector<bool>>(judged);
  const duramen::Settings& settings = problem.settings;
  need(settings.max_leaf_nodes == 0 && settings.cut != duramen::Cut::pert,
       "decoys are for trees that grow depth first");
  need(settings.min_impurity_decrease <= 0.0 && settings.stop_alpha >= 1.0,
       "decoys are for trees without rules on the decrease of impurity");
  need(rows.shape(0) == problem.table.n_rows, "cycle has not one entry a row");
  need(columns.shape(0) == problem.table.n_columns, "judged has not one entry a column");
  std::vector<bool> seen(rows.shape(0), false);
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    const std::uint32_t row = rows.data()[i];
    need(row < seen.size() && !seen[row], "cycle does not hold every row once");
    seen[row] = true;
  }
  excess.assign(problem.table.n_columns, 0.0);
  problem.decoys = {rows.data(), reinterpret_cast<const std::uint8_t*>(columns.data()),
                    excess.data()};
}

// Sums of counts, from 0: one more entry than there are counts.
std::vector<std::int64_t> offsets_from(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) offsets[i + 1] = offsets[i] + counts[i];
  return offsets;
}

nb::dict grow(DURAMEN_TABLE, const nb::object& target, std::uint32_t n_classes,
              const nb::object& weights, const nb::dict& settings, std::uint64_t first_tree,
              std::uint64_t n_trees, std::uint64_t seed, unsigned n_threads,
              const nb::object& progress, const nb::object& cycle, const nb::object& judged) {
  duramen::Monitor monitor;
  duramen::Problem problem;
  problem.table = DURAMEN_TABLE_OF;
  problem.settings = settings_of(settings);
  problem.seed = seed;
  problem.monitor = &monitor;
  set_target(problem, target, n_classes);
  if (!weights.is_none()) {
    const auto array = nb::cast<Vector<double>>(weights);
    need(array.shape(0) == problem.table.n_rows, "weights has not one entry a row");
    problem.weights = array.data();
  }
  std::vector<double> excess;
  if (!cycle.is_none()) {
    need(n_trees == 1, "decoys are for one tree");
    set_decoys(problem, cycle, judged, excess);
  }
  duramen::Trees trees;
  run_watched(monitor, progress, [&] {
    problem.prepare();
    trees = duramen::grow_trees(problem, first_tree, n_trees, n_threads);
  });
  const std::size_t width = n_classes > 0 ? n_classes : 1;
  const std::size_t n_leaves = trees.leaf_values.size() / width;
  nb::dict forest;
  forest["offsets"] = to_array(offsets_from(trees.n_nodes));
  forest["leaf_offsets"] = to_array(offsets_from(trees.n_leaves));
  forest["pool_offsets"] = to_array(offsets_from(trees.pool_sizes));
  forest["feature"] = to_array(std::move(trees.feature));
  forest["child"] = to_array(std::move(trees.child));
  forest["cut"] = to_array(std::move(trees.cut));
  forest["threshold"] = to_array(std::move(trees.threshold));
  forest["split"] = to_array(std::move(trees.split));
  forest["pool"] = to_array(std::move(trees.pool));
  forest["rows"] = to_array(std::move(trees.rows));
  forest["node_degree"] = to_array(std::move(trees.degree));
  forest["node_weight"] = to_array(std::move(trees.weight));
  forest["impurity"] = to_array(std::move(trees.impurity));
  forest["leaf_values"] = to_array(std::move(trees.leaf_values), n_leaves, width);
  if (!cycle.is_none()) forest["excess"] = to_array(std::move(excess));
  return forest;
}

}  // namespace

void bind_forests(nb::module_& module) {
  module.def("grow", &grow, nb::arg("block8"), nb::arg("block16"), nb::arg("block32"),
             nb::arg("block_of"), nb::arg("slot"), nb::arg("cut_values"), nb::arg("value_offsets"),
             nb::arg("kinds"), nb::arg("missing"), nb::arg("target"), nb::arg("n_classes"),
             nb::arg("weights").none(), nb::arg("settings"), nb::arg("first_tree"),
             nb::arg("n_trees"), nb::arg("seed"), nb::arg("n_threads"), nb::arg("progress").none(),
             nb::arg("cycle") = nb::none(), nb::arg("judged") = nb::none(),
             "Grow trees; the arrays of the forest by name.");
  module.def(
      "bag",
      [](std::size_t n_rows, std::uint32_t row_samples, bool bootstrap, std::uint64_t seed,
         std::uint64_t tree) {
        std::vector<std::uint32_t> multiplicity;
        duramen::draw_bag(bag_settings(row_samples, bootstrap), n_rows, seed, tree, multiplicity);
        return to_array(std::move(multiplicity));
      },
      nb::arg("n_rows"), nb::arg("row_samples"), nb::arg("bootstrap"), nb::arg("seed"),
      nb::arg("tree"), "How often every row is drawn for a tree.");
  module.def(
      "apply_values",
      [](DURAMEN_FOREST, DURAMEN_SCHEMA, unsigned n_threads) {
        const duramen::ForestView forest = DURAMEN_FOREST_OF;
        const duramen::Table table = schema_of(cut_values, value_offsets, kinds, missing, values);
        std::vector<std::int32_t> leaves(values.shape(0) * forest.n_trees);
        duramen::Monitor monitor;
        run_watched(monitor, nb::none(), [&] {
          duramen::apply(forest, duramen::ValueRows{table, values.data()}, values.shape(0),
                         n_threads, monitor, leaves.data());
        });
        return to_array(std::move(leaves), values.shape(0), forest.n_trees);
      },
      "Leaves of new rows, row by tree.");
  module.def(
      "predict_values",
      [](DURAMEN_FOREST, DURAMEN_SCHEMA, unsigned n_threads) {
        const duramen::ForestView forest = DURAMEN_FOREST_OF;
        const duramen::Table table = schema_of(cut_values, value_offsets, kinds, missing, values);
        std::vector<double> out(values.shape(0) * forest.n_values);
        duramen::Monitor monitor;
        run_watched(monitor, nb::none(), [&] {
          duramen::predict(forest, duramen::ValueRows{table, values.data()}, values.shape(0),
                           n_threads, monitor, out.data());
        });
        return to_array(std::move(out), values.shape(0), forest.n_values);
      },
      "Mean leaf values of new rows, row by value.");
  module.def(
      "apply_codes",
      [](DURAMEN_FOREST, DURAMEN_TABLE, unsigned n_threads) {
        const duramen::ForestView forest = DURAMEN_FOREST_OF;
        const duramen::Table table = DURAMEN_TABLE_OF;
        std::vector<std::int32_t> leaves(table.n_rows * forest.n_trees);
        duramen::Monitor monitor;
        run_watched(monitor, nb::none(), [&] {
          duramen::apply(forest, duramen::CodeRows{table}, table.n_rows, n_threads, monitor,
                         leaves.data());
        });
        return to_array(std::move(leaves), table.n_rows, forest.n_trees);
      },
      "Leaves of encoded rows, row by tree.");
  module.def(
      "oob",
      [](DURAMEN_FOREST, DURAMEN_TABLE, std::uint32_t row_samples, bool bootstrap,
         std::uint64_t seed, std::uint64_t first_tree, const nb::object& target,
         unsigned n_threads) {
        const duramen::ForestView forest = DURAMEN_FOREST_OF;
        duramen::Monitor monitor;
        duramen::Problem problem;
        problem.table = DURAMEN_TABLE_OF;
        problem.settings = bag_settings(row_samples, bootstrap);
        problem.seed = seed;
        problem.monitor = &monitor;
        const auto width = static_cast<std::uint32_t>(forest.n_values);
        const bool classes = nb::isinstance<Vector<std::uint32_t>>(target);
        set_target(problem, target, classes ? width : 0);
        duramen::OutOfBag result;
        run_watched(monitor, nb::none(),
                    [&] { result = duramen::out_of_bag(forest, problem, first_tree, n_threads); });
        return nb::make_tuple(to_array(std::move(result.sums), problem.table.n_rows, width),
                              to_array(std::move(result.counts)),
                              to_array(std::move(result.error)));
      },
      "Out-of-bag sums, counts, and the error after 1, 2, ... trees.");
  module.def(
      "proximity",
      [](const Matrix<std::int32_t>& leaves, const nb::object& out, unsigned n_threads) {
        const std::size_t n = leaves.shape(0);
        const std::uint8_t* mask = nullptr;
        if (!out.is_none()) {
          const auto array = nb::cast<Matrix<bool>>(out);
          need(array.shape(0) == n && array.shape(1) == leaves.shape(1),
               "the mask and the leaves differ in shape");
          mask = reinterpret_cast<const std::uint8_t*>(array.data());
        }
        std::vector<double> result(n * n);
        duramen::Monitor monitor;
        run_watched(monitor, nb::none(), [&] {
          duramen::proximity(leaves.data(), mask, n, leaves.shape(1), n_threads, monitor,
                             result.data());
        });
        return to_array(std::move(result), n, n);
      },
      nb::arg("leaves"), nb::arg("out").none(), nb::arg("n_threads"),
      "Share of trees with a common leaf, row by row.");
  module.def(
      "mdi",
      [](DURAMEN_FOREST, std::size_t n_columns, bool by_degree) {
        const duramen::ForestView forest = DURAMEN_FOREST_OF;
        duramen::Decreases result;
        {
          nb::gil_scoped_release unlocked;
          result = duramen::mean_decreases(forest, n_columns, by_degree);
        }
        nb::object degrees = nb::none();
        if (by_degree) {
          degrees = to_array(std::move(result.by_degree), n_columns, result.n_degrees);
        }
        return nb::make_tuple(to_array(std::move(result.mean)),
                              to_array(std::move(result.standard_error)), degrees);
      },
      "Mean decrease of impurity of every column, its standard error, and its parts by degree.");
}

}  // namespace duramen::python
