// A few of the values of each column, by which the others are found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"

namespace duramen {

// Every kStep-th distinct value of each column, from the first on, in single precision.
class ValueSamples {
 public:
  static constexpr std::uint32_t kStep = 16;

  explicit ValueSamples(const Table& table) {
    for (std::size_t j = 0; j < table.n_columns; ++j) {
      begin_.push_back(samples_.size());
      const double* values = table.values(j);
      for (std::uint32_t v = 0; v < table.n_values(j); v += kStep) {
        samples_.push_back(static_cast<float>(values[v]));
      }
    }
    begin_.push_back(samples_.size());
  }

  const float* of(std::size_t column) const { return samples_.data() + begin_[column]; }
  std::uint32_t count(std::size_t column) const {
    return static_cast<std::uint32_t>(begin_[column + 1] - begin_[column]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<float> samples_;
};

}  // namespace duramen
