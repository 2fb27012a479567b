// The one file that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "accumulate.hpp"
#include "bag.hpp"
#include "digest.hpp"
#include "encode.hpp"
#include "grow.hpp"
#include "lattice.hpp"
#include "permute.hpp"
#include "route.hpp"

namespace nb = nanobind;

// ---- encode ----

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

duramen::Scalar scalar_of(const AnyArray& array) {
  const nb::dlpack::dtype type = array.dtype();
  if (type == nb::dtype<double>()) return duramen::Scalar::float64;
  if (type == nb::dtype<float>()) return duramen::Scalar::float32;
  if (type == nb::dtype<std::int64_t>()) return duramen::Scalar::int64;
  if (type == nb::dtype<std::int32_t>()) return duramen::Scalar::int32;
  if (type == nb::dtype<std::int16_t>()) return duramen::Scalar::int16;
  if (type == nb::dtype<std::uint8_t>()) return duramen::Scalar::uint8;
  throw nb::type_error("ColumnEncoder takes float64, float32, int64, int32, int16 and uint8");
}

// Appends the view of column `j`, the array being (n_rows,) or (n_rows, n_columns).
void append_view(const AnyArray& array, std::size_t j, std::vector<duramen::ColumnView>& views) {
  const duramen::Scalar type = scalar_of(array);
  const auto size = static_cast<std::ptrdiff_t>(duramen::size_of(type));
  const auto skip = array.ndim() == 2 ? array.stride(1) * static_cast<std::ptrdiff_t>(j) : 0;
  views.push_back(
      {static_cast<const char*>(array.data()) + size * skip, size * array.stride(0), type});
}

std::ptrdiff_t add_views(duramen::Encoder& encoder, std::span<const duramen::ColumnView> views) {
  std::ptrdiff_t outcome;
  {
    nb::gil_scoped_release unlocked;
    outcome = encoder.add(views, [] {
      nb::gil_scoped_acquire locked;
      return PyErr_CheckSignals() != 0;
    });
  }
  if (outcome == duramen::Encoder::kInterrupted) throw nb::python_error();
  return outcome;
}

// A NumPy array that takes over the buffer's memory.
template <class T>
nb::object take(duramen::Buffer<T>& buffer, std::size_t rows, std::size_t columns = 0) {
  T* data = buffer.release();
  nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  const std::size_t shape[2] = {rows, columns};
  return nb::cast(nb::ndarray<nb::numpy, T>(data, columns ? 2 : 1, shape, owner));
}

}  // namespace

static void bind_encode(nb::module_& module) {
  using duramen::Encoder;
  nb::class_<Encoder>(module, "ColumnEncoder", "Takes columns in order; yields dense codes.")
      .def(
          "__init__",
          [](Encoder* self, std::size_t n_rows, unsigned n_threads) {
            if (n_rows == 0 || n_rows >= UINT32_MAX)
              throw nb::value_error("n_rows is not within 1..2**32 - 2");
            new (self) Encoder(n_rows, n_threads);
          },
          nb::arg("n_rows"), nb::arg("n_threads") = 1)
      .def(
          "add",
          [](Encoder& self, const nb::list& columns) {
            std::vector<AnyArray> arrays;
            std::vector<duramen::ColumnView> views;
            for (nb::handle item : columns) {
              arrays.push_back(nb::cast<AnyArray>(item));
              if (arrays.back().ndim() != 1 || arrays.back().shape(0) != self.n_rows())
                throw nb::value_error("a column is not of shape (n_rows,)");
              append_view(arrays.back(), 0, views);
            }
            return add_views(self, views);
          },
          nb::arg("columns"),
          "Encode one-dimensional arrays; the index of the first that cannot be encoded, or -1.")
      .def(
          "add_matrix",
          [](Encoder& self, const AnyArray& matrix) {
            if (matrix.ndim() != 2 || matrix.shape(0) != self.n_rows())
              throw nb::value_error("the matrix is not of shape (n_rows, n_columns)");
            std::vector<duramen::ColumnView> views;
            views.reserve(matrix.shape(1));
            for (std::size_t j = 0; j < matrix.shape(1); ++j) append_view(matrix, j, views);
            return add_views(self, views);
          },
          nb::arg("matrix"),
          "Encode a matrix's columns; the index of the first that cannot be encoded, or -1.")
      .def(
          "add_codes",
          [](Encoder& self,
             const nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>&
                 codes,
             std::uint32_t n_values, bool missing) {
            if (!self.add_codes({codes.data(), codes.shape(0)}, n_values, missing))
              throw nb::value_error("codes are of another length, or not below their number");
          },
          nb::arg("codes"), nb::arg("n_values"), nb::arg("missing"),
          "Take a column of codes; n_values is the code of the missing value.")
      .def(
          "finish",
          [](Encoder& self) {
            const std::size_t n = self.n_rows(), p = self.n_columns();
            const std::size_t n_values = self.values.size();
            const auto rows = [n](const auto& block) { return block.size() / n; };
            nb::object narrow = take(self.narrow, rows(self.narrow), n);
            nb::object middle = take(self.middle, rows(self.middle), n);
            nb::object wide = take(self.wide, rows(self.wide), n);
            return nb::make_tuple(nb::make_tuple(narrow, middle, wide), take(self.block_of, p),
                                  take(self.slot, p), take(self.values, n_values),
                                  take(self.offsets, p + 1), take(self.missing_of, p));
          },
          "((u8, u16, u32), block_of, slot, values, offsets, missing); the encoder is then empty.");
}

