// Splits of ordered columns: codes up to a cut go to child 0. The best of all cuts is found here,
// random ones by RandomCuts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/best_splits.hpp"
#include "grow/split/byte_cuts.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/few_rows.hpp"
#include "grow/split/ordered_columns.hpp"
#include "grow/split/random_cuts.hpp"
#include "grow/split/sorted_cuts.hpp"
#include "grow/working.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
class OrderedSplits {
 public:
  using Weight = typename Node::Weight;

  OrderedSplits(const Problem& problem, const Working<T>& working, bool scoring)
      : columns_(problem, working, scoring),
        random_(problem, columns_),
        sorted_(problem),
        words_(problem.table.n_rows / 64 + 2) {
    plain_ = problem.settings.cut == Cut::best && problem.settings.min_samples_leaf == 1 &&
             !problem.settings.tests_by_chi_square() && columns_.by_entries;
  }

  // Every cut of a column goes into a list from now on.
  void collect_into(BestSplits& several) { sorted_.collect_into(several); }

  RandomCuts<T, Node>& random() { return random_; }

  void start_tree() {
    columns_.start_tree();
    sorted_.start_tree();
  }

  // Whether columns are read row by row in nodes of a number of rows.
  bool reads_rows(std::uint32_t n) const { return columns_.reads_rows(n); }
  // Whether it pays to guess which columns are next, and whether so much is read of each that they
  // are asked for one by one.
  bool guesses_next() const { return columns_.gathered.guesses_next(); }
  bool reads_long() const { return columns_.gathered.reads_long(); }
  // Prefetches the data of a column that every node reads, and the column at the current node.
  void prefetch_look(std::size_t column) const { columns_.gathered.prefetch_look(column); }
  void prefetch(std::size_t column) const { columns_.gathered.prefetch(column); }

  void start_node(const Node& node, const std::uint32_t* rows) {
    columns_.start_node(node, rows);
    if (columns_.settings.cut == Cut::best) sorted_.start_node(node);
    if constexpr (kPlainPossible) {
      few_.start_node();
      bytes_.start_node();
    }
  }

  // No split of an ordered column scores higher.
  double largest_score(const Node& node) {
    if constexpr (kPlainPossible) {
      if (plain_ && node.n_rows() <= FewRows<Node>::kMost) return few_.largest_score(node);
    }
    return node.largest_score(columns_.settings);
  }

  // Gathers the codes of a column and returns the least and the largest of them.
  std::pair<T, T> gather_range(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    return columns_.gathered.gather(column, rows, n);
  }

  // What was gathered last.
  const T* codes() const { return columns_.gathered.codes(); }

  // The codes of a column at the rows of a node; valid until the next call.
  const T* gather(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    gather_range(column, rows, n);
    return codes();
  }

  // Whether the columns of the node are looked at by the order of their entries.
  bool in_order() const { return columns_.in_order; }
  // The most frequent code of a sparse column.
  std::uint32_t frequent_code(std::size_t column) const {
    return columns_.working.frequent_code(column);
  }
  // There, a bit for every row of the table: whether its code of a column is not on the side of a
  // cut where the most frequent one is. Valid until the next call.
  const std::uint64_t* rows_beyond(std::size_t column, std::uint32_t low) {
    std::fill(words_.begin(), words_.end(), 0U);
    const OrderedEntries<T> entries = columns_.working.orders().of(column);
    const T* end = entries.codes + entries.size;
    const auto n_first = static_cast<std::size_t>(
        std::upper_bound(entries.codes, end, static_cast<T>(low)) - entries.codes);
    const bool rest_first = frequent_code(column) <= low;
    for (std::size_t e = rest_first ? n_first : 0; e < (rest_first ? entries.size : n_first); ++e) {
      words_[entries.rows[e] / 64] |= std::uint64_t{1} << (entries.rows[e] % 64);
    }
    return words_.data();
  }

