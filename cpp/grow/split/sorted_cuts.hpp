// The best of all cuts of an ordered column: the rows of a node in the order of their codes, and
// the score of the cut behind each of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/best_splits.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/code_sums.hpp"
#include "grow/split/gathered.hpp"
#include "grow/split/node_rows.hpp"
#include "grow/split/ordered_entries.hpp"
#include "grow/split/sorting.hpp"
#include "impurity.hpp"
#include "lanes.hpp"
#include "random.hpp"

namespace duramen {

// Weight of some rows, and of the rows among them in the first class.
template <class Weight>
struct Pair {
  Weight weight, zero;
  Pair& operator+=(const Pair& other) {
    weight += other.weight;
    zero += other.zero;
    return *this;
  }
};

template <class T, class Node>
class SortedCuts {
 public:
  using Weight = typename Node::Weight;

  explicit SortedCuts(const Problem& problem)
      : settings_(problem.settings),
        order_(problem.table.n_rows + kPadding),
        sorted_(problem.table.n_rows + kPadding),
        firsts_(Node::kClasses ? 0 : problem.table.n_rows + kPadding),
        pairs_(Node::kClasses ? problem.table.n_rows + kPadding : 0),
        pair_sums_(Node::kClasses ? problem.table.n_rows + kPadding : 0),
        scores_(problem.table.n_rows + kPadding),
        sums_(Node::kClasses ? 0 : problem.table.n_rows + kPadding),
        weighted_targets_(problem) {}

  void start_tree() { weighted_targets_.start_tree(); }

  void collect_into(BestSplits& several) { several_ = &several; }

  void start_node(const Node& node) {
    margin_.start_node();
    weighted_targets_.start_node();
    if constexpr (Node::kClasses) {
      if (node.n_groups() != 2) return;
      const std::uint32_t border = node.starts()[1];
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
        const Weight weight = node.weights()[i];
        pairs_[i] = {weight, i < border ? weight : Weight{0}};
      }
    }
  }

  // Takes the best cut of codes from low to high, if it is better than the best so far.
  // `some_missing`: the largest code stands for missing, whose rows go to either side.
  void find_best(const Node& node, std::size_t column, const T* codes, T low, T high,
                 bool some_missing, Random& random, Split& best, std::uint64_t& n_scored) {
    const std::uint32_t n = node.n_rows();
    sorter_.sort(codes, n, low, high, order_.data());
    std::uint32_t n_seen = n;  // rows that are not missing
    while (some_missing && codes[order_[n_seen - 1]] == high) --n_seen;
    ties_ = 0;
    scan(node, column, codes, n, n_seen, false, random, best, n_scored);
    if (some_missing) scan(node, column, codes, n, n_seen, true, random, best, n_scored);
  }

  // The same of a sparse column without missing values, whose most frequent code stands for all of
  // its rows at once. The cuts and their scores are those of all rows.
  void find_best(const Node& node, std::size_t column, const NodeEntries<T>& entries, T low, T high,
                 Random& random, Split& best, std::uint64_t& n_scored) {
    const std::uint32_t m = entries.size;
    const std::uint32_t n = node.n_rows();
    if (m > 0) sorter_.sort(entries.codes.data(), m, low, high, order_.data());
    std::uint32_t rest = 0;  // place of the rows that are no entries
    while (rest < m && entries.codes[order_[rest]] < entries.frequent) ++rest;
    const std::uint32_t n_items = entries.all_rows() ? m : m + 1;
    if (entries.all_rows()) rest = m;
    for (std::uint32_t i = 0; i < rest; ++i) sorted_[i] = entries.codes[order_[i]];
    if (!entries.all_rows()) sorted_[rest] = entries.frequent;
    for (std::uint32_t i = rest; i < m; ++i) sorted_[i + 1] = entries.codes[order_[i]];
    for (std::uint32_t i = 0; i < m; ++i) order_[i] = entries.at[order_[i]];
    const auto [begin, end] = allowed_cuts(n, n_items, rest);
    if (begin >= end) return;
    score_items(node, m, rest, n_items - 1);
    ties_ = 0;
    choose(node, column, begin, end, false, random, best, n_scored);
  }