// ---- forests ----

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Runs `work` on another thread with the lock released, while this one looks out for Ctrl-C and
// reports progress; a signal stops the work cleanly.
template <class Work>
void run_watched(duramen::Monitor& monitor, const nb::object& progress, Work&& work) {
  std::mutex guard;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;
  bool interrupted = false;
  {
    nb::gil_scoped_release unlocked;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(guard);
      ended = true;
      changed.notify_one();
    });
    std::unique_lock<std::mutex> lock(guard);
    std::int64_t told = 0;
    while (!changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended; })) {
      if (interrupted) continue;
      lock.unlock();
      {
        nb::gil_scoped_acquire locked;
        interrupted = PyErr_CheckSignals() != 0;
        if (!interrupted && !progress.is_none() && monitor.done != told) {
          told = monitor.done;
          try {
            progress(told);
          } catch (nb::python_error& raised) {
            raised.restore();
            interrupted = true;
          }
        }
      }
      if (interrupted) monitor.stop = true;
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (interrupted) throw nb::python_error();
  if (error) std::rethrow_exception(error);
  if (!progress.is_none()) progress(monitor.done.load());
}

// NumPy arrays that take over a vector.
template <class T>
nb::object to_array(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept,
                    [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

template <class T>
nb::object to_array(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
  return to_array(std::move(values), {rows, columns});
}

template <class T>
nb::object to_array(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_array(std::move(values), {size});
}

void need(bool met, const char* message) {
  if (!met) throw nb::value_error(message);
}

duramen::Table table_of(const Matrix<std::uint8_t>& block8, const Matrix<std::uint16_t>& block16,
                        const Matrix<std::uint32_t>& block32, const Vector<std::uint8_t>& block_of,
                        const Vector<std::int64_t>& slot, const Vector<double>& cut_values,
                        const Vector<std::int64_t>& value_offsets,
                        const Vector<std::uint8_t>& kinds, const Vector<std::uint8_t>& missing) {
  const std::size_t p = block_of.shape(0);
  need(slot.shape(0) == p && value_offsets.shape(0) == p + 1 && kinds.shape(0) == p &&
           missing.shape(0) == p,
       "the fields of the table differ in their number of columns");
  duramen::Table table;
  table.n_rows = block8.shape(1);
  table.n_columns = p;
  need(block16.shape(1) == table.n_rows && block32.shape(1) == table.n_rows,
       "the blocks of the table differ in their number of rows");
  table.block8 = block8.data();
  table.block16 = block16.data();
  table.block32 = block32.data();
  table.block_of = block_of.data();
  table.slot = slot.data();
  table.cut_values = cut_values.data();
  table.value_offsets = value_offsets.data();
  table.kinds = kinds.data();
  table.missing = missing.data();
  return table;
}

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

// Sums of counts, from 0: one more entry than there are counts.
std::vector<std::int64_t> offsets_from(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> offsets(counts.size() + 1, 0);
  for (std::size_t i = 0; i < counts.size(); ++i) offsets[i + 1] = offsets[i] + counts[i];
  return offsets;
}

duramen::ForestView forest_of(const Vector<std::int64_t>& offsets,
                              const Vector<std::int64_t>& leaf_offsets,
                              const Vector<std::int64_t>& pool_offsets,
                              const Vector<std::int32_t>& feature,
                              const Vector<std::int32_t>& child, const Vector<std::uint32_t>& cut,
                              const Vector<double>& threshold, const Vector<std::uint8_t>& split,
                              const Vector<std::uint32_t>& pool, const Vector<std::uint32_t>& rows,
                              const Vector<std::uint32_t>& degree, const Vector<double>& weight,
                              const Vector<double>& impurity, const Matrix<double>& leaf_values) {
  duramen::ForestView forest;
  need(offsets.shape(0) > 0 && leaf_offsets.shape(0) == offsets.shape(0) &&
           pool_offsets.shape(0) == offsets.shape(0),
       "the offsets of the forest differ in length");
  forest.n_trees = offsets.shape(0) - 1;
  const auto n_nodes = static_cast<std::size_t>(offsets.data()[forest.n_trees]);
  need(feature.shape(0) == n_nodes && child.shape(0) == n_nodes && cut.shape(0) == n_nodes &&
           threshold.shape(0) == n_nodes && split.shape(0) == n_nodes && rows.shape(0) == n_nodes &&
           impurity.shape(0) == n_nodes && (degree.shape(0) == n_nodes || degree.shape(0) == 0) &&
           (weight.shape(0) == n_nodes || weight.shape(0) == 0),
       "the arrays of the forest differ in length");
  forest.n_values = leaf_values.shape(1);
  forest.offsets = offsets.data();
  forest.leaf_offsets = leaf_offsets.data();
  forest.pool_offsets = pool_offsets.data();
  forest.feature = feature.data();
  forest.child = child.data();
  forest.cut = cut.data();
  forest.threshold = threshold.data();
  forest.split = split.data();
  forest.pool = pool.data();
  forest.rows = rows.data();
  forest.degree = degree.shape(0) > 0 ? degree.data() : nullptr;
  forest.weight = weight.shape(0) > 0 ? weight.data() : nullptr;
  forest.impurity = impurity.data();
  forest.leaf_values = leaf_values.data();
  return forest;
}

#define DURAMEN_TABLE                                                             \
  const Matrix<std::uint8_t>&block8, const Matrix<std::uint16_t>&block16,         \
      const Matrix<std::uint32_t>&block32, const Vector<std::uint8_t>&block_of,   \
      const Vector<std::int64_t>&slot, const Vector<double>&cut_values,           \
      const Vector<std::int64_t>&value_offsets, const Vector<std::uint8_t>&kinds, \
      const Vector<std::uint8_t>&missing
#define DURAMEN_TABLE_OF \
  table_of(block8, block16, block32, block_of, slot, cut_values, value_offsets, kinds, missing)
#define DURAMEN_FOREST                                                             \
  const Vector<std::int64_t>&offsets, const Vector<std::int64_t>&leaf_offsets,     \
      const Vector<std::int64_t>&pool_offsets, const Vector<std::int32_t>&feature, \
      const Vector<std::int32_t>&child, const Vector<std::uint32_t>&cut,           \
      const Vector<double>&threshold, const Vector<std::uint8_t>&split,            \
      const Vector<std::uint32_t>&pool, const Vector<std::uint32_t>&rows,          \
      const Vector<std::uint32_t>&degree, const Vector<double>&weight,             \
      const Vector<double>&impurity, const Matrix<double>&leaf_values
#define DURAMEN_FOREST_OF                                                                     \
  forest_of(offsets, leaf_offsets, pool_offsets, feature, child, cut, threshold, split, pool, \
            rows, degree, weight, impurity, leaf_values)
#define DURAMEN_SCHEMA                                                       \
  const Vector<double>&cut_values, const Vector<std::int64_t>&value_offsets, \
      const Vector<std::uint8_t>&kinds, const Vector<std::uint8_t>&missing,  \
      const Matrix<double>&values

// What routing by values needs of the training table.
duramen::Table schema_of(const Vector<double>& cut_values,
                         const Vector<std::int64_t>& value_offsets,
                         const Vector<std::uint8_t>& kinds, const Vector<std::uint8_t>& missing,
                         const Matrix<double>& values) {
  duramen::Table table;
  table.n_columns = kinds.shape(0);
  need(values.shape(1) == table.n_columns && value_offsets.shape(0) == table.n_columns + 1 &&
           missing.shape(0) == table.n_columns,
       "the values and the table differ in their number of columns");
  table.cut_values = cut_values.data();
  table.value_offsets = value_offsets.data();
  table.kinds = kinds.data();
  table.missing = missing.data();
  return table;
}

nb::dict grow(DURAMEN_TABLE, const nb::object& target, std::uint32_t n_classes,
              const nb::object& weights, const nb::dict& settings, std::uint64_t first_tree,
              std::uint64_t n_trees, std::uint64_t seed, unsigned n_threads,
              const nb::object& progress) {
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
  return forest;
}

duramen::Settings bag_settings(std::uint32_t row_samples, bool bootstrap) {
  duramen::Settings settings;
  settings.row_samples = row_samples;
  settings.bootstrap = bootstrap;
  return settings;
}

}  // namespace

static void bind_forests(nb::module_& module) {
  module.def("grow", &grow, nb::arg("block8"), nb::arg("block16"), nb::arg("block32"),
             nb::arg("block_of"), nb::arg("slot"), nb::arg("cut_values"), nb::arg("value_offsets"),
             nb::arg("kinds"), nb::arg("missing"), nb::arg("target"), nb::arg("n_classes"),
             nb::arg("weights").none(), nb::arg("settings"), nb::arg("first_tree"),
             nb::arg("n_trees"), nb::arg("seed"), nb::arg("n_threads"), nb::arg("progress").none(),
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

// ---- permutations ----

namespace {

// How rows are permuted, and the arrays that this points to.
struct Permuting {
  duramen::Permutations permutations;
  duramen::Groups groups;
  duramen::Truth truth;
  duramen::Counted counted;
  Vector<std::int64_t> group_offsets;
  Vector<std::uint32_t> group_columns;
  Vector<std::uint32_t> classes;
  Vector<double> response;
  Matrix<std::uint8_t> associated;
  Vector<std::uint32_t> originals;
  nb::object progress;

  Permuting(const duramen::ForestView& forest, std::size_t n_rows, std::size_t n_columns,
            const nb::object& target, const nb::dict& given) {
    const auto option = [&](const char* name) { return nb::object(given[name]); };
    permutations.out_of_bag = nb::cast<bool>(option("out_of_bag"));
    permutations.bags = bag_settings(nb::cast<std::uint32_t>(option("row_samples")),
                                     nb::cast<bool>(option("bootstrap")));
    permutations.bag_seed = nb::cast<std::uint64_t>(option("bag_seed"));
    permutations.first_tree = nb::cast<std::uint64_t>(option("first_tree"));
    permutations.first_repeat = nb::cast<std::uint32_t>(option("first_repeat"));
    permutations.n_repeats = nb::cast<std::uint32_t>(option("n_repeats"));
    permutations.every = nb::cast<bool>(option("every"));
    permutations.seed = nb::cast<std::uint64_t>(option("seed"));
    permutations.condition = static_cast<duramen::Condition>(nb::cast<int>(option("condition")));
    permutations.level = nb::cast<double>(option("level"));
    if (!option("associated").is_none()) {
      associated = nb::cast<Matrix<std::uint8_t>>(option("associated"));
      need(associated.shape(0) == n_columns && associated.shape(1) == n_columns,
           "associated is not a square of the columns");
      permutations.associated = associated.data();
    }
    progress = option("progress");
    if (!option("originals").is_none()) {
      originals = nb::cast<Vector<std::uint32_t>>(option("originals"));
      need(originals.shape(0) == n_rows, "originals has not one entry a row");
      for (std::size_t i = 0; i < n_rows; ++i) {
        need(originals.data()[i] < n_rows, "originals must be numbers of rows");
      }
      permutations.originals = originals.data();
    }
    groups.count = n_columns;
    if (!option("group_offsets").is_none()) {
      group_offsets = nb::cast<Vector<std::int64_t>>(option("group_offsets"));
      group_columns = nb::cast<Vector<std::uint32_t>>(option("group_columns"));
      groups = {group_offsets.shape(0) - 1, group_offsets.data(), group_columns.data()};
    }
    counted.score = static_cast<duramen::Score>(nb::cast<int>(option("score")));
    counted.by_class = nb::cast<bool>(option("by_class"));
    counted.votes = nb::cast<bool>(option("votes"));
    truth.n_rows = n_rows;
    if (nb::isinstance<Vector<std::uint32_t>>(target)) {
      classes = nb::cast<Vector<std::uint32_t>>(target);
      need(classes.shape(0) == n_rows, "the target has not one entry a row");
      truth.n_classes = static_cast<std::uint32_t>(forest.n_values);
      truth.classes = classes.data();
    } else {
      response = nb::cast<Vector<double>>(target);
      need(response.shape(0) == n_rows, "the target has not one entry a row");
      truth.response = response.data();
    }
  }
};

template <class Rows>
nb::tuple permutation_losses(const duramen::ForestView& forest, const Rows& rows,
                             std::size_t n_rows, const nb::object& target, const nb::dict& given,
                             unsigned n_threads) {
  const Permuting asked(forest, n_rows, rows.table.n_columns, target, given);
  duramen::Losses result;
  duramen::Monitor monitor;
  run_watched(monitor, asked.progress, [&] {
    result = duramen::permutation_losses(forest, rows, asked.truth, asked.groups,
                                         asked.permutations, asked.counted, n_threads, monitor);
  });
  const std::size_t c = asked.counted.votes ? asked.truth.n_classes : 0;
  const std::size_t n_groups = asked.groups.count;
  return nb::make_tuple(to_array(std::move(result.sum), n_groups, result.width),
                        to_array(std::move(result.squares), n_groups, result.width), result.n_trees,
                        to_array(std::move(result.votes), c, c),
                        to_array(std::move(result.changed_votes), {c > 0 ? n_groups : 0, c, c}));
}

template <class Rows>
nb::tuple permuted_ballots(const duramen::ForestView& forest, const Rows& rows, std::size_t n_rows,
                           const nb::object& target, const nb::dict& given,
                           const Vector<std::uint32_t>& wanted, double scale, unsigned n_threads) {
  const Permuting asked(forest, n_rows, rows.table.n_columns, target, given);
  const std::vector<std::uint32_t> groups(wanted.data(), wanted.data() + wanted.shape(0));
  duramen::Ballots result;
  duramen::Monitor monitor;
  run_watched(monitor, asked.progress, [&] {
    result = duramen::permuted_ballots(forest, rows, asked.truth, asked.groups, asked.permutations,
                                       groups, scale, n_threads, monitor);
  });
  return nb::make_tuple(
      to_array(std::move(result.trees)), to_array(std::move(result.votes), n_rows, forest.n_values),
      to_array(std::move(result.changes), {groups.size(), n_rows, forest.n_values}));
}

}  // namespace

static void bind_permutations(nb::module_& module) {
  module.def(
      "permutation_losses_codes",
      [](DURAMEN_FOREST, DURAMEN_TABLE, const nb::object& target, const nb::dict& permutations,
         unsigned n_threads) {
        const duramen::Table table = DURAMEN_TABLE_OF;
        return permutation_losses(DURAMEN_FOREST_OF, duramen::CodeRows{table}, table.n_rows, target,
                                  permutations, n_threads);
      },
      "Sums and squares over trees of what permutations lose; votes and changed votes.");
  module.def(
      "permutation_losses_values",
      [](DURAMEN_FOREST, DURAMEN_SCHEMA, const nb::object& target, const nb::dict& permutations,
         unsigned n_threads) {
        const duramen::Table table = schema_of(cut_values, value_offsets, kinds, missing, values);
        return permutation_losses(DURAMEN_FOREST_OF, duramen::ValueRows{table, values.data()},
                                  values.shape(0), target, permutations, n_threads);
      },
      "The same for rows given by their values.");
  module.def(
      "permuted_ballots_codes",
      [](DURAMEN_FOREST, DURAMEN_TABLE, const nb::object& target, const nb::dict& permutations,
         const Vector<std::uint32_t>& wanted, double scale, unsigned n_threads) {
        const duramen::Table table = DURAMEN_TABLE_OF;
        return permuted_ballots(DURAMEN_FOREST_OF, duramen::CodeRows{table}, table.n_rows, target,
                                permutations, wanted, scale, n_threads);
      },
      "Trees of every row, its votes, and how permutations of the wanted groups change them.");
  module.def(
      "permuted_ballots_values",
      [](DURAMEN_FOREST, DURAMEN_SCHEMA, const nb::object& target, const nb::dict& permutations,
         const Vector<std::uint32_t>& wanted, double scale, unsigned n_threads) {
        const duramen::Table table = schema_of(cut_values, value_offsets, kinds, missing, values);
        return permuted_ballots(DURAMEN_FOREST_OF, duramen::ValueRows{table, values.data()},
                                values.shape(0), target, permutations, wanted, scale, n_threads);
      },
      "The same for rows given by their values.");
}

// ---- theory ----

namespace {

// Codes come feature by row; weights are None where every row counts 1, numbers where they do not
// matter.
duramen::LatticeTable lattice_table(const Matrix<std::uint32_t>& codes,
                                    const Vector<std::uint32_t>& classes, std::uint32_t n_classes,
                                    const nb::object& weights, const nb::object& numbers,
                                    int criterion, std::size_t depth) {
  duramen::LatticeTable table;
  table.n_features = codes.shape(0);
  table.n_rows = codes.shape(1);
  table.n_classes = n_classes;
  table.codes = codes.data();
  table.classes = classes.data();
  table.criterion = static_cast<duramen::Criterion>(criterion);
  table.depth = depth;
  need(table.n_rows > 0 && table.n_rows < UINT32_MAX, "the table has no rows, or too many");
  need(classes.shape(0) == table.n_rows, "the target has not one entry a row");
  need(depth >= 1 && depth <= table.n_features, "the depth is not within 1..n_features");
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    need(table.classes[i] < n_classes, "a class code is not below n_classes");
  }
  if (!weights.is_none()) {
    const auto array = nb::cast<Vector<double>>(weights);
    need(array.shape(0) == table.n_rows, "weights has not one entry a row");
    table.weights = array.data();
  }
  if (!numbers.is_none()) {
    const auto array = nb::cast<Vector<double>>(numbers);
    need(array.shape(0) == n_classes, "numbers has not one entry a class");
    table.numbers = array.data();
  }
  need(table.criterion != duramen::Criterion::variance || table.numbers != nullptr,
       "the variance needs numbers");
  return table;
}

nb::object lattice(const Matrix<std::uint32_t>& codes, const Vector<std::uint32_t>& classes,
                   std::uint32_t n_classes, const nb::object& weights, const nb::object& numbers,
                   int criterion, std::size_t depth, const Vector<double>& seconds,
                   unsigned n_threads, const nb::object& progress) {
  const duramen::LatticeTable table =
      lattice_table(codes, classes, n_classes, weights, numbers, criterion, depth);
  const std::vector<double> costs(seconds.data(), seconds.data() + seconds.shape(0));
  need(costs.size() == depth, "costs has not one entry a size");
  duramen::Monitor monitor;
  std::vector<double> result;
  run_watched(monitor, progress,
              [&] { result = duramen::lattice_importances(table, costs, n_threads, monitor); });
  return to_array(std::move(result), table.n_features, depth);
}

nb::tuple probe_lattice(const Matrix<std::uint32_t>& codes, const Vector<std::uint32_t>& classes,
                        std::uint32_t n_classes, const nb::object& weights,
                        const nb::object& numbers, int criterion, std::size_t depth,
                        const Matrix<std::uint32_t>& sets) {
  const duramen::LatticeTable table =
      lattice_table(codes, classes, n_classes, weights, numbers, criterion, depth);
  need(sets.shape(1) < depth, "sets are not smaller than the depth");
  duramen::Monitor monitor;
  duramen::LatticeProbe probe;
  run_watched(monitor, nb::none(), [&] {
    probe = duramen::probe_lattice(table, sets.data(), sets.shape(0), sets.shape(1), monitor);
  });
  return nb::make_tuple(to_array(std::move(probe.work)), probe.all_work, probe.seconds);
}

}  // namespace

static void bind_theory(nb::module_& module) {
  module.attr("LATTICE_DONE") = duramen::kLatticeDone;
  module.def("lattice", &lattice, nb::arg("codes"), nb::arg("classes"), nb::arg("n_classes"),
             nb::arg("weights").none(), nb::arg("numbers").none(), nb::arg("criterion"),
             nb::arg("depth"), nb::arg("costs"), nb::arg("n_threads"), nb::arg("progress").none(),
             "Population importances, feature by size of the conditioning set.");
  module.def("probe_lattice", &probe_lattice, nb::arg("codes"), nb::arg("classes"),
             nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("numbers").none(),
             nb::arg("criterion"), nb::arg("depth"), nb::arg("sets"),
             "Work at some sets of features, all work, and the seconds it took.");
}

NB_MODULE(DURAMEN_MODULE, module) {
  module.doc() = "The compiled kernel of duramen.";
  module.def(
      "digest",
      [](const Vector<std::uint8_t>& bytes) {
        const auto [first, second] =
            duramen::digest(reinterpret_cast<const char*>(bytes.data()), bytes.shape(0));
        return nb::make_tuple(first, second);
      },
      nb::arg("bytes"), "Two words that change when the bytes do.");
  module.def(
      "has_avx2",
      [] {
#if defined(__x86_64__) && !defined(DURAMEN_ONE_BUILD)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("fma");
#else
        return false;
#endif
      },
      "Whether there is a build for AVX2 that this processor runs.");
  bind_encode(module);
  bind_forests(module);
  bind_permutations(module);
  bind_theory(module);
}
