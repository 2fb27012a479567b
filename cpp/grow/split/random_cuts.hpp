// Random cuts of an ordered column: drawn uniformly between the least and the largest value of the
// node (Extra-Trees), or between the values of two rows (PERT).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/code_sums.hpp"
#include "grow/split/cut_scores.hpp"
#include "grow/split/dense.hpp"
#include "grow/split/drawn_cuts.hpp"
#include "grow/split/ordered_columns.hpp"
#include "random.hpp"

namespace duramen {

inline void take_ordered(Split& best, const Split& cut, double score) {
  best = cut;
  best.score = score;
  best.family = Family::ordered;
}

// Candidates come in random order: among equals the first stays.
template <class Node>
void offer_ordered(const Node& node, Split& best, const Split& cut, double score) {
  if (!best.found() || score > best.score + node.tolerance(best.score)) {
    take_ordered(best, cut, score);
  }
}

template <class T, class Node>
class RandomCuts {
 public:
  using Weight = typename Node::Weight;

  RandomCuts(const Problem& problem, OrderedColumns<T, Node>& columns)
      : columns_(columns),
        drawn_(problem.table, columns.working),
        scores_(problem, columns.working, columns.scoring) {}

  // Columns whose random cuts are drawn at a time.
  static constexpr std::size_t kSide = Gathered<T>::kSide;
  // Whether such tables exist, and whether they cover the current node.
  static constexpr bool kSideBySide = !std::is_integral_v<T> || kDensePossible<T, Node>;

  bool draws_side_by_side() const { return columns_.at_dense || !std::is_integral_v<T>; }

  // A random cut of each of up to kSide numeric columns without missing values, with its score,
  // which is kNone where it is known to be no better than the best so far. `next` are columns that
  // may follow.
  void draw_side_by_side(const Node& node, const std::uint32_t* columns, std::size_t count,
                         const std::uint32_t* rows, Random& random, Split* cuts, Draw* draws,
                         const Split& best, const std::uint32_t* next, std::size_t n_next) {
    const std::uint32_t n = node.n_rows();
    std::pair<T, T> ranges[kSide];
    bool scored[kSide]{};  // already
    std::uint32_t beaten = 0;
    if constexpr (kDensePossible<T, Node>) {
      for (std::size_t c = 0; c < count; ++c) {
        ranges[c] = columns_.dense.range(columns_.working.column(columns[c]));
      }
    } else if constexpr (!std::is_integral_v<T>) {
      if (!columns_.gathered.reads_long() && !columns_.gathered.reads_columns()) {
        // The numbers of the cuts, as long as it is known which columns have one.
        Random ahead = random;
        bool knows = std::all_of(columns, columns + count, [&](std::uint32_t column) {
          return columns_.gathered.sparse(column);
        });
        columns_.gathered.read_bits(columns, count);
        // Before any column is scored, so that no load waits for the result of another column.
        std::pair<Weight, Weight> weights[kSide]{};
        if (columns_.counts_bits) {
          for (std::size_t c = 0; c < count; ++c) {
            if (columns_.gathered.sparse(columns[c]))
              weights[c] = columns_.weigh_entries(columns[c], c);
          }
        }
        beaten = columns_.gathered.gather_side_by_side(
            columns, count, rows, n, ranges, [&](std::uint32_t column, std::size_t c) {
              Random after = ahead;
              const double u = after.uniform();
              const Verdict verdict =
                  columns_.judge(node, column, weights[c], best, knows ? &u : nullptr);
              knows &= verdict != Verdict::unknown;
              if (verdict != Verdict::constant) ahead = after;
              return verdict;
            });
      }
    }
    for (std::size_t c = 0; c < count; ++c) {
      if constexpr (!std::is_integral_v<T>) {
        if (columns_.gathered.reads_columns()) {
          // What was gathered is scored while it is in the cache.
          const auto [low, high] = columns_.gathered.gather(columns[c], rows, n);
          draws[c] = Draw::constant;
          if (low < high) {
            cuts[c] = drawn_.draw(columns[c], low, high, random);
            draws[c] = scores_.score_cut(node, columns_.gathered.codes(), cuts[c]);
            scored[c] = true;
          }
          continue;
        }
        if (columns_.gathered.reads_long()) {
          if (may_compress(node, columns[c])) {
            const bool follows = c < n_next && columns_.gathered.sparse(next[c]);
            const std::uint32_t following = follows ? next[c] : columns[c];
            draws[c] = cut_by_bits(node, columns[c], random, cuts[c], following);
            scored[c] = true;
            continue;
          }
          if (c < n_next) columns_.gathered.prefetch(next[c]);
          if constexpr (OrderedColumns<T, Node>::kEntriesPossible) {
            if (may_add_up(node, columns[c])) {
              draws[c] = cut_by_code(node, columns[c], rows, random, cuts[c]);
              scored[c] = true;
              continue;
            }
          }
          ranges[c] = columns_.gathered.gather_side(columns[c], rows, n, c);
        }
        if (beaten >> c & 1) {
          random.uniform();  // as for its cut
          cuts[c].score = kNone;
          draws[c] = Draw::scored;
          scored[c] = true;
          continue;
        }
      }
      const auto [low, high] = ranges[c];
      draws[c] = low < high ? Draw::scored : Draw::constant;
      if (low < high) cuts[c] = drawn_.draw(columns[c], low, high, random);
    }
    for (std::size_t c = 0; c < count; ++c) {
      if (scored[c]) continue;
      if constexpr (kDensePossible<T, Node>) {
        if (draws[c] == Draw::scored && columns_.scoring) {
          cuts[c].score =
              columns_.dense.score(node, columns_.working.column(columns[c]), limit_of<T>(cuts[c]));
        }
      } else if constexpr (!std::is_integral_v<T>) {
        if (draws[c] == Draw::scored) {
          draws[c] =
              columns_.gathered.sparse(columns[c])
                  ? scores_.score_entries(node, columns_.gathered.entries_of_side(c), cuts[c])
                  : scores_.score_cut(node, columns_.gathered.side(c), cuts[c]);
        } else if (columns_.working.collides(columns[c])) {
          draws[c] = code_cut(node, columns[c], rows, random, cuts[c]);
        }
      }
      if (!columns_.scoring) cuts[c].score = 0.0;
    }
  }