  bool best_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                Split& best, std::uint64_t& n_scored) {
    if (columns_.gathered.no_entry(column)) return false;
    if constexpr (kPlainPossible) {
      if (plain_ && columns_.table.missing[column] == 0) {
        if (node.n_rows() <= FewRows<Node>::kMost) {
          return columns_.gathered.with_reader(column, rows, node.n_rows(), [&](auto read) {
            return few_.find_best(node, column, read, random, best);
          });
        }
        if constexpr (std::is_same_v<T, std::uint8_t>) {
          const bool may_differ = columns_.table.n_codes(column) >= node.n_rows();
          if (columns_.working.dense() && may_differ &&
              bytes_.find_best(node, column, columns_.working.column(column), rows, random, best)) {
            return true;
          }
        }
      }
    }
    if constexpr (OrderedColumns<T, Node>::kEntriesPossible && std::is_integral_v<T>) {
      if (columns_.may_use_entries(column)) {
        if (columns_.in_order) {
          return sorted_.find_best_in_order(node, column, rows, columns_.working.orders(),
                                            columns_.working.frequent_code(column), random, best,
                                            n_scored);
        }
        if constexpr (Node::kClasses) {
          if (columns_.counts_bits) {
            const Verdict verdict =
                columns_.judge(node, column, columns_.weigh_entries(column), best);
            if (decided(verdict)) return verdict == Verdict::beaten;
          }
        }
        const std::uint32_t n_codes = columns_.table.n_codes(column);
        if (columns_.sums.suits(node, n_codes)) {
          columns_.sums.add(node, column, rows, n_codes, columns_.gathered);
          return sorted_.find_best_by_code(node, column, T{0}, n_codes, false, columns_.sums,
                                           random, best, n_scored);
        }
        const NodeEntries<T>& entries = columns_.gathered.entries(column, rows, node.n_rows());
        const auto [low, high] = entries.range();
        if (low == high) return false;
        sorted_.find_best(node, column, entries, low, high, random, best, n_scored);
        return true;
      }
    }
    if constexpr (OrderedColumns<T, Node>::kEntriesPossible && std::is_integral_v<T>) {
      const std::uint32_t n_values = columns_.table.n_values(column);
      const bool may_miss = columns_.table.missing[column] != 0;
      if (columns_.may_add_up(node, column)) {
        columns_.gathered.with_reader(column, rows, node.n_rows(), [&](auto read) {
          columns_.sums.add_dense(node, columns_.table.n_codes(column), read);
        });
        return sorted_.find_best_by_code(node, column, T{0}, n_values, may_miss, columns_.sums,
                                         random, best, n_scored);
      }
      if constexpr (Node::kClasses) {
        if (columns_.may_add_up_classes(node, column)) {
          return columns_.gathered.with_reader(column, rows, node.n_rows(), [&](auto read) {
            return sorted_.find_best_by_class(node, column, n_values, may_miss, read, random, best,
                                              n_scored);
          });
        }
      }
    }
    const auto [low, high] = gather_range(column, rows, node.n_rows());
    if (low == high) return false;
    const bool some_missing =
        columns_.table.missing[column] != 0 && high == columns_.missing_code(column);
    if constexpr (OrderedColumns<T, Node>::kEntriesPossible && std::is_integral_v<T>) {
      const std::uint32_t n_codes = static_cast<std::uint32_t>(high - low) + 1;
      if (!some_missing && columns_.by_entries && columns_.sums.suits_span(node, n_codes)) {
        columns_.sums.add_dense(node, n_codes, [from = codes(), low = low](std::uint32_t i) {
          return static_cast<std::uint32_t>(from[i] - low);
        });
        return sorted_.find_best_by_code(node, column, low, n_codes, false, columns_.sums, random,
                                         best, n_scored);
      }
    }
    sorted_.find_best(node, column, codes(), low, high, some_missing, random, best, n_scored);
    return true;
  }

 private:
  static constexpr bool kPlainPossible =
      std::is_integral_v<T> && !Node::kClasses && Node::kWhole && !ScoresRows<Node>;

  OrderedColumns<T, Node> columns_;
  RandomCuts<T, Node> random_;
  SortedCuts<T, Node> sorted_;
  FewRows<Node> few_;
  ByteCuts<Node> bytes_;
  bool plain_ = false;  // every cut of best cuts is allowed, and no more is asked than the best
  std::vector<std::uint64_t> words_;  // of rows_beyond
};

}  // namespace duramen
