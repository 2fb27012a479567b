// Growing forests, as Python calls it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/objects.hpp"
#include "bindings/watched.hpp"
#include "grow/grow.hpp"
#include "grow/patches.hpp"

namespace duramen::python {

namespace {

// Which trees are grown: from what seed, the number of the first in its stream, and how many; and
// the groups of rows that their bags draw.
struct TreeRange {
  std::uint64_t seed, first, count;
  BagGroups groups;
};

// Decoys that follow a cycle of the rows of each stratum (decoys.hpp), of the columns that are
// judged. The rows of a stratum are together, from one of the bounds to the next.
struct Decoys {
  Vector<std::uint32_t> cycle;
  Vector<bool> judged;
  Vector<std::uint32_t> bounds;

  Decoys(Vector<std::uint32_t> rows, Vector<bool> columns, Vector<std::uint32_t> strata)
      : cycle(std::move(rows)), judged(std::move(columns)), bounds(std::move(strata)) {
    const std::size_t last = bounds.shape(0) - 1;
    need(bounds.shape(0) >= 2 && bounds.data()[0] == 0 && bounds.data()[last] == cycle.shape(0),
         "bounds do not lead from 0 to the number of rows");
    for (std::size_t s = 0; s < last; ++s) {
      need(bounds.data()[s] < bounds.data()[s + 1], "bounds do not ascend");
    }
    std::vector<bool> seen(cycle.shape(0), false);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const std::uint32_t row = cycle.data()[i];
      need(row < seen.size() && !seen[row], "cycle does not hold every row once");
      seen[row] = true;
    }
  }
};

// Weights of the columns in the draw of candidates, and factors of the gain of those that split no
// node so far (guidance.hpp).
struct Guidance {
  Vector<double> weight;
  std::optional<Vector<double>> factor;
  bool of_score;

  Guidance(Vector<double> draw, std::optional<Vector<double>> gain, bool score)
      : weight(std::move(draw)), factor(std::move(gain)), of_score(score) {
    need(!factor || factor->shape(0) == weight.shape(0), "factor and weight differ in length");
  }
};

// The arrays of grown trees (forest.hpp), as NumPy has them.
struct TreeArrays {
  Array<std::int64_t> offsets, leaf_offsets, pool_offsets;
  Array<std::int32_t> feature, child;
  Array<std::uint32_t> cut;
  Array<double> threshold;
  Array<std::uint8_t> split;
  Array<std::uint32_t> pool, rows, node_degree;
  Array<double> node_weight, impurity, leaf_values;
};

// Sums of counts, from 0: one more entry than there are counts.
Array<std::int64_t> offsets_from(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) offsets[i + 1] = offsets[i] + counts[i];
  return to_array(std::move(offsets));
}

using Weights = std::optional<Vector<double>>;

duramen::TargetKind kind_of(const Target& target) {
  if (target.view.outcomes.codes != nullptr) return duramen::TargetKind::survival;
  return target.view.n_classes > 0 ? duramen::TargetKind::classes : duramen::TargetKind::numbers;
}

// Without a table.
duramen::Problem problem_with(const Target& target, const Weights& weights,
                              const duramen::Settings& settings, std::uint64_t seed) {
  const duramen::TargetKind kind = kind_of(target);
  need(duramen::target_of(settings.criterion) == kind,
       "the criterion is for another kind of target");
  need(settings.cut != duramen::Cut::pert || kind == duramen::TargetKind::classes,
       "PERT is for classes");
  need(settings.splits != duramen::Family::multiway || kind != duramen::TargetKind::survival,
       "multiway splits are for classes and numbers");
  need(settings.n_best_splits == 1 ||
           (settings.splits != duramen::Family::multiway && settings.cut != duramen::Cut::pert),
       "one of the best few splits is for splits in two that are compared");
  need(settings.cut != duramen::Cut::pert || !settings.tests_by_permutation(),
       "PERT compares no splits that a permutation test could test");
  duramen::Problem problem;
  problem.settings = settings;
  problem.seed = seed;
  problem.n_classes = target.view.n_classes;
  problem.classes = target.view.classes;
  problem.response = target.view.response;
  problem.outcomes = target.view.outcomes;
  if (weights) problem.weights = weights->data();
  return problem;
}

duramen::Problem problem_of(const Table& table, const Target& target, const Weights& weights,
                            const duramen::Settings& settings, const TreeRange& trees) {
  need_fit(table, target);
  need(!weights || weights->shape(0) == table.n_rows, "weights has not one entry a row");
  duramen::Problem problem = problem_with(target, weights, settings, trees.seed);
  problem.table = table.view;
  trees.groups.add_to(problem.settings, table.n_rows);
  return problem;
}

