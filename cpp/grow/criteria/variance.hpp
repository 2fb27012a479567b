// The variance of numbers (Breiman et al. 1984).
#pragma once

#include <cmath>

#include "grow/criteria/target_kind.hpp"
#include "grow/rounding.hpp"

namespace duramen {

struct Variance {
  static constexpr TargetKind kTarget = TargetKind::numbers;
  static constexpr bool kReadsLogs = false;

  // The score of a child is (sum w y)^2 / n: the sum of w y^2, which splits do not change, less its
  // weight times impurity.
  template <class W>
  static double score(double sum, W weight) {
    return weight > W{0} ? sum * sum / static_cast<double>(weight) : 0.0;
  }

  // A score, sum_c S_c^2 / n_c, changes by 2 |S_c| / n_c for every unit of S_c, and the sum of
  // |S_c| is at most the root of weight times score. `error` is that of one response.
  static double tolerance(const NodeSize& node, double score, double error) {
    return 4.0 * error * std::sqrt(node.weight * score) + (node.n_children + 8.0) * 0x1p-52 * score;
  }
  // What real weights add to it: `moments` is the sum of w |y|, `most` the largest |y|.
  static double real_tolerance(const NodeSize& node, double moments, double most) {
    return (node.n_rows + 4.0) * 0x1p-49 * moments * most;
  }
};

}  // namespace duramen