  // The same where rows were added up by code, from `low` on: cuts between equal codes are not
  // scored at all. The code behind the values stands for missing, if `may_miss`. False where the
  // column is constant.
  bool find_best_by_code(const Node& node, std::size_t column, T low, std::uint32_t n_values,
                         bool may_miss, CodeSums<T, Node>& sums, Random& random, Split& best,
                         std::uint64_t& n_scored) {
    using Sum = typename CodeSums<T, Node>::Sum;
    const Sum missing = may_miss ? sums.take(n_values) : Sum{};
    CodeItems items(node.n_rows(), missing.n_rows(), settings_.min_samples_leaf);
    Sum first;
    for (std::uint32_t code = 0; code < n_values; ++code) {
      const Sum of_code = sums.take(code);
      if (of_code.empty()) continue;
      first += of_code;
      sorted_[items.size] = static_cast<T>(low + code);
      note_first(items.size, first.weight(), first.sum());
      items.add(of_code.n_rows());
    }
    const auto score = [&](bool missing_first, std::uint32_t n_cuts) {
      if (missing_first) add_to_firsts(0, items.size, missing.weight(), missing.sum());
      score_firsts(node, n_cuts);
    };
    return take_best_of(node, column, items, low + n_values, score, random, best, n_scored);
  }