duramen::Trees grown(duramen::Problem& problem, const TreeRange& range, unsigned n_threads,
                     const nb::object& progress) {
  duramen::Monitor monitor;
  problem.monitor = &monitor;
  duramen::Trees trees;
  const auto work = [&] {
    problem.prepare();
    if (problem.outcomes.codes != nullptr && !problem.whole_weights) {
      throw std::invalid_argument("survival needs weights that are whole numbers of moderate size");
    }
    trees = duramen::grow_trees(problem, range.first, range.count, n_threads);
  };
  const duramen::Table& table = problem.table;
  run_watched(monitor, progress, work, range.count * table.n_rows * table.n_columns);
  return trees;
}

TreeArrays arrays_of(duramen::Trees trees, const duramen::Problem& problem) {
  const std::size_t width = problem.n_classes > 0 ? problem.n_classes : 1;
  const std::size_t n_leaves = trees.leaf_values.size() / width;
  return {.offsets = offsets_from(trees.n_nodes),
          .leaf_offsets = offsets_from(trees.n_leaves),
          .pool_offsets = offsets_from(trees.pool_sizes),
          .feature = to_array(std::move(trees.feature)),
          .child = to_array(std::move(trees.child)),
          .cut = to_array(std::move(trees.cut)),
          .threshold = to_array(std::move(trees.threshold)),
          .split = to_array(std::move(trees.split)),
          .pool = to_array(std::move(trees.pool)),
          .rows = to_array(std::move(trees.rows)),
          .node_degree = to_array(std::move(trees.degree)),
          .node_weight = to_array(std::move(trees.weight)),
          .impurity = to_array(std::move(trees.impurity)),
          .leaf_values = to_array(std::move(trees.leaf_values), n_leaves, width)};
}

TreeArrays grow(const Table& table, const Target& target, const Weights& weights,
                const duramen::Settings& settings, const TreeRange& trees, unsigned n_threads,
                const nb::object& progress) {
  duramen::Problem problem = problem_of(table, target, weights, settings, trees);
  return arrays_of(grown(problem, trees, n_threads, progress), problem);
}

std::pair<TreeArrays, Array<double>> grow_beside_decoys(const Table& table, const Target& target,
                                                        const Weights& weights,
                                                        const duramen::Settings& settings,
                                                        const TreeRange& trees,
                                                        const Decoys& decoys) {
  need(trees.count == 1, "decoys are for one tree");
  need_no_survival(target);
  need(settings.max_leaf_nodes == 0 && settings.cut != duramen::Cut::pert,
       "decoys are for trees that grow depth first");
  need(settings.min_impurity_decrease <= 0.0 && settings.stop_alpha >= 1.0,
       "decoys are for trees without rules on the decrease of impurity");
  need(settings.n_best_splits == 1, "decoys are for trees that take the best split");
  need(decoys.cycle.shape(0) == table.n_rows, "cycle has not one entry a row");
  need(decoys.judged.shape(0) == table.view.n_columns, "judged has not one entry a column");
  duramen::Problem problem = problem_of(table, target, weights, settings, trees);
  problem.decoys = {.cycle = decoys.cycle.data(),
                    .bounds = decoys.bounds.data(),
                    .n_strata = decoys.bounds.shape(0) - 1,
                    .judged = reinterpret_cast<const std::uint8_t*>(decoys.judged.data())};
  duramen::Trees tree = grown(problem, trees, 1, nb::none());
  std::vector<double> excess = std::move(tree.excess);
  return {arrays_of(std::move(tree), problem), to_array(std::move(excess))};
}

TreeArrays grow_guided(const Table& table, const Target& target, const Weights& weights,
                       const duramen::Settings& settings, const TreeRange& trees,
                       const Guidance& guidance, unsigned n_threads, const nb::object& progress) {
  need(settings.splits != duramen::Family::multiway && settings.cut != duramen::Cut::pert &&
           settings.column_samples == 0,
       "guidance is for trees that draw candidates among all columns at every node");
  need(settings.n_best_splits == 1 && !settings.tests_by_permutation(),
       "guidance is for trees that take the best split, and test it by chi-square if at all");
  need(guidance.weight.shape(0) == table.view.n_columns, "weight has not one entry a column");
  need(!guidance.factor || (n_threads == 1 && settings.max_leaf_nodes == 0),
       "factors are for trees that grow depth first, one after the other");
  duramen::Problem problem = problem_of(table, target, weights, settings, trees);
  problem.guidance = {.weight = guidance.weight.data(),
                      .factor = guidance.factor ? guidance.factor->data() : nullptr,
                      .of_score = guidance.of_score};
  return arrays_of(grown(problem, trees, n_threads, progress), problem);
}

