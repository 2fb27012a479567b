// Grows one tree after another: depth first with an explicit stack (or best first, when the number
// of leaves is limited), a node being a range of one index array that is partitioned in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "forest/forest.hpp"
#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/recorder.hpp"
#include "grow/search.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/evaluator.hpp"
#include "grow/split_recorder.hpp"
#include "grow/tree_grower.hpp"
#include "grow/tree_rows.hpp"
#include "grow/working.hpp"

namespace duramen {

// T: the codes, or float for values in single precision.
template <class T, TargetNode Node>
class Grower final : public TreeGrower {
 public:
  using Weight = typename Node::Weight;

  Grower(const Problem& problem, const Working<T>& working)
      : problem_(problem),
        table_(problem.table),
        settings_(problem.settings),
        node_(problem),
        rows_(problem),
        search_(problem, working, node_),
        splits_(search_.splits()),
        ordered_(splits_.ordered()),
        grouped_(splits_.grouped()),
        recorder_(problem, working.samples()),
        split_recorder_(problem, rows_, recorder_) {}

  bool grow(std::uint64_t tree, Trees& out) override {
    recorder_.start_tree(out);
    rows_.start_tree(tree);
    spare_.resize(rows_.size());
    search_.start_tree(tree, rows_.total_weight());
    const bool whole = settings_.max_leaf_nodes > 0 ? best_first() : depth_first();
    recorder_.finish_tree();
    if (const std::vector<double>* excess = search_.excess()) {
      out.excess.insert(out.excess.end(), excess->begin(), excess->end());
    }
    return whole;
  }

 private:
  // A node whose best split is known but not yet carried out (best first).
  struct Planned {
    Range range;
    Split split;
    std::vector<std::uint32_t> first_codes;
    std::vector<std::uint32_t> bounds;
    std::vector<double> leaf_values;  // should it stay a leaf
    double decrease = 0.0;
  };

  bool depth_first() {
    std::vector<Range>& stack = stack_;
    stack.clear();
    recorder_.add_nodes(1);
    stack.push_back({0, rows_.size(), 0, 0, 0, 0});
    while (!stack.empty()) {
      if (problem_.stopped()) return false;
      Range range = stack.back();
      stack.pop_back();
      describe(range);
      if (!may_split(range) || !find_split(range) || !partition(range, bounds_)) {
        finish_leaf(range);
        continue;
      }
      const std::uint32_t first =
          split_recorder_.add(range.id, range.degree, search_.best(), grouped_.chosen(), bounds_);
      note_score(range.id, search_.best());
      search_.add_children(range, first, bounds_.size() - 1);
      for (std::size_t c = bounds_.size() - 1; c-- > 0;) {
        stack.push_back({bounds_[c], bounds_[c + 1], range.depth + 1,
                         first + static_cast<std::uint32_t>(c), range.n_constant,
                         range.degree + 1});
      }
    }
    return true;
  }

  // The split with the largest weighted decrease first, up to the allowed number of leaves.
  bool best_first() {
    std::vector<Planned> frontier;
    const auto consider = [&](Range range) {
      describe(range);
      if (!may_split(range) || !find_split(range)) {
        finish_leaf(range);
        return;
      }
      const Split split = search_.best();
      std::vector<std::uint32_t> bounds;
      if (!partition(range, bounds)) {
        finish_leaf(range);
        return;
      }
      const double decrease = decrease_by(split);
      std::vector<double> leaf_values;
      node_.append_leaf_values(leaf_values);
      frontier.push_back({range, split, grouped_.chosen(), bounds, leaf_values, decrease});
    };
    recorder_.add_nodes(1);
    consider({0, rows_.size(), 0, 0, 0, 0});
    std::size_t n_leaves = 1;
    while (!frontier.empty()) {
      if (problem_.stopped()) return false;
      const auto chosen =
          std::max_element(frontier.begin(), frontier.end(), [](const auto& a, const auto& b) {
            return a.decrease < b.decrease || (a.decrease == b.decrease && a.range.id > b.range.id);
          });
      Planned planned = std::move(*chosen);
      frontier.erase(chosen);
      const std::size_t more = planned.bounds.size() - 2;
      if (n_leaves + more > settings_.max_leaf_nodes) {
        std::vector<double>& values = recorder_.add_leaf(planned.range.id);
        values.insert(values.end(), planned.leaf_values.begin(), planned.leaf_values.end());
        continue;
      }
      n_leaves += more;
      const std::uint32_t first =
          split_recorder_.add(planned.range.id, planned.range.degree, planned.split,
                              planned.first_codes, planned.bounds);
      note_score(planned.range.id, planned.split);
      for (std::size_t c = 0; c + 1 < planned.bounds.size(); ++c) {
        consider({planned.bounds[c], planned.bounds[c + 1], planned.range.depth + 1,
                  first + static_cast<std::uint32_t>(c), 0, planned.range.degree + 1});
      }
    }
    return true;
  }

