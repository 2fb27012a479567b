#include "grow/bits.hpp"

#include <cstddef>
#include <cstdint>

#include "grow/bit_grower.hpp"

namespace duramen {
namespace {

constexpr std::uint32_t kMostClasses = 8;
constexpr std::size_t kMostWords = 4;  // of 64 rows

template <std::size_t kWords>
Trees grow_in_words(const GrowthOrder& order, const Working<std::uint8_t>& working) {
  const Problem& problem = order.problem;
  return with_class_terms<std::int32_t>(problem.settings.criterion, problem.logs, [&](auto terms) {
    return grow_by<BitGrower<kWords, decltype(terms)>>(order, working);
  });
}

}  // namespace

// Numeric columns without missing values, rows of weight 1, few classes, no rule that needs more
// than counts.
bool bits_suit(const Problem& problem) {
  const Settings& settings = problem.settings;
  const Table& table = problem.table;
  if (table.n_rows > 64 * kMostWords || problem.n_classes > kMostClasses) return false;
  if (!problem.unit_weights() || problem.decoys.cycle != nullptr) return false;
  if (problem.multiplicity != nullptr) return false;
  if (problem.guidance.given()) return false;
  if (settings.cut != Cut::random || settings.splits != Family::ordered) return false;
  if (settings.count_constants || settings.max_leaf_nodes > 0) return false;
  if (settings.stop_alpha < 1.0 || settings.min_impurity_decrease > 0.0) return false;
  if (settings.min_impurity_split > 0.0 || settings.n_best_splits > 1) return false;
  if (settings.min_samples_leaf > 1) return false;
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    if (table.kind(j) != Kind::numeric || table.missing[j]) return false;
  }
  return true;
}

Trees grow_bits(const GrowthOrder& order, const Working<std::uint8_t>& working) {
  if (order.problem.table.n_rows <= 128) return grow_in_words<2>(order, working);
  return grow_in_words<kMostWords>(order, working);
}

}  // namespace duramen