// Common data of trees that are grown on separate tables (patches.hpp); keeps its references.
struct Patches {
  Target target;
  Weights weights;
  std::size_t n_columns;
  BagGroups groups;
  duramen::Patches patches;

  Patches(const Target& truth, Weights masses, const duramen::Settings& settings,
          std::uint64_t seed, std::size_t columns,
          std::optional<Vector<std::uint32_t>> drawn_together)
      : target(truth),
        weights(std::move(masses)),
        n_columns(columns),
        groups(std::move(drawn_together)),
        patches(problem(settings, seed), columns) {
    need_no_survival(target);
  }

  duramen::Problem problem(const duramen::Settings& settings, std::uint64_t seed) const {
    need(!weights || weights->shape(0) == target.view.n_rows, "weights has not one entry a row");
    duramen::Problem whole = problem_with(target, weights, settings, seed);
    whole.table.n_rows = target.view.n_rows;
    groups.add_to(whole.settings, whole.table.n_rows);
    return whole;
  }
};

std::pair<Array<std::uint32_t>, Array<std::uint32_t>> patch_rows(const Patches& self,
                                                                 std::uint64_t tree) {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> multiplicity;
  {
    const nb::gil_scoped_release unlocked;
    self.patches.rows(tree, rows, multiplicity);
  }
  return {to_array(std::move(rows)), to_array(std::move(multiplicity))};
}

TreeArrays grow_patch(const Patches& self, const Table& table, std::uint64_t tree,
                      const Vector<std::uint32_t>& rows,
                      const Vector<std::uint32_t>& multiplicity) {
  const std::size_t n = table.n_rows;
  need(rows.shape(0) == n && multiplicity.shape(0) == n, "rows has not one entry a row");
  need(std::all_of(rows.data(), rows.data() + n,
                   [&](std::uint32_t row) { return row < self.patches.n_rows(); }),
       "a row is not of the target");
  duramen::Monitor monitor;
  duramen::Trees trees;
  run_watched(
      monitor, nb::none(),
      [&] {
        trees = self.patches.grow(table.view, tree, rows.data(), multiplicity.data(), monitor);
      },
      n * table.view.n_columns);
  duramen::Problem shape;
  shape.n_classes = self.target.view.n_classes;
  return arrays_of(std::move(trees), shape);
}

void bind_settings(nb::module_& module) {
  nb::class_<duramen::Settings>(module, "Settings", "How trees are grown; see GrowthSettings.")
      .def(
          "__init__",
          [](duramen::Settings* self, unsigned criterion, unsigned cut, unsigned splits,
             std::uint32_t max_features, bool count_constants, std::uint32_t max_depth,
             std::uint32_t min_samples_split, std::uint32_t min_samples_leaf,
             double min_impurity_decrease, double min_impurity_split, std::uint32_t max_leaf_nodes,
             double stop_alpha, std::uint32_t stop_permutations, std::uint32_t n_best_splits,
             bool feature_first, bool bootstrap, std::uint32_t row_samples,
             std::uint32_t column_samples, bool balanced_subsample) {
            need(n_best_splits >= 1, "n_best_splits is 0");
            need(criterion <= static_cast<unsigned>(duramen::kLastCriterion) && cut <= 2 &&
                     splits <= 3,
                 "no such criterion, cut or splits");
            new (self) duramen::Settings{.criterion = static_cast<duramen::Criterion>(criterion),
                                         .cut = static_cast<duramen::Cut>(cut),
                                         .splits = static_cast<duramen::Family>(splits),
                                         .max_features = max_features,
                                         .count_constants = count_constants,
                                         .max_depth = max_depth,
                                         .min_samples_split = min_samples_split,
                                         .min_samples_leaf = min_samples_leaf,
                                         .min_impurity_decrease = min_impurity_decrease,
                                         .min_impurity_split = min_impurity_split,
                                         .max_leaf_nodes = max_leaf_nodes,
                                         .stop_alpha = stop_alpha,
                                         .stop_permutations = stop_permutations,
                                         .n_best_splits = n_best_splits,
                                         .feature_first = feature_first,
                                         .bootstrap = bootstrap,
                                         .row_samples = row_samples,
                                         .column_samples = column_samples,
                                         .balanced_subsample = balanced_subsample};
          },
          nb::kw_only(), nb::arg("criterion"), nb::arg("cut"), nb::arg("splits"),
          nb::arg("max_features"), nb::arg("count_constants"), nb::arg("max_depth"),
          nb::arg("min_samples_split"), nb::arg("min_samples_leaf"),
          nb::arg("min_impurity_decrease"), nb::arg("min_impurity_split"),
          nb::arg("max_leaf_nodes"), nb::arg("stop_alpha"), nb::arg("stop_permutations"),
          nb::arg("n_best_splits"), nb::arg("feature_first"), nb::arg("bootstrap"),
          nb::arg("row_samples"), nb::arg("column_samples"), nb::arg("balanced_subsample"));
}