  // The statistics of a node, and its record.
  void describe(const Range& range) {
    const std::uint32_t n = range.end - range.start;
    node_.load(rows_.from(range.start), n, rows_.weights(),
               !at_end(range) && ordered_.reads_rows(n));
    NodeRecord& record = recorder_[range.id];
    record.rows = range.end - range.start;
    record.weight = node_.weight();
    record.impurity = node_.impurity();
  }

  bool may_split(const Range& range) const {
    const std::uint32_t n = range.end - range.start;
    if (node_.pure() || n < settings_.min_samples_split) return false;
    if (n < 2 * settings_.min_samples_leaf) return false;
    if (settings_.min_impurity_split > 0.0 &&
        recorder_[range.id].impurity <= settings_.min_impurity_split) {
      return false;
    }
    return !at_end(range);
  }
  // Whether a node is as deep as allowed.
  bool at_end(const Range& range) const {
    return settings_.max_depth > 0 && range.depth >= settings_.max_depth;
  }

  bool find_split(Range& range) {
    const std::uint32_t* rows = rows_.from(range.start);
    if (!search_.find(range, rows)) return false;
    if (ScoresRows<Node> && !node_.gains(search_.best().score)) return false;
    return !settings_.tests_by_permutation() || search_.passes_permutations(range.id, rows);
  }

  // What a split takes off the impurity, times the weight; or its score.
  double decrease_by(const Split& split) const {
    if constexpr (ScoresRows<Node>) {
      return split.score;
    } else {
      return node_.weighted_impurity() - children_.weighted_impurity;
    }
  }

  // Where a split has a score and a node has no impurity.
  void note_score(std::uint32_t id, const Split& split) {
    if constexpr (ScoresRows<Node>) recorder_[id].impurity = split.score;
  }

