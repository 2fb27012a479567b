// Conversion of Python arrays to spans of the kernel, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace duramen::python {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

// An argument that is lent, never converted to a copy of another type or order.
inline auto lent(const char* name) { return nb::arg(name).noconvert(); }

// NumPy arrays that take over a vector.
template <class T>
Array<T> to_array(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned,
                    [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return Array<T>(owned->data(), shape, owner);
}

template <class T>
Array<T> to_array(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
  return to_array(std::move(values), {rows, columns});
}

template <class T>
Array<T> to_array(std::vector<T>&& values) {
  const std::size_t size = values.size();
  return to_array(std::move(values), {size});
}

inline void need(bool met, const char* message) {
  if (!met) throw nb::value_error(message);
}

}  // namespace duramen::python