  // The same for one column alone, without a score.
  Draw draw_one(const Node& node, std::uint32_t column, const std::uint32_t* rows, Random& random,
                Split& cut) {
    std::pair<T, T> range;
    const bool by_entries = !kDensePossible<T, Node> && columns_.may_use_entries(column);
    if constexpr (kDensePossible<T, Node>) {
      range = columns_.dense.range(columns_.working.column(column));
    } else if (by_entries) {
      range = columns_.gathered.gather_side(column, rows, node.n_rows(), 0);
    } else {
      range = columns_.gathered.gather(column, rows, node.n_rows());
    }
    if (range.first == range.second) {
      if constexpr (std::is_integral_v<T>) return Draw::constant;
      return columns_.working.collides(column) ? code_cut(node, column, rows, random, cut)
                                               : Draw::constant;
    }
    cut = drawn_.draw(column, range.first, range.second, random);
    if constexpr (kDensePossible<T, Node>) return Draw::scored;
    if (by_entries) return scores_.score_entries(node, columns_.gathered.entries_of_side(0), cut);
    return scores_.score_cut(node, columns_.gathered.codes(), cut);
  }

  // The same for one column of codes, with missing values or without; false where it is constant.
  bool draw(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
            Split& best, std::uint64_t& n_scored) {
    Split cut;
    const bool by_entries = columns_.may_use_entries(column);
    const auto [low, high] = by_entries
                                 ? columns_.gathered.gather_side(column, rows, node.n_rows(), 0)
                                 : columns_.gathered.gather(column, rows, node.n_rows());
    if (low == high) {
      if (std::is_integral_v<T> || !columns_.working.collides(column)) return false;
      const Draw draw = code_cut(node, column, rows, random, cut);
      if (draw == Draw::scored) take_in(node, best, cut, n_scored);
      return draw != Draw::constant;
    }
    if constexpr (std::is_integral_v<T>) {
      if (columns_.table.missing[column] != 0 && high == columns_.missing_code(column)) {
        random_cut_missing(node, column, columns_.gathered.codes(), low, random, best, n_scored);
        return true;
      }
    }
    cut = drawn_.draw(column, low, high, random);
    const Draw draw = by_entries
                          ? scores_.score_entries(node, columns_.gathered.entries_of_side(0), cut)
                          : scores_.score_cut(node, columns_.gathered.codes(), cut);
    if (draw == Draw::scored) take_in(node, best, cut, n_scored);
    return true;
  }

