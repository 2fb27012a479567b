// Multiway trees follow the theory: K candidates are drawn among the columns not conditioned on
// yet, constant ones included. Where a constant column is chosen (nothing else was drawn, or it
// ties with splits that gain nothing) the node stays as it is, but the column counts as conditioned
// on: the degree of a split is the size of the set B of the theory. Where constant columns count,
// the greatest depth is one of degrees, as in the theory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "grow/decoys.hpp"
#include "grow/node.hpp"
#include "grow/search/node_search.hpp"
#include "grow/search/permutation_test.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
constexpr bool kMultiwaySuits = std::is_integral_v<T> && !ScoresRows<Node>;

template <class T, class Node>
class Multiway {
 public:
  explicit Multiway(NodeSearch<T, Node>& search)
      : search_(search), tests_(search.settings.tests_by_permutation()), test_(search, nullptr) {
    if (search.problem.decoys.cycle != nullptr) decoys_.emplace(search.problem, search.working);
  }

  void start_tree(std::uint64_t tree) {
    if (decoys_) decoys_->start_tree(tree);
  }
  void add_children(const Range& range, std::uint32_t first, std::size_t count) {
    if (decoys_) decoys_->add_children(range.id, search_.best.feature, first, count);
  }
  bool passes_permutations(std::uint32_t id, const std::uint32_t* rows) {
    return test_.passes(id, rows);
  }
  const std::vector<double>* excess() const { return decoys_ ? &decoys_->excess() : nullptr; }

  bool find(Range& range, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    const Settings& settings = search.settings;
    const Node& node = search.node;
    ColumnPool& pool = search.pool;
    const std::size_t universe = search.universe;
    if (decoys_) decoys_->start_node(range.id, node, rows);
    std::size_t low = range.n_constant;
    std::size_t most = universe;
    if (settings.count_constants && settings.max_depth > 0) {
      most = std::min<std::size_t>(most, settings.max_depth);
    }
    bool split = false;
    while (!split && range.degree < most) {
      search.best = Split{};
      std::size_t constants_left = low - range.degree;  // constant columns that can be drawn
      std::size_t high = universe;
      std::uint32_t n_constant = 0;
      std::uint32_t n_best = 0;
      if (tests_) test_.start_node();
      if (decoys_) decoys_->start_draws();
      for (std::uint32_t drawn = 0; drawn < settings.max_features; ++drawn) {
        if (constants_left + (high - low) == 0) break;
        const std::size_t pick =
            random.below(static_cast<std::uint32_t>(constants_left + (high - low)));
        if (pick < constants_left) {
          --constants_left;
          ++n_constant;
          if (decoys_) note_constant(low);
          continue;
        }
        const std::size_t at = low + (pick - constants_left);
        const std::uint32_t column = pool[at];
        const double before = search.best.score;
        if (!search.splits.group(node, column, rows)) {
          pool.swap(at, low++);
          ++n_constant;
          if (decoys_) decoys_->note(column, false, kNone);
          continue;
        }
        search.grouped.multiway(node, column, search.best, search.n_scored);
        pool.swap(at, --high);
        if (tests_) test_.add(column);
        const double score = search.grouped.last_score();
        if (decoys_) decoys_->note(column, true, score);
        if (n_best == 0 || score > before + node.tolerance(before)) {
          n_best = search.best.found() ? 1 : 0;
        } else if (score >= before - node.tolerance(before)) {
          ++n_best;
        }
        if (search.problem.stopped()) return false;
      }
      if (decoys_) settle(range);
      const bool gains =
          search.best.found() && (settings.max_features == 1 || node.gains(search.best.score));
      if (gains || n_constant == 0 || (n_best > 0 && random.below(n_best + n_constant) < n_best)) {
        if (!search.best.found()) break;
        while (pool[high] != static_cast<std::uint32_t>(search.best.feature)) ++high;
        pool.swap(high, low++);  // constant in every child
        test_.set_top(search.best.score);
        split = true;
      } else {
        ++range.degree;
      }
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return split;
  }

 private:
  // Draws one of the columns at the front of the pool, which are constant at the node.
  [[gnu::noinline]] void note_constant(std::size_t count) {
    const std::uint32_t column =
        search_.pool[decoys_->random().below(static_cast<std::uint32_t>(count))];
    if (!decoys_->is_above(column)) decoys_->note(column, false, kNone);
  }

  [[gnu::noinline]] void settle(const Range& range) {
    decoys_->note_columns_above(static_cast<double>(search_.settings.max_features) /
                                static_cast<double>(search_.universe - range.degree));
    constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    decoys_->settle(kUnlimited, -kNone, search_.total_weight, [](double) { return false; });
  }

  NodeSearch<T, Node>& search_;
  bool tests_;
  PermutationTest<T, Node> test_;
  std::optional<DecoyContest<T, Node>> decoys_;  // where they are asked for
};

}  // namespace duramen