  // The same of any number of classes, whose weights are added up by code here: read(i) is the code
  // of row i.
  template <class Read>
  bool find_best_by_class(const Node& node, std::size_t column, std::uint32_t n_values,
                          bool may_miss, Read&& read, Random& random, Split& best,
                          std::uint64_t& n_scored) {
    const std::size_t n_classes = node.n_groups();
    const std::uint32_t n_codes = n_values + (may_miss ? 1 : 0);
    by_class_.assign(n_codes * n_classes, Weight{0});
    rows_by_code_.assign(n_codes, 0U);
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
      const std::uint32_t code = read(i);
      ++rows_by_code_[code];
      by_class_[code * n_classes + node.groups()[i]] += node.weights()[i];
    }
    const std::uint32_t n_missing = may_miss ? rows_by_code_[n_values] : 0;
    CodeItems items(node.n_rows(), n_missing, settings_.min_samples_leaf);
    for (std::uint32_t code = 0; code < n_values; ++code) {
      if (rows_by_code_[code] == 0) continue;
      sorted_[items.size] = static_cast<T>(code);
      items.add(rows_by_code_[code]);
    }
    const auto score = [&](bool missing_first, std::uint32_t n_cuts) {
      node.with_terms([&](auto terms) {
        ClassMoves<decltype(terms)> moves(node, terms, counts_);
        const auto move = [&](std::uint32_t code) {
          const Weight* of_code = by_class_.data() + code * n_classes;
          for (std::uint32_t k = 0; k < n_classes; ++k) {
            if (of_code[k] != Weight{0}) moves.move(k, of_code[k]);
          }
        };
        if (missing_first) move(n_values);
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          move(sorted_[i]);
          scores_[i] = moves.score();
        }
      });
    };
    return take_best_of(node, column, items, n_values, score, random, best, n_scored);
  }

  // The cuts if the entries of the whole column are in memory, sorted by their codes.
  bool find_best_in_order(const Node& node, std::size_t column, const std::uint32_t* rows,
                          const EntryOrders<T>& orders, T frequent, Random& random, Split& best,
                          std::uint64_t& n_scored) {
    const std::uint32_t n = node.n_rows();
    const OrderedEntries<T> entries = orders.of(column);
    items_.resize(order_.size());
    const std::uint32_t* of_rows = weighted_targets_.of(rows, n, [&](std::uint32_t i) {
      return orders.weighted_target(rows[i], static_cast<std::int32_t>(node.weight_of_row(i)));
    });
    std::uint32_t n_items = 0;
    // Without a branch for an entry: which rows are in the node is as good as random.
    const auto find_entries = [&](std::size_t from, std::size_t to) {
      for (std::size_t e = from; e < to; ++e) {
        const std::uint32_t of_row = of_rows[entries.rows[e]];
        items_[n_items] = of_row;
        sorted_[n_items] = entries.codes[e];
        n_items += of_row != 0 ? 1 : 0;
      }
    };
    find_entries(0, entries.n_below);
    std::uint32_t rest = n_items++;  // place of the rows that are no entries
    find_entries(entries.n_below, entries.size);
    items_[rest] = 0;
    sorted_[rest] = frequent;
    std::int64_t weight = 0;
    std::int64_t sum = 0;
    for (std::uint32_t i = 0; i < n_items; ++i) {
      const std::int64_t of_entry = EntryOrders<T>::weight_of(items_[i]);
      weight += of_entry;
      sum += of_entry * orders.target_of(items_[i]);
      note_first(i, weight, sum);
    }
    if (n_items > n) {  // all are entries
      for (std::uint32_t i = rest; i < n; ++i) move_first(i, i + 1);
      n_items = rest = n;
    } else {
      add_to_firsts(rest, n_items, node.whole() - weight, total_of(node) - sum);
    }
    const auto [begin, end] = allowed_cuts(n, n_items, rest);
    return take_best_of(node, column, n_items, begin, end, random, best, n_scored);
  }

 private:
  // The first of the cuts between items that leave enough of n rows on both sides, and the one
  // behind the last. Cut i leaves i + 1 rows in child 0, and from item `rest` on those of the most
  // frequent code, for which this item stands.
  std::pair<std::uint32_t, std::uint32_t> allowed_cuts(std::uint32_t n, std::uint32_t n_items,
                                                       std::uint32_t rest) const {
    const std::uint32_t more = n - n_items;
    const std::uint32_t leaf = settings_.min_samples_leaf;
    const auto rows_first = [&](std::uint32_t i) { return i + 1 + (i >= rest ? more : 0); };
    std::uint32_t begin = 0;
    std::uint32_t end = n_items - 1;
    while (begin < end && rows_first(begin) < leaf) ++begin;
    while (begin < end && n - rows_first(end - 1) < leaf) --end;
    return {begin, end};
  }

  // The first items of a column add up to so much weight, and to this sum of moments or weight of
  // the first class.
  void note_first(std::uint32_t item, std::int64_t weight, std::int64_t sum) {
    if constexpr (Node::kClasses) {
      pair_sums_[item] = {static_cast<Weight>(weight), static_cast<Weight>(sum)};
    } else {
      firsts_[item] = static_cast<Weight>(weight);
      sums_[item] = static_cast<double>(sum);
    }
  }
  void move_first(std::uint32_t to, std::uint32_t from) {
    sorted_[to] = sorted_[from];
    if constexpr (Node::kClasses) {
      pair_sums_[to] = pair_sums_[from];
    } else {
      firsts_[to] = firsts_[from];
      sums_[to] = sums_[from];
    }
  }
  void add_to_firsts(std::uint32_t begin, std::uint32_t end, std::int64_t weight,
                     std::int64_t sum) {
    for (std::uint32_t i = begin; i < end; ++i) {
      if constexpr (Node::kClasses) {
        pair_sums_[i] += {static_cast<Weight>(weight), static_cast<Weight>(sum)};
      } else {
        firsts_[i] += static_cast<Weight>(weight);
        sums_[i] += static_cast<double>(sum);
      }
    }
  }
  static std::int64_t total_of(const Node& node) {
    if constexpr (Node::kClasses) {
      return node.totals()[0];
    } else {
      return static_cast<std::int64_t>(node.sum());
    }
  }

  // Takes the best of the cuts begin..end - 1 behind items whose sums are noted. False where the
  // column is constant.
  bool take_best_of(const Node& node, std::size_t column, std::uint32_t n_items,
                    std::uint32_t begin, std::uint32_t end, Random& random, Split& best,
                    std::uint64_t& n_scored) {
    if (sorted_[0] == sorted_[n_items - 1]) return false;
    if (begin >= end) return true;
    score_firsts(node, n_items - 1);
    ties_ = 0;
    choose(node, column, begin, end, false, random, best, n_scored);
    return true;
  }

  // The codes of a node that are not missing, in order, as items: and of the cuts behind them the
  // first that leaves enough rows on both sides, and the one behind the last such cut, with the
  // missing rows in child 1 and in child 0.
  struct CodeItems {
    CodeItems(std::uint32_t n_rows, std::uint32_t n_missing_, std::uint32_t leaf)
        : n(n_rows), n_missing(n_missing_), least(leaf) {}
    void add(std::uint32_t n_rows) {
      n_first += n_rows;
      ++size;
      for (const bool missing_first : {false, true}) {
        const std::uint32_t n_child = n_first + (missing_first ? n_missing : 0);
        begin[missing_first] += n_child < least ? 1 : 0;
        end[missing_first] += n - n_child >= least ? 1 : 0;
      }
    }

    std::uint32_t n, n_missing, least;
    std::uint32_t size = 0, n_first = 0;
    std::uint32_t begin[2] = {0, 0}, end[2] = {0, 0};
  };

  // The same of codes; score(missing_first, n_cuts) scores the first cuts.
  template <class Score>
  bool take_best_of(const Node& node, std::size_t column, const CodeItems& items,
                    std::uint32_t n_values, Score&& score, Random& random, Split& best,
                    std::uint64_t& n_scored) {
    if (items.size == 0 || (items.size == 1 && items.n_missing == 0)) return false;
    sorted_[items.size] = static_cast<T>(n_values);  // behind the last cut
    ties_ = 0;
    for (const bool missing_first : {false, true}) {
      if (missing_first && items.n_missing == 0) break;
      const std::uint32_t begin = items.begin[missing_first];
      const std::uint32_t end = items.end[missing_first];
      if (begin >= end) continue;
      score(missing_first, end);
      choose(node, column, begin, end, missing_first, random, best, n_scored);
    }
    return true;
  }

  void score_firsts(const Node& node, std::uint32_t n_cuts) {
    if constexpr (Node::kClasses) {
      node.with_terms([&](auto terms) { score_two_classes(node, terms, n_cuts); });
    } else {
      score_moments(node, n_cuts);
    }
  }

  // Scores every cut along order_. Rows n_seen.. are missing: behind the last cut, or, with
  // missing_first, counted to child 0 from the start.
  void scan(const Node& node, std::size_t column, const T* codes, std::uint32_t n,
            std::uint32_t n_seen, bool missing_first, Random& random, Split& best,
            std::uint64_t& n_scored) {
    const std::uint32_t n_cuts = missing_first ? n_seen - 1 : std::min(n_seen, n - 1);
    const std::uint32_t offset = missing_first ? n - n_seen : 0;
    // Cut i leaves i + 1 + offset rows in child 0.
    const std::uint32_t leaf = settings_.min_samples_leaf;
    if (n < 2 * leaf || n - leaf < offset) return;
    const std::uint32_t begin = leaf > 1 + offset ? leaf - 1 - offset : 0;
    const std::uint32_t end = std::min(n_cuts, n - leaf - offset);
    if (begin >= end) return;
    for (std::uint32_t i = 0; i <= n_cuts; ++i) sorted_[i] = codes[order_[i]];
    score_cuts(node, n, n_seen, missing_first, n_cuts);
    choose(node, column, begin, end, missing_first, random, best, n_scored);
  }

  // Takes the best of the cuts begin..end - 1, whose scores are known, if it is better than the
  // best so far.
  void choose(const Node& node, std::size_t column, std::uint32_t begin, std::uint32_t end,
              bool missing_first, Random& random, Split& best, std::uint64_t& n_scored) {
    if (has_equal_neighbours(sorted_.data() + begin, end - begin)) {
      for (std::uint32_t i = begin; i < end; ++i) {
        if (sorted_[i] == sorted_[i + 1]) scores_[i] = kNone;
      }
    }
    const double top = largest_of(scores_.data() + begin, end - begin);
    if (settings_.tests_by_chi_square()) {
      for (std::uint32_t i = begin; i < end; ++i) n_scored += sorted_[i] != sorted_[i + 1] ? 1 : 0;
    }
    if (several_ != nullptr) {
      collect(node, column, begin, end, missing_first, random);
      return;
    }
    // Between columns, which come in random order, the first of equals stays; cuts that tie with
    // those of the other place of the missing rows (ties_ > 0) are drawn with them.
    double least = kNone;
    if (best.found() && !margin_.beats(node, top, best.score)) {
      least = best.score - margin_.of(node, best.score);
      if (ties_ == 0 || top < least) return;
    } else {
      ties_ = 0;
      least = top - margin_.of(node, top);
    }
    std::uint32_t chosen = end;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (!(scores_[i] >= least) || sorted_[i] == sorted_[i + 1]) continue;
      if (++ties_ == 1 || random.below(ties_) == 0) chosen = i;
    }
    if (chosen == end) return;
    best.take_cut(column, top, sorted_[chosen], sorted_[chosen + 1]);
    best.missing_first = missing_first;
  }

  [[gnu::noinline]] void collect(const Node& node, std::size_t column, std::uint32_t begin,
                                 std::uint32_t end, bool missing_first, Random& random) {
    for (std::uint32_t i = begin; i < end; ++i) {
      if (sorted_[i] == sorted_[i + 1] || !several_->admits(node, scores_[i])) continue;
      Split cut;
      cut.take_cut(column, scores_[i], sorted_[i], sorted_[i + 1]);
      cut.missing_first = missing_first;
      several_->take(node, cut, random);
    }
  }

  // scores_[i] becomes the score of the cut behind the i-th row in order, for i < n_cuts.
  void score_cuts(const Node& node, std::uint32_t n, std::uint32_t n_seen, bool missing_first,
                  std::uint32_t n_cuts) {
    const std::uint32_t* order = order_.data();
    // Missing rows that belong to child 0 come first; then row after row passes over to it.
    const std::uint32_t from = missing_first ? n_seen : n;
    if constexpr (ScoresRows<Node>) {
      const auto ends_run = [this](std::uint32_t i) { return sorted_[i] != sorted_[i + 1]; };
      node.score_cuts(order, from, n_cuts, ends_run, scores_.data());
    } else if constexpr (Node::kClasses) {
      if (node.n_groups() == 2) {
        Pair<Weight> sum{};
        for (std::uint32_t i = from; i < n; ++i) sum += pairs_[order[i]];
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          sum += pairs_[order[i]];
          pair_sums_[i] = sum;
        }
        node.with_terms([&](auto terms) { score_two_classes(node, terms, n_cuts); });
        return;
      }
      node.with_terms([&](auto terms) { score_classes(node, terms, from, n, n_cuts); });
    } else {
      const Weight* weights = node.weights();
      const double* moments = node.moments();
      Weight first{0};
      double sum = 0.0;
      const auto move = [&](std::uint32_t at) {
        first += weights[at];
        sum += moments[at];
      };
      for (std::uint32_t i = from; i < n; ++i) move(order[i]);
      for (std::uint32_t i = 0; i < n_cuts; ++i) {
        move(order[i]);
        firsts_[i] = first;
        sums_[i] = sum;
      }
      score_moments(node, n_cuts);
    }
  }

  // The same of m entries, in order_, and, after the first `rest` of them, all other rows at once.
  void score_items(const Node& node, std::uint32_t m, std::uint32_t rest, std::uint32_t n_cuts) {
    const std::uint32_t* order = order_.data();
    if constexpr (ScoresRows<Node>) {
      return;
    } else if constexpr (Node::kClasses) {
      if (node.n_groups() == 2) {
        Pair<Weight> others{node.whole(), node.totals()[0]};
        for (std::uint32_t e = 0; e < m; ++e) {
          others.weight -= pairs_[order[e]].weight;
          others.zero -= pairs_[order[e]].zero;
        }
        Pair<Weight> sum{};
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          sum += i == rest ? others : pairs_[order[i < rest ? i : i - 1]];
          pair_sums_[i] = sum;
        }
        node.with_terms([&](auto terms) { score_two_classes(node, terms, n_cuts); });
        return;
      }
      others_ = node.totals();
      for (std::uint32_t e = 0; e < m; ++e) {
        others_[node.groups()[order[e]]] -= node.weights()[order[e]];
      }
      node.with_terms([&](auto terms) {
        ClassMoves<decltype(terms)> moves(node, terms, counts_);
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          if (i == rest) {
            for (std::uint32_t k = 0; k < others_.size(); ++k) moves.move(k, others_[k]);
          } else {
            const std::uint32_t at = order[i < rest ? i : i - 1];
            moves.move(node.groups()[at], node.weights()[at]);
          }
          scores_[i] = moves.score();
        }
      });
    } else {
      const Weight* weights = node.weights();
      const double* moments = node.moments();
      Weight other_weight = node.whole();
      double other_sum = node.sum();
      for (std::uint32_t e = 0; e < m; ++e) {
        other_weight -= weights[order[e]];
        other_sum -= moments[order[e]];
      }
      Weight first{0};
      double sum = 0.0;
      for (std::uint32_t i = 0; i < n_cuts; ++i) {
        const std::uint32_t at = order[i < rest ? i : i == rest ? 0 : i - 1];
        first += i == rest ? other_weight : weights[at];
        sum += i == rest ? other_sum : moments[at];
        firsts_[i] = first;
        sums_[i] = sum;
      }
      score_moments(node, n_cuts);
    }
  }

  void score_moments(const Node& node, std::uint32_t n_cuts) {
    const double all = node.sum();
    const double whole = static_cast<double>(node.whole());
    for (std::uint32_t i = 0; i < n_cuts; ++i) {
      const double left = static_cast<double>(firsts_[i]);
      const double other = all - sums_[i];
      scores_[i] =
          score_of_two<Node::kWhole>(sums_[i] * sums_[i], left, other * other, whole - left);
    }
  }

  // The score of a cut while weight of one class after another passes over to child 0: only the
  // terms of that class change.
  template <class Terms>
  class ClassMoves {
   public:
    ClassMoves(const Node& node, Terms terms, std::vector<Weight>& counts)
        : totals_(node.totals()), whole_(node.whole()), terms_(terms), counts_(counts) {
      counts_.assign(totals_.size(), Weight{0});
      for (const Weight total : totals_) second_terms_ += terms_.term(total);
    }
    void move(std::uint32_t k, Weight weight) {
      const Weight before = counts_[k];
      const Weight after = before + weight;
      first_terms_ += terms_.term(after) - terms_.term(before);
      second_terms_ += terms_.term(totals_[k] - after) - terms_.term(totals_[k] - before);
      counts_[k] = after;
      first_ += weight;
    }
    double score() const {
      return terms_.join(first_terms_, first_) + terms_.join(second_terms_, whole_ - first_);
    }

   private:
    const std::vector<Weight>& totals_;
    Weight whole_, first_{0};
    double first_terms_ = 0.0, second_terms_ = 0.0;
    Terms terms_;
    std::vector<Weight>& counts_;
  };

  // Class after class, each row that passes over changes the terms of its own. Rows from..n-1 in
  // order are in child 0 from the start.
  template <class Terms>
  void score_classes(const Node& node, Terms terms, std::uint32_t from, std::uint32_t n,
                     std::uint32_t n_cuts) {
    const std::uint32_t* order = order_.data();
    ClassMoves<Terms> moves(node, terms, counts_);
    const auto move = [&](std::uint32_t at) { moves.move(node.groups()[at], node.weights()[at]); };
    for (std::uint32_t i = from; i < n; ++i) move(order[i]);
    for (std::uint32_t i = 0; i < n_cuts; ++i) {
      move(order[i]);
      scores_[i] = moves.score();
    }
  }

  // With two classes the count of the second follows from that of the first.
  template <class Terms>
  void score_two_classes(const Node& node, Terms terms, std::uint32_t n_cuts) {
    if constexpr (Node::kClasses) {
      const Weight all = node.whole();
      const Weight all_zero = node.totals()[0];
      if constexpr (requires { terms.score_of_two_classes(all, all, all, all); }) {
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          const auto& [weight, zero] = pair_sums_[i];
          scores_[i] = terms.score_of_two_classes(zero, weight, all_zero, all);
        }
      } else {
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          const Weight l = pair_sums_[i].weight;
          const Weight l0 = pair_sums_[i].zero;
          const Weight r = all - l;
          const Weight r0 = all_zero - l0;
          scores_[i] = terms.join(terms.term(l0) + terms.term(l - l0), l) +
                       terms.join(terms.term(r0) + terms.term(r - r0), r);
        }
      }
    }
  }

  const Settings& settings_;
  BestSplits* several_ = nullptr;  // every cut goes into it, where there is one
  Margin margin_;
  std::uint32_t ties_ = 0;  // cuts of the column that are as good as the best
  std::vector<std::uint32_t> order_;
  std::vector<T> sorted_;
  std::vector<Weight> firsts_, counts_, others_, by_class_;
  std::vector<std::uint32_t> rows_by_code_;
  std::vector<Pair<Weight>> pairs_, pair_sums_;
  std::vector<double> scores_, sums_;
  NodeRows<std::uint32_t> weighted_targets_;  // of EntryOrders
  std::vector<std::uint32_t> items_;          // of entries in the node
  Sorter<T> sorter_;
};

}  // namespace duramen
