// The ordered columns at a node: their codes at its rows, in the way of reading that suits the
// node, and bounds from their entries before any code is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/class_bits.hpp"
#include "grow/split/code_sums.hpp"
#include "grow/split/cut_scores.hpp"
#include "grow/split/dense.hpp"
#include "grow/split/drawn_cuts.hpp"
#include "grow/split/gathered.hpp"
#include "grow/working.hpp"

namespace duramen {

template <class T, class Node>
class OrderedColumns {
 public:
  using Weight = typename Node::Weight;

  OrderedColumns(const Problem& problem, const Working<T>& working_, bool scoring_)
      : scoring(scoring_),
        table(problem.table),
        settings(problem.settings),
        working(working_),
        gathered(problem, working_),
        sums(problem) {
    // Decoys read the gathered codes.
    by_entries = settings.n_best_splits == 1 && problem.decoys.cycle == nullptr;
    orders_suffice_ = kEntriesPossible && by_entries && !working.orders().empty();
    const bool draws_numbers = settings.cut == Cut::random && scoring && !std::is_integral_v<T>;
    uses_sums = by_entries && (settings.cut == Cut::best || draws_numbers);
  }
  OrderedColumns(const OrderedColumns&) = delete;
  OrderedColumns& operator=(const OrderedColumns&) = delete;

  // Sums of whole weights, and of moments with them, are exact: what the rows of the most frequent
  // code add up to is the rest of the node.
  static constexpr bool kEntriesPossible = CodeSums<T, Node>::kExact;

  void start_tree() {
    gathered.start_tree();
    sums.start_tree();
  }

  void start_node(const Node& node, const std::uint32_t* rows) {
    at_dense = false;
    if constexpr (kDensePossible<T, Node>) {
      at_dense = working.dense() && settings.cut == Cut::random &&
                 settings.splits == Family::ordered && settings.min_samples_leaf == 1 &&
                 dense.start_node(node, rows, working.stride(), scoring);
    }
    in_order = !reads_rows(node.n_rows());
    gathered.start_node(rows, node.n_rows(), !in_order);
    if constexpr (kEntriesPossible) {
      sums.start_node(uses_sums && gathered.reads_long());
      counts_bits = false;
      if constexpr (Node::kClasses) {
        if (gathered.marked() && may_judge(node) &&
            (!gathered.reads_long() || node.unit_weights())) {
          counts_bits = class_bits.start_node(
              node, gathered.n_words(), [&](std::uint32_t i) { return gathered.place(rows, i); });
        }
      }
    }
  }

  // Whether columns are read row by row in nodes of n rows. This does not pay if the entries of all
  // columns are in memory sorted by their codes, unless reading them takes longer than reading the
  // n rows and sorting their entries.
  bool reads_rows(std::uint32_t n) const {
    constexpr std::size_t kEntriesARow = 16;
    return !orders_suffice_ || working.orders().most() > kEntriesARow * n;
  }

  // Whether the splits of a column are scored by its entries. Where any code is missing, or more
  // than the best split is asked for, all rows are looked at.
  bool may_use_entries(std::size_t column) const {
    return kEntriesPossible && by_entries && gathered.sparse(column) && table.missing[column] == 0;
  }

  // Whether the rows of a dense column are added up by code, and not sorted. Saves 60 % of random
  // forests on columns of 3 to 16 values whose nodes have 50 rows or more, 10 to 35 % on 64 values.
  bool may_add_up(const Node& node, std::size_t column) const {
    return by_entries && !gathered.sparse(column) && sums.suits(node, table.n_codes(column));
  }
  // The same by code and class: more sums than rows take longer than to sort them. Saves a third of
  // random forests on 19 classes and columns of 3 values.
  bool may_add_up_classes(const Node& node, std::size_t column) const {
    return by_entries && !gathered.sparse(column) &&
           table.n_codes(column) * node.n_groups() <= node.n_rows();
  }

  // What the entries of a sparse column at the node weigh in each of two classes.
  std::pair<Weight, Weight> weigh_entries(std::size_t column, std::size_t side = 0) {
    if constexpr (Node::kClasses) return class_bits.weigh(gathered.bits(column, side));
    return {};
  }

  // Whether a sparse column is constant, or no cut of it can be better than the best split so far,
  // by what its entries weigh in each of two classes. A cut parts some of them from all other rows.
  // Its score is convex in what these weigh in each class, since the criteria are concave, and so
  // largest where that is all or nothing. (A bound by sums of squares leaves out as many columns in
  // regression, and saves no time there.) Where the number of a random cut is given and tells that
  // all entries lie beyond it, the score itself is known.
  Verdict judge(const Node& node, std::size_t column, const std::pair<Weight, Weight>& weights,
                const Split& best, const double* number = nullptr) const {
    if constexpr (Node::kClasses && kEntriesPossible) {
      if (!counts_bits) return Verdict::unknown;
      if constexpr (!std::is_integral_v<T>) {
        if (working.collides(column)) return Verdict::unknown;
      }
      const auto& [of_first, of_second] = weights;
      const Weight of_both = of_first + of_second;
      if (of_both == Weight{0}) return Verdict::constant;
      if (of_both == node.whole()) return Verdict::unknown;
      if (!best.found()) return Verdict::varies;
      const bool beaten =
          node.with_terms([&, of_first = of_first, of_second = of_second](auto terms) {
            const auto wins = [&](Weight a, Weight b) {
              const auto count_of = [&](std::size_t k) { return k == 0 ? a : b; };
              return score_by_terms(node, terms, count_of) > best.score;
            };
            if (wins(of_first, of_second)) return false;
            if (number != nullptr && parts_all_entries(column, *number)) return true;
            return !wins(of_first, Weight{0}) && !wins(Weight{0}, of_second);
          });
      return beaten ? Verdict::beaten : Verdict::varies;
    }
    return Verdict::unknown;
  }

  T missing_code(std::size_t column) const { return static_cast<T>(table.n_values(column)); }

  const bool scoring;  // whether splits have scores: not where a node has one candidate
  const Table& table;
  const Settings& settings;
  const Working<T>& working;
  Gathered<T> gathered;
  DenseRows dense;
  CodeSums<T, Node> sums;
  ClassBits<Node> class_bits;
  bool by_entries = false;  // sparse columns may be looked at by their entries alone
  bool uses_sums = false;   // and scored from the sums of their codes
  // Of the current node:
  bool at_dense = false;     // its columns are scanned whole, by `dense`
  bool in_order = false;     // they are looked at by the order of their entries
  bool counts_bits = false;  // class_bits has its rows

 private:
  // Whether the columns of a node may be judged before their codes are read.
  bool may_judge(const Node& node) const {
    return node.n_groups() == 2 && scoring && by_entries && !settings.tests_by_chi_square();
  }

  // Whether a random cut leaves all entries of a column at a node with others beyond it, whichever
  // their codes are.
  bool parts_all_entries(std::size_t column, double number) const {
    if constexpr (!std::is_integral_v<T>) {
      return DrawnCuts<T, Node>::rounded_mixture(working.value(column, 0),
                                                 working.last_value(column),
                                                 number) < working.value(column, 1);
    }
    return false;
  }

  bool orders_suffice_ = false;  // the order of entries is enough, in nodes of many rows
};

}  // namespace duramen
