// Python arrays as what the kernel reads, and back; long calls that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "../forest.hpp"
#include "../problem.hpp"
#include "../settings.hpp"
#include "../table.hpp"

namespace duramen::python {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Runs `work` on another thread with the lock released, while this one looks out for Ctrl-C and
// reports progress; a signal stops the work cleanly. Where the system refuses to start a thread,
// the work runs on this one, and Ctrl-C takes effect at its end.
template <class Work>
void run_watched(duramen::Monitor& monitor, const nb::object& progress, Work&& work) {
  std::mutex guard;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;
  bool interrupted = false;
  {
    nb::gil_scoped_release unlocked;
    const auto run = [&] {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(guard);
      ended = true;
      changed.notify_one();
    };
    std::thread worker;
    try {
      worker = std::thread(run);
    } catch (...) {  // a limit on processes or memory
      run();
    }
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
    if (worker.joinable()) worker.join();
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

inline void need(bool met, const char* message) {
  if (!met) throw nb::value_error(message);
}

inline duramen::Settings bag_settings(std::uint32_t row_samples, bool bootstrap) {
  duramen::Settings settings;
  settings.row_samples = row_samples;
  settings.bootstrap = bootstrap;
  return settings;
}

inline duramen::Table table_of(const Matrix<std::uint8_t>& block8,
                               const Matrix<std::uint16_t>& block16,
                               const Matrix<std::uint32_t>& block32,
                               const Vector<std::uint8_t>& block_of,
                               const Vector<std::int64_t>& slot, const Vector<double>& cut_values,
                               const Vector<std::int64_t>& value_offsets,
                               const Vector<std::uint8_t>& kinds,
                               const Vector<std::uint8_t>& missing) {
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

inline duramen::ForestView forest_of(
    const Vector<std::int64_t>& offsets, const Vector<std::int64_t>& leaf_offsets,
    const Vector<std::int64_t>& pool_offsets, const Vector<std::int32_t>& feature,
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
inline duramen::Table schema_of(const Vector<double>& cut_values,
                                const Vector<std::int64_t>& value_offsets,
                                const Vector<std::uint8_t>& kinds,
                                const Vector<std::uint8_t>& missing, const Matrix<double>& values) {
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

}  // namespace duramen::python