  // PERT: the cut lies at a uniform mixture of the values of two rows; false where it is forbidden.
  bool draw_between(const Node& node, std::size_t column, T a, T b, Random& random, Split& best) {
    T low = std::min(a, b);
    T high = std::max(a, b);
    Split cut;
    if (columns_.table.missing[column] != 0 && high == columns_.missing_code(column)) {
      cut = missing_against_rest(column);
    } else if (columns_.table.kind(column) == Kind::numeric) {
      cut = drawn_.draw(column, low, high, random);
    } else {
      cut.feature = static_cast<std::int64_t>(column);
      cut.low = static_cast<std::uint32_t>(low) +
                random.below(static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low));
      cut.high = cut.low + 1;
    }
    if (!scores_.allowed(columns_.gathered.codes(), cut, node.n_rows())) return false;
    take_ordered(best, cut, 0.0);
    return true;
  }

 private:
  Split missing_against_rest(std::size_t column) const {
    Split cut;
    cut.feature = static_cast<std::int64_t>(column);
    cut.low = columns_.table.n_values(column) - 1;
    cut.high = columns_.table.n_values(column);
    return cut;
  }

  static void take_in(const Node& node, Split& best, const Split& cut, std::uint64_t& n_scored) {
    ++n_scored;
    offer_ordered(node, best, cut, cut.score);
  }

