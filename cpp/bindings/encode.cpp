// Encoding, as Python calls it.
#include "data/encode.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"

namespace duramen::python {

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

// The columns of a sparse matrix that is stored by columns, rows ascending in each.
std::ptrdiff_t add_sparse(duramen::Encoder& encoder, const Vector<std::int64_t>& starts,
                          const AnyArray& rows, const AnyArray& values) {
  const duramen::Scalar type = scalar_of(values);
  const std::size_t p = starts.shape(0) - 1;
  const bool long_rows = scalar_of(rows) == duramen::Scalar::int64;
  need(long_rows || scalar_of(rows) == duramen::Scalar::int32, "rows are not int32 or int64");
  need(starts.shape(0) > 0 && rows.ndim() == 1 && values.ndim() == 1 &&
           rows.shape(0) == values.shape(0) && starts.data()[0] == 0 &&
           std::is_sorted(starts.data(), starts.data() + p + 1) &&
           static_cast<std::size_t>(starts.data()[p]) == values.shape(0),
       "starts does not divide rows and values");
  need(values.shape(0) == 0 || (rows.stride(0) == 1 && values.stride(0) == 1),
       "rows and values are not contiguous");
  const auto ascend = [&]<class Row>(const Row* row) {
    for (std::size_t j = 0; j < p; ++j) {
      Row last = -1;
      for (std::int64_t i = starts.data()[j]; i < starts.data()[j + 1]; ++i) {
        if (row[i] <= last) return false;
        last = row[i];
      }
      if (last >= static_cast<Row>(encoder.n_rows())) return false;
    }
    return true;
  };
  need(long_rows
           ? ascend(static_cast<const std::int64_t*>(rows.data()))
           : encoder.n_rows() <= INT32_MAX && ascend(static_cast<const std::int32_t*>(rows.data())),
       "the rows of a column do not ascend, or one is not of the table");
  const auto size = static_cast<std::ptrdiff_t>(duramen::size_of(type));
  const std::ptrdiff_t row_size = long_rows ? 8 : 4;
  std::vector<duramen::ColumnView> views;
  views.reserve(p);
  for (std::size_t j = 0; j < p; ++j) {
    const std::int64_t begin = starts.data()[j];
    views.push_back({static_cast<const char*>(values.data()) + size * begin, size, type,
                     static_cast<const char*>(rows.data()) + row_size * begin, long_rows,
                     static_cast<std::size_t>(starts.data()[j + 1] - begin)});
  }
  return add_views(encoder, views);
}

// A NumPy array that takes over the buffer's memory.
template <class T>
Array<T> take(duramen::Buffer<T>& buffer, std::size_t rows, std::size_t columns = 0) {
  T* data = buffer.release();
  nb::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  const std::size_t shape[2] = {rows, columns};
  return Array<T>(data, columns ? 2 : 1, shape, owner);
}

}  // namespace

void bind_encode(nb::module_& module) {
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
      .def("add_sparse", &add_sparse, nb::arg("starts"), nb::arg("rows"), nb::arg("values"),
           "Encode columns of which the values are given at rows that ascend; others hold zero.")
      .def(
          "add_codes",
          [](Encoder& self, const Vector<std::uint32_t>& codes, std::uint32_t n_values,
             bool missing) {
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
            const auto block = [n](auto& codes) { return take(codes, codes.size() / n, n); };
            const std::size_t k = self.width.size();
            const auto flat = [](auto& buffer) { return take(buffer, buffer.size()); };
            std::tuple sparse{take(self.bits, k, (n + 63) / 64),
                              take(self.frequent, k),
                              take(self.width, k),
                              take(self.begin, k),
                              flat(self.entries8),
                              flat(self.entries16),
                              flat(self.entries32)};
            return std::tuple{std::tuple{block(self.narrow), block(self.middle), block(self.wide)},
                              std::move(sparse),
                              take(self.block_of, p),
                              take(self.slot, p),
                              take(self.values, n_values),
                              take(self.offsets, p + 1),
                              take(self.missing_of, p)};
          },
          "((u8, u16, u32), sparse, block_of, slot, values, offsets, missing); the encoder is then "
          "empty.");
  module.attr("SPARSE_ROWS") = duramen::kSparseRows;
  module.def("sparse_density", &duramen::sparse_density, nb::arg("of_table"),
             "The proportion of entries up to which a column stays sparse, by that of its table.");
}

}  // namespace duramen::python
