// The Shannon entropy of classes in bits (Quinlan 1986): -sum_k n_k / n log2 (n_k / n).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "grow/criteria/target_kind.hpp"
#include "grow/rounding.hpp"
#include "impurity.hpp"

namespace duramen {

struct Entropy {
  static constexpr TargetKind kTarget = TargetKind::classes;
  static constexpr bool kReadsLogs = true;

  // The score of a child is sum_k n_k log2 n_k - n log2 n: less its weight times impurity. With
  // whole weights it is counted in steps of the table.
  template <class W>
  class Terms {
   public:
    static constexpr bool kWhole = std::numeric_limits<W>::is_integer;

    explicit Terms(const LogTable& logs) : logs_(logs) {}

    double term(W count) const {
      if constexpr (kWhole) {
        return logs_.grid(count);
      } else {
        return n_log2_n(count);
      }
    }
    double join(double sum, W count) const { return sum - term(count); }

    double gain(double difference) const { return kWhole ? logs_.bits(difference) : difference; }
    double impurity(const std::vector<W>& counts, W total) const {
      return entropy_of(logs_, counts, total);
    }

    static constexpr bool kPureIsExact = kWhole;
    static double score_of_pure(double) { return 0.0; }

    // Whole weights: a score adds up a look-up for every child and for every class in a child, each
    // off by at most 1.25 steps: half a step from rounding to the grid, the rest from the logarithm
    // and its product. Counts of 0, 1 and 2 are exact, so that a score has no more than 2/3 of an
    // inexact look-up for every row.
    //
    // Real weights: the sum of n weights is off by up to n u times itself, in another way for every
    // order of the rows. A score changes by up to |log2 p| or 2 times that, p being the proportion
    // of a class in a child. The roundings of the logarithms, which do not add up over rows, come
    // on top.
    static constexpr bool kRelative = false;
    static double tolerance(const NodeSize& node) {
      if constexpr (kWhole) {
        const double look_ups = node.n_children * (node.n_groups + 1.0);
        return 2.5 * std::min(look_ups, node.weight * (2.0 / 3.0));
      } else {
        const double of_counts = (node.n_rows + node.n_groups + 2.0) * 0x1p-48;
        const double logarithm = std::fabs(std::log2(node.weight)) + 64.0;
        const double of_terms = (node.n_children + node.n_groups + 8.0) * logarithm * 0x1p-52;
        return node.weight * (of_counts + of_terms);
      }
    }

   private:
    const LogTable& logs_;
  };
};

}  // namespace duramen
