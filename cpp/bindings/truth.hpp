// The target of the rows that a forest is measured on, as Python gives it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../permute.hpp"
#include "arrays.hpp"

namespace duramen::python {

// Classes or numbers, and the array that they lie in.
struct GivenTruth {
  duramen::Truth truth;
  Vector<std::uint32_t> classes;
  Vector<double> response;

  GivenTruth(const duramen::ForestView& forest, std::size_t n_rows, const nb::object& target) {
    truth.n_rows = n_rows;
    if (nb::isinstance<Vector<std::uint32_t>>(target)) {
      classes = nb::cast<Vector<std::uint32_t>>(target);
      need(classes.shape(0) == n_rows, "the target has not one entry a row");
      truth.n_classes = static_cast<std::uint32_t>(forest.n_values);
      for (std::size_t i = 0; i < n_rows; ++i) {
        need(classes.data()[i] < truth.n_classes, "a class code is not below n_classes");
      }
      truth.classes = classes.data();
    } else {
      response = nb::cast<Vector<double>>(target);
      need(response.shape(0) == n_rows, "the target has not one entry a row");
      truth.response = response.data();
    }
  }
};

}  // namespace duramen::python
