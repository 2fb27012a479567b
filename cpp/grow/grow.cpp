#include "grow/grow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "grow/instances/grow_with.hpp"
#include "grow/node.hpp"
#include "grow/survival_node.hpp"
#include "grow/working.hpp"

namespace duramen {
namespace {

// Random cuts need values, not codes: single precision halves the memory traffic. (Values that are
// equal in single precision are still split, by their codes, if nothing else differs.)
bool values_suffice(const Problem& problem) {
  const Settings& settings = problem.settings;
  const Table& table = problem.table;
  if (settings.cut != Cut::random || settings.splits != Family::ordered) return false;
  if (table.n_rows <= kDenseRows) return false;
  constexpr double kMost = std::numeric_limits<float>::max();
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    if (table.kind(j) != Kind::numeric || table.missing[j]) return false;
    const double* values = table.values(j);
    if (values[0] < -kMost || values[table.n_values(j) - 1] > kMost) return false;
  }
  return true;
}

template <class Node>
Trees grow_by_width(const GrowthOrder& order) {
  if constexpr (Node::kWhole) {
    if (values_suffice(order.problem)) return grow_with<float, Node>(order);
    if (order.problem.most_codes <= 0x100) return grow_with<std::uint8_t, Node>(order);
    if (order.problem.most_codes <= 0x10000) return grow_with<std::uint16_t, Node>(order);
  }
  return grow_with<std::uint32_t, Node>(order);
}

// Lets the allocator keep the memory of a growth for the next one. glibc hands free memory back to
// the system, which gives it out again page by page, a tenth of the time of few shallow trees on
// many rows; but never less than twice the largest block that was freed, touched or not.
void keep_memory(const Table& table, std::uint64_t n_trees) {
  constexpr std::size_t kMost = (std::size_t{1} << 25) - (1 << 12);  // larger blocks do not count
  constexpr std::size_t kMostOfTrees = std::size_t{1} << 24;
  const std::size_t of_row = 2 * sizeof(float) * table.n_columns + 64;  // layouts, rows of a node
  const std::size_t of_trees = 2 * 42 * table.n_rows * n_trees;         // a leaf for every row
  const std::size_t size = std::max(table.n_rows * of_row, std::min(of_trees, kMostOfTrees));
  void* volatile block = std::malloc(std::min(kMost, size));
  std::free(block);
}

}  // namespace

Trees grow_trees(const Problem& problem, std::uint64_t first_tree, std::uint64_t n_trees,
                 unsigned n_threads) {
  keep_memory(problem.table, n_trees);
  const GrowthOrder order{problem, first_tree, n_trees, n_threads};
  switch (target_of(problem.settings.criterion)) {
    case TargetKind::classes:
      return problem.whole_weights ? grow_by_width<ClassNode<std::int32_t>>(order)
                                   : grow_by_width<ClassNode<double>>(order);
    case TargetKind::numbers:
      return problem.whole_weights ? grow_by_width<MomentNode<std::int32_t>>(order)
                                   : grow_by_width<MomentNode<double>>(order);
    case TargetKind::survival:
      return problem.most_codes <= 0x10000 ? grow_with<std::uint16_t, SurvivalNode>(order)
                                           : grow_with<std::uint32_t, SurvivalNode>(order);
  }
  __builtin_unreachable();
}

}  // namespace duramen