  // Reorders the rows of a node child by child, each child's rows in their former order, and
  // fills bounds; false when the split is forbidden by a rule on its decrease.
  bool partition(const Range& range, std::vector<std::uint32_t>& bounds) {
    const std::uint32_t n = range.end - range.start;
    std::uint32_t* rows = rows_.from(range.start);
    const Split& best = search_.best();
    const std::uint32_t column = static_cast<std::uint32_t>(best.feature);
    bounds.clear();
    bounds.push_back(range.start);
    // With one candidate the groups of its codes are still in memory.
    const bool grouped = best.family == Family::multiway && settings_.max_features == 1;
    const bool gathers = best.family != Family::multiway && !ordered_.in_order();
    const T* codes = gathers ? ordered_.gather(column, rows, n) : nullptr;
    if (best.family == Family::multiway) {
      if constexpr (std::is_integral_v<T>) {
        if (!grouped) splits_.group(node_, column, rows);
        grouped_.partition(rows, n, range.start, spare_, bounds);
      }
    } else {
      std::uint32_t n_first = 0;
      std::uint32_t n_second = 0;
      const auto split_by = [&](auto&& goes_first) {
        for (std::uint32_t i = 0; i < n; ++i) {
          const std::uint32_t row = rows[i];
          const bool first = goes_first(i, row);
          rows[n_first] = row;
          spare_[n_second] = row;
          n_first += first ? 1 : 0;
          n_second += first ? 0 : 1;
        }
      };
      const auto split_by_code = [&](auto&& goes_first) {
        split_by([&](std::uint32_t i, std::uint32_t) { return goes_first(codes[i]); });
      };
      if constexpr (!std::is_integral_v<T>) {
        const T cut = static_cast<T>(best.threshold);
        if (best.by_code) {
          first_by_code(best, rows, n);
          split_by([this](std::uint32_t i, std::uint32_t) { return marks_[i] != 0; });
        } else {
          split_by_code([cut](T value) { return value <= cut; });
        }
      } else {
        const std::uint32_t low = best.low;
        if (ordered_.in_order()) {
          const bool rest_first = ordered_.frequent_code(column) <= low;
          const std::uint64_t* beyond = ordered_.rows_beyond(column, low);
          split_by([beyond, rest_first](std::uint32_t, std::uint32_t row) {
            return (beyond[row / 64] >> (row % 64) & 1) == (rest_first ? 0U : 1U);
          });
        } else if (best.family == Family::one_vs_rest) {
          split_by_code([low](T code) { return code == low; });
        } else if (best.family == Family::any) {
          grouped_.mark(grouped_.chosen(), table_.n_codes(column));
          split_by_code([this](T code) { return grouped_.marked(code); });
        } else if (best.missing_first) {
          const std::uint32_t missing = table_.n_values(column);
          split_by_code([low, missing](T code) { return code <= low || code == missing; });
        } else {
          split_by_code([low](T code) { return code <= low; });
        }
      }
      std::copy_n(spare_.data(), n_second, rows + n_first);
      bounds.push_back(range.start + n_first);
      bounds.push_back(range.end);
    }
    if constexpr (ScoresRows<Node>) {
      return true;
    } else {
      return decreases_enough(bounds);
    }
  }

  bool decreases_enough(const std::vector<std::uint32_t>& bounds) {
    if (settings_.min_impurity_decrease <= 0.0 && !settings_.tests_by_chi_square() &&
        settings_.max_leaf_nodes == 0) {
      return true;
    }
    children_ = node_.children(rows_.from(0), bounds, rows_.weights());
    const double decrease = node_.weighted_impurity() - children_.weighted_impurity;
    if (decrease / rows_.total_weight() < settings_.min_impurity_decrease) return false;
    return !settings_.tests_by_chi_square() || passes_node_test(bounds.back() - bounds.front());
  }

  void first_by_code(const Split& best, const std::uint32_t* rows, std::uint32_t n) {
    marks_.resize(n);
    const std::size_t column = static_cast<std::size_t>(best.feature);
    for (std::uint32_t i = 0; i < n; ++i) {
      marks_[i] = table_.code(column, rows[i]) <= best.low ? 1 : 0;
    }
  }

  // Chi-square distribution of the gain under independence, corrected for the splits that were
  // compared.
  bool passes_node_test(std::uint32_t n) const {
    const double tail =
        chi_square_tail(node_.gain_statistic(children_, n), node_.gain_freedom(children_.count));
    const double tests = static_cast<double>(std::max<std::uint64_t>(search_.n_scored(), 1));
    return std::min(1.0, tail * tests) <= settings_.stop_alpha;
  }

  void finish_leaf(const Range& range) { node_.append_leaf_values(recorder_.add_leaf(range.id)); }

  const Problem& problem_;
  const Table& table_;
  const Settings& settings_;
  Node node_;  // the current node
  TreeRows<Weight> rows_;
  Search<T, Node> search_;
  Evaluator<T, Node>& splits_;
  OrderedSplits<T, Node>& ordered_;
  GroupedSplits<Node>& grouped_;
  Recorder recorder_;
  SplitRecorder<Weight> split_recorder_;
  std::vector<std::uint32_t> spare_, bounds_;
  std::vector<std::uint8_t> marks_;
  std::vector<Range> stack_;
  Children children_;
};

}  // namespace duramen