template <class T>
void bind_array(nb::class_<TreeArrays>& kind, const char* name, Array<T> TreeArrays::* array) {
  kind.def_prop_ro(
      name, [array](const TreeArrays& self) { return self.*array; }, nb::rv_policy::automatic);
}

void bind_tree_arrays(nb::module_& module) {
  nb::class_<TreeArrays> kind(module, "TreeArrays", "Grown trees as flat arrays.");
  bind_array(kind, "offsets", &TreeArrays::offsets);
  bind_array(kind, "leaf_offsets", &TreeArrays::leaf_offsets);
  bind_array(kind, "pool_offsets", &TreeArrays::pool_offsets);
  bind_array(kind, "feature", &TreeArrays::feature);
  bind_array(kind, "child", &TreeArrays::child);
  bind_array(kind, "cut", &TreeArrays::cut);
  bind_array(kind, "threshold", &TreeArrays::threshold);
  bind_array(kind, "split", &TreeArrays::split);
  bind_array(kind, "pool", &TreeArrays::pool);
  bind_array(kind, "rows", &TreeArrays::rows);
  bind_array(kind, "node_degree", &TreeArrays::node_degree);
  bind_array(kind, "node_weight", &TreeArrays::node_weight);
  bind_array(kind, "impurity", &TreeArrays::impurity);
  bind_array(kind, "leaf_values", &TreeArrays::leaf_values);
}

}  // namespace

void bind_growth(nb::module_& module) {
  bind_settings(module);
  bind_tree_arrays(module);
  nb::class_<TreeRange>(module, "TreeRange", "The trees to grow, of the stream of a seed.")
      .def(
          "__init__",
          [](TreeRange* self, std::uint64_t seed, std::uint64_t first, std::uint64_t count,
             std::optional<Vector<std::uint32_t>> groups) {
            new (self) TreeRange{.seed = seed,
                                 .first = first,
                                 .count = count,
                                 .groups = BagGroups(std::move(groups))};
          },
          nb::kw_only(), nb::arg("seed"), nb::arg("first"), nb::arg("count"),
          lent("groups") = nb::none());
  nb::class_<Patches>(module, "Patches", "Trees that are grown on tables of their own.")
      .def(nb::init<const Target&, Weights, const duramen::Settings&, std::uint64_t, std::size_t,
                    std::optional<Vector<std::uint32_t>>>(),
           nb::arg("target"), lent("weights").none(), nb::arg("settings"), nb::arg("seed"),
           nb::arg("n_columns"), lent("groups") = nb::none())
      .def("rows", &patch_rows, nb::arg("tree"),
           "The different rows of a tree, and how often each was drawn.")
      .def(
          "columns",
          [](const Patches& self, std::uint64_t tree) {
            return to_array(self.patches.columns(tree));
          },
          nb::arg("tree"), "The columns of a tree.")
      .def("grow", &grow_patch, nb::arg("table"), nb::arg("tree"), nb::arg("rows"),
           nb::arg("multiplicity"), "Grow a tree on a table of its rows and columns.");
  nb::class_<Decoys>(module, "Decoys", "Copies of columns in the order of cycles of the rows.")
      .def(nb::init<Vector<std::uint32_t>, Vector<bool>, Vector<std::uint32_t>>(), lent("cycle"),
           lent("judged"), lent("bounds"));
  module.def("grow", &grow, nb::arg("table"), nb::arg("target"), nb::arg("weights").none(),
             nb::arg("settings"), nb::arg("trees"), nb::arg("n_threads"),
             nb::arg("progress").none(), "Grow trees.");
  module.def("grow_beside_decoys", &grow_beside_decoys, nb::arg("table"), nb::arg("target"),
             nb::arg("weights").none(), nb::arg("settings"), nb::arg("trees"), nb::arg("decoys"),
             "Grow one tree; also what each column gets beyond its decoy.");
  nb::class_<Guidance>(module, "Guidance", "Weights and penalties of the columns.")
      .def(nb::init<Vector<double>, std::optional<Vector<double>>, bool>(), lent("weight"),
           lent("factor").none(), nb::arg("of_score"));
  module.def("grow_guided", &grow_guided, nb::arg("table"), nb::arg("target"),
             nb::arg("weights").none(), nb::arg("settings"), nb::arg("trees"), nb::arg("guidance"),
             nb::arg("n_threads"), nb::arg("progress").none(),
             "Grow trees by weights and penalties of the columns.");
}

}  // namespace duramen::python
