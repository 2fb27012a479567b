// A criterion in one file: twice the Gini index.
#pragma once

#include <vector>

#include "grow/criteria/gini.hpp"
#include "grow/criteria/target_kind.hpp"
#include "grow/rounding.hpp"
#include "impurity.hpp"

namespace duramen {

struct Toy {
  static constexpr TargetKind kTarget = TargetKind::classes;
  static constexpr bool kReadsLogs = false;

  template <class W>
  class Terms {
   public:
    explicit Terms(const LogTable& logs) : gini_(logs) {}

    double term(W count) const { return 2.0 * gini_.term(count); }
    double join(double sum, W count) const { return gini_.join(sum, count); }
    double gain(double difference) const { return difference; }
    double impurity(const std::vector<W>& counts, W total) const {
      return 2.0 * gini_.impurity(counts, total);
    }
    static constexpr bool kPureIsExact = false;
    static double score_of_pure(double weight) { return 2.0 * weight; }
    static constexpr bool kRelative = Gini::Terms<W>::kRelative;
    static double tolerance(const NodeSize& node) { return 2.0 * Gini::Terms<W>::tolerance(node); }

   private:
    Gini::Terms<W> gini_;
  };
};

}  // namespace duramen
