// Cuts of an ordered column that are drawn uniformly between two of its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/dense.hpp"
#include "grow/working.hpp"
#include "lanes.hpp"
#include "random.hpp"

namespace duramen {

// The last value, or code, of child 0.
template <class T>
T limit_of(const Split& cut) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(cut.low);
  } else {
    return static_cast<T>(cut.threshold);
  }
}

template <class T, class Node>
class DrawnCuts {
 public:
  DrawnCuts(const Table& table, const Working<T>& working) : table_(table), working_(working) {}

  // Uniform between two values; the value of `high` stays beyond the cut.
  template <class Code>
  Split draw(std::size_t column, Code low, Code high, Random& random) const {
    Split cut;
    cut.feature = static_cast<std::int64_t>(column);
    cut.real_cut = true;
    const double u = random.uniform();
    if constexpr (!std::is_integral_v<Code>) {
      cut.threshold = mixture(low, high, u);
    } else {
      cut.high = high;
      if constexpr (kDensePossible<T, Node>) {
        const float* rounded = working_.dense() ? working_.rounded(column) : nullptr;
        if (rounded != nullptr) {
          const float threshold = mixture(rounded[low], rounded[high], u);
          const std::size_t from = low / 8 * 8;
          const std::size_t to = (high + std::size_t{8}) / 8 * 8;
          cut.low = static_cast<std::uint32_t>(from) - 1 +
                    count_up_to(rounded + from, threshold, to - from);
          cut.threshold = threshold;
          cut.placed = working_.exact(column);
          return cut;
        }
      }
      const double* values = table_.values(column);
      cut.threshold = mixture(values[low], values[high], u);
      cut.low = last_up_to(values, low, high, cut.threshold);
      cut.placed = true;
    }
    return cut;
  }

  // Perhaps a or b by rounding; larger b do not make it smaller.
  template <class Real>
  static Real rounded_mixture(Real a, Real b, double u) {
    return static_cast<Real>(static_cast<double>(a) * (1.0 - u) + static_cast<double>(b) * u);
  }

 private:
  template <class Real>
  static Real mixture(Real a, Real b, double u) {
    const Real drawn = rounded_mixture(a, b, u);
    return drawn >= a && drawn < b ? drawn : a;
  }

  // The last of values[low..high) that is not above the threshold; values[low] is not.
  static std::uint32_t last_up_to(const double* values, std::uint32_t low, std::uint32_t high,
                                  double threshold) {
    std::uint32_t length = high - low;
    while (length > 1) {
      const std::uint32_t half = length / 2;
      low = values[low + half] <= threshold ? low + half : low;
      length -= half;
    }
    return low;
  }

  const Table& table_;
  const Working<T>& working_;
};

}  // namespace duramen
