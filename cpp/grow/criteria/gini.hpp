// The Gini index of classes (Breiman et al. 1984): 1 - sum_k (n_k / n)^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "grow/criteria/target_kind.hpp"
#include "grow/rounding.hpp"
#include "impurity.hpp"

namespace duramen {

struct Gini {
  static constexpr TargetKind kTarget = TargetKind::classes;
  static constexpr bool kReadsLogs = false;

  // The score of a child is sum_k n_k^2 / n: its weight less its weight times impurity.
  template <class W>
  class Terms {
   public:
    static constexpr bool kWhole = std::numeric_limits<W>::is_integer;

    explicit Terms(const LogTable&) {}

    double term(W count) const { return static_cast<double>(count) * static_cast<double>(count); }
    double join(double sum, W count) const {
      return count > W{0} ? sum / static_cast<double>(count) : 0.0;
    }
    double score_of_two_classes(W zero, W first, W all_zero, W all) const {
      const double l = static_cast<double>(first);
      const double l0 = static_cast<double>(zero);
      const double l1 = l - l0;
      const double r = static_cast<double>(all) - l;
      const double r0 = static_cast<double>(all_zero) - l0;
      const double r1 = r - r0;
      return score_of_two<kWhole>(l0 * l0 + l1 * l1, l, r0 * r0 + r1 * r1, r);
    }

    double gain(double difference) const { return difference; }
    double impurity(const std::vector<W>& counts, W total) const {
      if (counts.size() <= 1) return 0.0;
      double sum = 0.0;
      for (const W count : counts) {
        const double fraction = static_cast<double>(count) / static_cast<double>(total);
        sum += fraction * fraction;
      }
      return std::max(0.0, 1.0 - sum);
    }

    static constexpr bool kPureIsExact = false;
    static double score_of_pure(double weight) { return weight; }

    // Whole weights: squares and their sums are whole numbers, and a child costs a division and an
    // addition. Real weights: as for the entropy.
    static constexpr bool kRelative = kWhole;
    static double tolerance(const NodeSize& node) {
      if constexpr (kWhole) {
        return (node.n_children + node.n_groups + 4.0) * 0x1p-52;
      } else {
        return node.weight * (node.n_rows + node.n_groups + node.n_children + 10.0) * 0x1p-50;
      }
    }
  };
};

}  // namespace duramen
