// The splits of one column at a node, of whichever family, against the best so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "grow/problem.hpp"
#include "grow/split/best_splits.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/grouped.hpp"
#include "grow/split/ordered.hpp"
#include "grow/working.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
class Evaluator {
 public:
  // Without `scoring`, for nodes with one candidate, splits are drawn and not scored.
  Evaluator(const Problem& problem, const Working<T>& working, bool scoring)
      : table_(problem.table),
        settings_(problem.settings),
        ordered_(problem, working, scoring),
        grouped_(problem, scoring) {}

  OrderedSplits<T, Node>& ordered() { return ordered_; }
  GroupedSplits<Node>& grouped() { return grouped_; }

  // Every split of a column goes into a list from now on, where splits are not drawn at random.
  void collect_into(BestSplits& several) {
    if (settings_.cut != Cut::best) return;
    ordered_.collect_into(several);
    grouped_.collect_into(several);
  }

  // The codes that were gathered last.
  const T* codes() const { return ordered_.codes(); }

  void start_node(const Node& node, const std::uint32_t* rows) { ordered_.start_node(node, rows); }

  // No split into two scores higher.
  double largest_score(const Node& node) {
    const bool ordered = settings_.splits == Family::ordered;
    return ordered ? ordered_.largest_score(node) : node.largest_score(settings_);
  }

  Family family_of(std::size_t column) const {
    if (settings_.splits == Family::ordered && table_.kind(column) == Kind::nominal) {
      return Family::any;
    }
    return settings_.splits;
  }

  // Scores the splits of one column against the best so far; false when it is constant here.
  bool evaluate(const Node& node, std::uint32_t column, const std::uint32_t* rows, Random& random,
                Split& best, std::uint64_t& n_scored) {
    const Family family = family_of(column);
    if (family == Family::ordered) {
      if (settings_.cut == Cut::best) {
        if constexpr (std::is_integral_v<T>) {
          return ordered_.best_cut(node, column, rows, random, best, n_scored);
        }
      } else if (!std::is_integral_v<T> || table_.kind(column) == Kind::numeric) {
        return ordered_.random().draw(node, column, rows, random, best, n_scored);
      }
    }
    if constexpr (std::is_integral_v<T>) {
      if (!group(node, column, rows)) return false;
      const bool has_missing = table_.missing[column] != 0;
      const bool all = settings_.cut == Cut::best;
      switch (family) {
        case Family::ordered:
          grouped_.random_rank_cut(node, column, has_missing, random, best, n_scored);
          break;
        case Family::multiway:
          if constexpr (!ScoresRows<Node>) grouped_.multiway(node, column, best, n_scored);
          break;
        case Family::one_vs_rest:
          grouped_.one_vs_rest(node, column, all, random, best, n_scored);
          break;
        case Family::any:
          grouped_.any(node, column, all, random, best, n_scored);
          break;
      }
    }
    return true;
  }

  // Groups the rows of the node by their codes of a column; false where that is constant.
  bool group(const Node& node, std::uint32_t column, const std::uint32_t* rows) {
    if constexpr (std::is_integral_v<T>) {
      const auto [low, high] = ordered_.gather_range(column, rows, node.n_rows());
      if (low == high) return false;
      grouped_.load(ordered_.codes(), node.n_rows(), low, high, node);
    }
    return true;
  }

 private:
  const Table& table_;
  const Settings& settings_;
  OrderedSplits<T, Node> ordered_;
  GroupedSplits<Node> grouped_;
};

}  // namespace duramen
