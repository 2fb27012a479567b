// Arithmetic of impurities and of the scores that rank the splits of a node (grow/criteria).
//
// With whole weights n log n is a whole multiple of a fixed step, and y is rounded to a grid on
// which all sums are exact in double precision: splits into children of equal statistics then have
// equal scores, bit for bit. Other splits of equal exact score can differ by roundings
// (grow/rounding.hpp).
#pragma once

#include <math.h>  // lgamma_r

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace duramen {

// The impurities that are computed exactly from a distribution (lattice/) and among the rows of
// contexts (context/): the first criteria of trees.
enum class Impurity : int { gini = 0, entropy = 1, variance = 2 };

inline double n_log2_n(double n) { return n > 0.0 ? n * std::log2(n) : 0.0; }

// n log2 n for n = 0..total on a grid fine enough that every sum over a node is exact.
class LogTable {
 public:
  LogTable() = default;
  explicit LogTable(std::size_t total) : grid_(total + 1), exact_(total + 1) {
    const double largest = n_log2_n(static_cast<double>(total) + 2.0) + 1.0;
    step_ = std::exp2(51 - std::ceil(std::log2(largest)));
    for (std::size_t n = 0; n <= total; ++n) {
      exact_[n] = n_log2_n(static_cast<double>(n));
      grid_[n] = std::nearbyint(exact_[n] * step_);
    }
  }
  bool empty() const { return grid_.empty(); }
  // The table for n = 0..total alone, on the same grid.
  LogTable up_to(std::size_t total) const {
    LogTable first;
    first.step_ = step_;
    const auto end = static_cast<std::ptrdiff_t>(std::min(total + 1, grid_.size()));
    first.grid_.assign(grid_.begin(), grid_.begin() + end);
    first.exact_.assign(exact_.begin(), exact_.begin() + end);
    return first;
  }
  double grid(std::int32_t n) const { return grid_[static_cast<std::size_t>(n)]; }
  double exact(std::int32_t n) const { return exact_[static_cast<std::size_t>(n)]; }
  // Bits of a number of steps.
  double bits(double steps) const { return steps / step_; }

 private:
  double step_ = 1.0;
  std::vector<double> grid_, exact_;
};

// Entropy in bits of classes with these weights; `logs` saves the logarithms if there are any.
template <class W>
double entropy_of(const LogTable& logs, const std::vector<W>& counts, W total) {
  if (counts.size() <= 1) return 0.0;
  const auto exact = [&](W count) {
    if constexpr (std::numeric_limits<W>::is_integer) {
      if (!logs.empty()) return logs.exact(count);
    }
    return n_log2_n(static_cast<double>(count));
  };
  double sum = exact(total);
  for (const W count : counts) sum -= exact(count);
  return std::max(0.0, sum / static_cast<double>(total));
}

// a / left + b / right: the score of two children. With whole weights one division serves both;
// rounding may take the difference of real weights to 0.
template <bool kWhole>
double score_of_two(double a, double left, double b, double right) {
  if constexpr (kWhole) return (a * right + b * left) / (left * right);
  const double second = b / right;
  return a / left + (right > 0.0 ? second : 0.0);
}

// std::lgamma writes the sign to a global variable, which threads must not share.
inline double log_gamma(double a) {
#if defined(__linux__)
  int sign = 0;
  return ::lgamma_r(a, &sign);
#else
  return std::lgamma(a);
#endif
}

// Upper tail of the chi-square distribution with `freedom` degrees of freedom: the regularised
// upper incomplete gamma function Q(freedom/2, x/2), by its series or its continued fraction.
inline double chi_square_tail(double x, double freedom) {
  if (!(x > 0.0) || !(freedom > 0.0)) return 1.0;
  const double a = freedom / 2.0;
  const double z = x / 2.0;
  const double front = std::exp(-z + a * std::log(z) - log_gamma(a));
  if (z < a + 1.0) {
    double term = 1.0 / a;
    double sum = term;
    for (int i = 1; i < 10000; ++i) {
      term *= z / (a + i);
      sum += term;
      if (term < sum * 1e-16) break;
    }
    return std::max(0.0, 1.0 - front * sum);
  }
  constexpr double kTiny = 1e-300;
  double b = z + 1.0 - a;
  double c = 1.0 / kTiny;
  double d = 1.0 / b;
  double fraction = d;
  for (int i = 1; i < 10000; ++i) {
    const double numerator = -i * (i - a);
    b += 2.0;
    d = numerator * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + numerator / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    const double factor = d * c;
    fraction *= factor;
    if (std::fabs(factor - 1.0) < 1e-15) break;
  }
  return front * fraction;
}

}  // namespace duramen