  // Values that are equal in single precision, but perhaps not in double.
  Draw code_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                Split& cut) {
    std::uint32_t low = columns_.table.code(column, rows[0]);
    std::uint32_t high = low;
    table_codes_.resize(node.n_rows());
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
      table_codes_[i] = columns_.table.code(column, rows[i]);
      low = std::min(low, table_codes_[i]);
      high = std::max(high, table_codes_[i]);
    }
    if (low == high) return Draw::constant;
    cut = drawn_.draw(column, low, high, random);
    cut.by_code = true;
    const auto goes_first = [&](std::uint32_t code) { return code <= cut.low; };
    std::uint32_t n_first = 0;
    for (std::uint32_t i = 0; i < node.n_rows(); ++i)
      n_first += goes_first(table_codes_[i]) ? 1 : 0;
    if (!scores_.large_enough(n_first, node.n_rows())) return Draw::forbidden;
    cut.score = columns_.scoring ? scores_.score_of(node, table_codes_.data(), goes_first) : 0.0;
    return Draw::scored;
  }

  // Whether a random cut of a column is drawn and scored from the sums of its codes. Saves 16 % of
  // Extra-Trees on sparse counts of rows whose weights differ.
  bool may_add_up(const Node& node, std::uint32_t column) const {
    return columns_.uses_sums && columns_.may_use_entries(column) &&
           columns_.sums.suits(node, columns_.table.n_codes(column)) &&
           !columns_.working.collides(column);
  }

  // Whether it is from the bits of its entries, in nodes that are sought among all rows.
  bool may_compress(const Node& node, std::uint32_t column) const {
    if constexpr (!Node::kClasses) return false;
    return kExtractsBits && columns_.counts_bits && node.unit_weights() &&
           columns_.may_use_entries(column) && !columns_.working.collides(column) &&
           columns_.working.byte_entries(column).codes != nullptr;
  }
  // Such a cut, with its score. Asks for the entries of a column that may follow in passing.
  Draw cut_by_bits(const Node& node, std::uint32_t column, Random& random, Split& cut,
                   std::uint32_t following) {
    if constexpr (Node::kClasses && OrderedColumns<T, Node>::kEntriesPossible) {
      const ByteEntries& entries = columns_.working.byte_entries(column);
      columns_.class_bits.take_entries(entries, columns_.working.byte_entries(following));
      const auto [of_first, of_second] = columns_.class_bits.count();
      const Weight of_both = of_first + of_second;
      const auto frequent = static_cast<std::uint8_t>(entries.frequent);
      std::pair<std::uint8_t, std::uint8_t> range{frequent, frequent};
      if (of_both > Weight{0}) range = columns_.class_bits.range();
      const bool all_rows = of_both == node.whole();
      const std::uint8_t low = all_rows ? range.first : std::min(range.first, frequent);
      const std::uint8_t high = all_rows ? range.second : std::max(range.second, frequent);
      if (low == high) return Draw::constant;
      cut = drawn_.draw(column, columns_.working.value(column, low),
                        columns_.working.value(column, high), random);
      const auto last =
          static_cast<std::uint8_t>(columns_.working.code_up_to(column, limit_of<T>(cut)));
      auto [first, second] = columns_.class_bits.count_up_to(last);
      if (frequent <= last) {
        first += node.totals()[0] - of_first;
        second += node.totals()[1] - of_second;
      }
      if (!scores_.large_enough(static_cast<std::uint32_t>(first + second), node.n_rows())) {
        return Draw::forbidden;
      }
      const Weight counts[2] = {first, second};
      cut.score = score_of_counts(node, [&](std::size_t k) { return counts[k]; });
      return Draw::scored;
    }
    return Draw::constant;
  }

  // A random cut from the sums of the codes, with its score.
  Draw cut_by_code(const Node& node, std::uint32_t column, const std::uint32_t* rows,
                   Random& random, Split& cut) {
    const std::uint32_t n_codes = columns_.table.n_codes(column);
    columns_.sums.add(node, column, rows, n_codes, columns_.gathered);
    std::uint32_t low = 0;
    std::uint32_t high = n_codes - 1;
    while (!columns_.sums.occurs(low)) ++low;
    while (!columns_.sums.occurs(high)) --high;
    typename CodeSums<T, Node>::Sum first;
    std::uint32_t last = low;
    if (low < high) {
      cut = drawn_.draw(column, columns_.working.value(column, low),
                        columns_.working.value(column, high), random);
      last = columns_.working.code_up_to(column, limit_of<T>(cut));
    }
    for (std::uint32_t code = low; code <= high; ++code) {
      const auto sum = columns_.sums.take(code);
      if (code <= last) first += sum;
    }
    if (low == high) return Draw::constant;
    if (!scores_.large_enough(first.n_rows(), node.n_rows())) return Draw::forbidden;
    if constexpr (Node::kClasses) {
      const Weight counts[2] = {static_cast<Weight>(first.sum()),
                                static_cast<Weight>(first.weight() - first.sum())};
      cut.score = score_of_counts(node, [&](std::size_t k) { return counts[k]; });
    } else {
      cut.score = score_of_moments(node, static_cast<Weight>(first.weight()),
                                   static_cast<double>(first.sum()));
    }
    return Draw::scored;
  }

  // A cut drawn among the seen values, the missing rows on the better side.
  void random_cut_missing(const Node& node, std::size_t column, const T* codes, T low,
                          Random& random, Split& best, std::uint64_t& n_scored) {
    const std::uint32_t n = node.n_rows();
    const T missing = columns_.missing_code(column);
    T high = low;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (codes[i] != missing) high = std::max(high, codes[i]);
    }
    const bool one_value = low == high;
    const Split drawn =
        one_value ? missing_against_rest(column) : drawn_.draw(column, low, high, random);
    Split better;
    for (const bool first : {false, true}) {
      if (first && one_value) break;
      std::uint32_t n_first = 0;
      const T limit = limit_of<T>(drawn);
      const auto goes_first = [&](T code) { return code == missing ? first : code <= limit; };
      for (std::uint32_t i = 0; i < n; ++i) n_first += goes_first(codes[i]) ? 1 : 0;
      if (!scores_.large_enough(n_first, n)) continue;
      Split cut = drawn;
      cut.missing_first = first;
      ++n_scored;
      const double score = scores_.score_of(node, codes, goes_first);
      const double margin = better.found() ? node.tolerance(better.score) : 0.0;
      const bool tie = better.found() && std::fabs(score - better.score) <= margin;
      if (!better.found() || (tie ? random.below(2) == 1 : score > better.score)) {
        take_ordered(better, cut, score);
      }
    }
    if (!better.found()) return;
    offer_ordered(node, best, better, columns_.scoring ? better.score : 0.0);
  }

  OrderedColumns<T, Node>& columns_;
  DrawnCuts<T, Node> drawn_;
  CutScores<T, Node> scores_;
  std::vector<std::uint32_t> table_codes_;
};

}  // namespace duramen
