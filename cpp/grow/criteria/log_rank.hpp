// The log-rank statistic of the survival of two groups (Segal 1988; LeBlanc and Crowley 1993): the
// square of the events of one in excess of those expected, over its variance (survival_node.hpp).
#pragma once

#include <cstdint>

#include "grow/criteria/target_kind.hpp"

namespace duramen {

struct LogRank {
  static constexpr TargetKind kTarget = TargetKind::survival;
  static constexpr bool kReadsLogs = false;

  // 0 where the variance is 0 but for roundings, measured by `spread`: no event tells the groups
  // apart.
  static double score(double excess, double variance, double spread) {
    return variance > spread * 0x1p-46 ? excess * excess / variance : 0.0;
  }

  static double tolerance(std::uint32_t n_rows, double score) {
    return (n_rows + 16.0) * 0x1p-46 * (score + 1.0);
  }
};

}  // namespace duramen
