// Splits of ordered columns: codes up to a cut go to child 0. The best of all cuts, a cut drawn
// uniformly between the least and the largest value (Extra-Trees), or between two rows (PERT).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "../lanes.hpp"
#include "../node.hpp"
#include "../problem.hpp"
#include "../random.hpp"
#include "../working.hpp"
#include "candidate.hpp"
#include "dense.hpp"
#include "sorting.hpp"

namespace duramen {

// Weight of some rows, and of those among them that are of the first class.
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
class OrderedSplits {
 public:
  using Weight = typename Node::Weight;

  OrderedSplits(const Problem& problem, const Working<T>& working, bool scoring)
      : scoring_(scoring),
        table_(problem.table),
        settings_(problem.settings),
        working_(working),
        n_columns_(working.n_columns()),
        side_stride_(problem.table.n_rows + kPadding),
        buffer_(side_stride_ * (std::is_integral_v<T> ? 1 : kSide)),
        order_(problem.table.n_rows + kPadding),
        words_(problem.table.n_rows / 64 + 2),
        row_starts_(problem.table.n_rows),
        sorted_(problem.table.n_rows + kPadding),
        firsts_(Node::kClasses ? 0 : problem.table.n_rows + kPadding),
        pairs_(Node::kClasses ? problem.table.n_rows + kPadding : 0),
        pair_sums_(Node::kClasses ? problem.table.n_rows + kPadding : 0),
        scores_(problem.table.n_rows + kPadding),
        sums_(Node::kClasses ? 0 : problem.table.n_rows + kPadding) {}

  void start_node(const Node& node, const std::uint32_t* rows) {
    use_dense_ = false;
    if constexpr (kDensePossible) {
      use_dense_ = working_.dense() && settings_.cut == Cut::random &&
                   settings_.splits == Family::ordered && settings_.min_samples_leaf == 1 &&
                   dense_.start_node(node, rows, working_.stride(), scoring_);
    }
    by_row_ =
        working_.rows() != nullptr && node.n_rows() * n_columns_ * sizeof(T) <= kRowMajorNodeBytes;
    if (by_row_) {
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) row_starts_[i] = rows[i] * n_columns_;
    }
    if constexpr (Node::kClasses) {
      if (settings_.cut == Cut::best && node.n_groups() == 2) {
        const std::uint32_t border = node.starts()[1];
        for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
          const Weight weight = node.weights()[i];
          pairs_[i] = {weight, i < border ? weight : Weight{0}};
        }
      }
    }
  }

  // Gathers the codes of a column and returns the least and the largest of them.
  std::pair<T, T> gather_range(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    if (by_row_) {
      const T* base = working_.rows() + column;
      return gather_from(n, buffer_.data(), [&](std::uint32_t i) { return base[row_starts_[i]]; });
    }
    const T* base = working_.column(column);
    return gather_from(n, buffer_.data(), [&](std::uint32_t i) { return base[rows[i]]; });
  }

  // What was gathered last.
  const T* codes() const { return buffer_.data(); }

  // The codes of a column at the rows of a node; valid until the next call.
  const T* gather(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    gather_range(column, rows, n);
    return buffer_.data();
  }

  // Columns whose random cuts are drawn at a time.
  static constexpr std::size_t kSide = 4;

  bool draws_side_by_side() const { return use_dense_ || !std::is_integral_v<T>; }

  // A random cut of each of up to kSide numeric columns without missing values, with its score.
  void random_cuts(const Node& node, const std::uint32_t* columns, std::size_t count,
                   const std::uint32_t* rows, Random& random, Split* cuts, Draw* draws) {
    const std::uint32_t n = node.n_rows();
    std::pair<T, T> ranges[kSide];
    if constexpr (kDensePossible) {
      for (std::size_t c = 0; c < count; ++c) {
        ranges[c] = dense_.range(working_.column(columns[c]));
      }
    } else if constexpr (!std::is_integral_v<T>) {
      gather_side_by_side(columns, count, rows, n, ranges);
    }
    for (std::size_t c = 0; c < count; ++c) {
      const auto [low, high] = ranges[c];
      draws[c] = low < high ? Draw::scored : Draw::constant;
      if (low < high) cuts[c] = drawn_cut(columns[c], low, high, random);
    }
    for (std::size_t c = 0; c < count; ++c) {
      if constexpr (kDensePossible) {
        if (draws[c] == Draw::scored && scoring_) {
          cuts[c].score = dense_.score(node, working_.column(columns[c]), limit_of(cuts[c]));
        }
      } else if constexpr (!std::is_integral_v<T>) {
        if (draws[c] == Draw::scored) {
          draws[c] = score_cut(node, side(c), cuts[c]);
        } else if (working_.collides(columns[c])) {
          draws[c] = code_cut(node, columns[c], rows, random, cuts[c]);
        }
      }
      if (!scoring_) cuts[c].score = 0.0;
    }
  }

  // Candidates come in random order: among equals the first stays.
  static void offer(const Node& node, Split& best, const Split& cut, double score) {
    if (!best.found() || score > best.score + node.tolerance(best.score)) take(best, cut, score);
  }

  // The same for one column alone, without a score.
  Draw one_random_cut(const Node& node, std::uint32_t column, const std::uint32_t* rows,
                      Random& random, Split& cut) {
    std::pair<T, T> range;
    if constexpr (kDensePossible) {
      range = dense_.range(working_.column(column));
    } else {
      range = gather_range(column, rows, node.n_rows());
    }
    if (range.first == range.second) {
      if constexpr (std::is_integral_v<T>) return Draw::constant;
      return working_.collides(column) ? code_cut(node, column, rows, random, cut) : Draw::constant;
    }
    cut = drawn_cut(column, range.first, range.second, random);
    if constexpr (kDensePossible) return Draw::scored;
    return score_cut(node, buffer_.data(), cut);
  }

  // The same for one column of codes, with missing values or without; false where it is constant.
  bool random_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                  Split& best, std::uint64_t& n_scored) {
    const auto [low, high] = gather_range(column, rows, node.n_rows());
    Split cut;
    if (low == high) {
      if (std::is_integral_v<T> || !working_.collides(column)) return false;
      const Draw draw = code_cut(node, column, rows, random, cut);
      if (draw == Draw::scored) take_in(node, best, cut, n_scored);
      return draw != Draw::constant;
    }
    if constexpr (std::is_integral_v<T>) {
      if (table_.missing[column] != 0 && high == missing_code(column)) {
        random_cut_missing(node, column, buffer_.data(), low, random, best, n_scored);
        return true;
      }
    }
    cut = drawn_cut(column, low, high, random);
    if (score_cut(node, buffer_.data(), cut) == Draw::scored) take_in(node, best, cut, n_scored);
    return true;
  }

  bool best_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                Split& best, std::uint64_t& n_scored) {
    const std::uint32_t n = node.n_rows();
    const auto [low, high] = gather_range(column, rows, n);
    const T* codes = buffer_.data();
    if (low == high) return false;
    sorter_.sort(codes, n, low, high, order_.data());
    const bool some_missing = table_.missing[column] != 0 && high == missing_code(column);
    std::uint32_t n_seen = n;  // rows that are not missing
    if (some_missing) {
      while (codes[order_[n_seen - 1]] == missing_code(column)) --n_seen;
    }
    scan(node, column, codes, n, n_seen, false, random, best, n_scored);
    if (some_missing) scan(node, column, codes, n, n_seen, true, random, best, n_scored);
    return true;
  }

  // PERT: the cut lies at a uniform mixture of the values of two rows.
  void mixture_cut(std::size_t column, T a, T b, Random& random, Split& best) {
    T low = std::min(a, b);
    T high = std::max(a, b);
    Split cut;
    if (table_.missing[column] != 0 && high == missing_code(column)) {
      cut = missing_against_rest(column);
    } else if (table_.kind(column) == Kind::numeric) {
      cut = drawn_cut(column, low, high, random);
    } else {
      cut.feature = static_cast<std::int64_t>(column);
      cut.low = static_cast<std::uint32_t>(low) +
                random.below(static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low));
      cut.high = cut.low + 1;
    }
    take(best, cut, 0.0);
  }

  // Uniform between two values; the value of `high` stays beyond the cut.
  template <class Code>
  Split drawn_cut(std::size_t column, Code low, Code high, Random& random) const {
    Split cut;
    cut.feature = static_cast<std::int64_t>(column);
    cut.real_cut = true;
    const double u = random.uniform();
    if constexpr (!std::is_integral_v<Code>) {
      cut.threshold = mixture(low, high, u);
    } else {
      cut.high = high;
      if constexpr (kDensePossible) {
        const float* rounded = working_.dense() ? working_.rounded(column) : nullptr;
        if (rounded != nullptr) {
          const float threshold = mixture(rounded[low], rounded[high], u);
          const std::size_t from = low / 8 * 8;
          const std::size_t to = (high + std::size_t{8}) / 8 * 8;
          cut.low = static_cast<std::uint32_t>(from) - 1 +
                    count_up_to(rounded + from, threshold, to - from);
          cut.threshold = threshold;
          cut.placed = working_.exact(column);
          return cut;
        }
      }
      const double* values = table_.values(column);
      cut.threshold = mixture(values[low], values[high], u);
      cut.low = last_up_to(values, low, high, cut.threshold);
      cut.placed = true;
    }
    return cut;
  }

 private:
  // Nodes whose rows fit the cache are read from the rows: children find them there again.
  static constexpr std::size_t kRowMajorNodeBytes = std::size_t{1} << 19;
  static constexpr bool kDensePossible =
      std::is_same_v<T, std::uint8_t> && Node::kClasses && Node::kWhole;

  T* side(std::size_t c) { return buffer_.data() + c * side_stride_; }

  // Gathers several columns, each to its side of the buffer, with their ranges.
  void gather_side_by_side(const std::uint32_t* columns, std::size_t count,
                           const std::uint32_t* rows, std::uint32_t n, std::pair<T, T>* ranges) {
    if (!by_row_ || count != kSide) {
      for (std::size_t c = 0; c < count; ++c) {
        const T* base = by_row_ ? working_.rows() + columns[c] : working_.column(columns[c]);
        ranges[c] =
            by_row_ ? gather_from(n, side(c), [&](std::uint32_t i) { return base[row_starts_[i]]; })
                    : gather_from(n, side(c), [&](std::uint32_t i) { return base[rows[i]]; });
      }
      return;
    }
    // Together, the columns share the cache lines of a row.
    T low[kSide];
    T high[kSide];
    const T* base = working_.rows();
    for (std::size_t c = 0; c < kSide; ++c) low[c] = high[c] = base[row_starts_[0] + columns[c]];
    for (std::uint32_t i = 0; i < n; ++i) {
      const T* row = base + row_starts_[i];
      for (std::size_t c = 0; c < kSide; ++c) {
        const T value = row[columns[c]];
        side(c)[i] = value;
        low[c] = value < low[c] ? value : low[c];
        high[c] = value > high[c] ? value : high[c];
      }
    }
    for (std::size_t c = 0; c < kSide; ++c) ranges[c] = {low[c], high[c]};
  }

  template <class Read>
  std::pair<T, T> gather_from(std::uint32_t n, T* out, Read&& read) {
    constexpr std::uint32_t kWays = 4;  // independent chains of comparisons
    const T first = read(0);
    T low[kWays] = {first, first, first, first};
    T high[kWays] = {first, first, first, first};
    std::uint32_t i = 0;
    for (; i + kWays <= n; i += kWays) {
      for (std::uint32_t way = 0; way < kWays; ++way) {
        const T value = read(i + way);
        out[i + way] = value;
        low[way] = value < low[way] ? value : low[way];
        high[way] = value > high[way] ? value : high[way];
      }
    }
    for (; i < n; ++i) {
      const T value = read(i);
      out[i] = value;
      low[0] = value < low[0] ? value : low[0];
      high[0] = value > high[0] ? value : high[0];
    }
    return {std::min(std::min(low[0], low[1]), std::min(low[2], low[3])),
            std::max(std::max(high[0], high[1]), std::max(high[2], high[3]))};
  }

  T missing_code(std::size_t column) const { return static_cast<T>(table_.n_values(column)); }

  bool large_enough(std::uint32_t n_first, std::uint32_t n) const {
    return n_first >= settings_.min_samples_leaf && n - n_first >= settings_.min_samples_leaf;
  }

  template <class Real>
  static Real mixture(Real a, Real b, double u) {
    const Real drawn =
        static_cast<Real>(static_cast<double>(a) * (1.0 - u) + static_cast<double>(b) * u);
    return drawn >= a && drawn < b ? drawn : a;
  }

  // The last of values[low..high) that is not above the threshold; values[low] is not.
  static std::uint32_t last_up_to(const double* values, std::uint32_t low, std::uint32_t high,
                                  double threshold) {
    std::uint32_t length = high - low;
    while (length > 1) {
      const std::uint32_t half = length / 2;
      low = values[low + half] <= threshold ? low + half : low;
      length -= half;
    }
    return low;
  }

  static T limit_of(const Split& cut) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(cut.low);
    } else {
      return static_cast<T>(cut.threshold);
    }
  }

  Split missing_against_rest(std::size_t column) const {
    Split cut;
    cut.feature = static_cast<std::int64_t>(column);
    cut.low = table_.n_values(column) - 1;
    cut.high = table_.n_values(column);
    return cut;
  }

  static void take_in(const Node& node, Split& best, const Split& cut, std::uint64_t& n_scored) {
    ++n_scored;
    offer(node, best, cut, cut.score);
  }

  static void take(Split& best, const Split& cut, double score) {
    best = cut;
    best.score = score;
    best.family = Family::ordered;
  }

  // Values that are equal in single precision, but perhaps not in double.
  Draw code_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                Split& cut) {
    std::uint32_t low = table_.code(column, rows[0]);
    std::uint32_t high = low;
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
      order_[i] = table_.code(column, rows[i]);
      low = std::min(low, order_[i]);
      high = std::max(high, order_[i]);
    }
    if (low == high) return Draw::constant;
    cut = drawn_cut(column, low, high, random);
    cut.by_code = true;
    const auto goes_first = [&](std::uint32_t code) { return code <= cut.low; };
    std::uint32_t n_first = 0;
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) n_first += goes_first(order_[i]) ? 1 : 0;
    if (!large_enough(n_first, node.n_rows())) return Draw::forbidden;
    cut.score = scoring_ ? score_of(node, order_.data(), goes_first) : 0.0;
    return Draw::scored;
  }

  // Scores a drawn cut of a gathered column.
  Draw score_cut(const Node& node, const T* codes, Split& cut) {
    const std::uint32_t n = node.n_rows();
    const T limit = limit_of(cut);
    if (settings_.min_samples_leaf > 1) {
      std::uint32_t n_first = 0;
      for (std::uint32_t i = 0; i < n; ++i) n_first += codes[i] <= limit ? 1 : 0;
      if (!large_enough(n_first, n)) return Draw::forbidden;
    }
    cut.score = 0.0;
    if (!scoring_) return Draw::scored;
    if constexpr (Node::kClasses) {
      if (!node.unit_weights()) {
        cut.score = score_of(node, codes, [limit](T code) { return code <= limit; });
        return Draw::scored;
      }
      const auto& starts = node.starts();
      const auto& totals = node.totals();
      bits_up_to(codes, limit, n, words_.data());
      double first_terms = 0.0;
      double second_terms = 0.0;
      Weight first{0};
      for (std::size_t k = 0; k < totals.size(); ++k) {
        const Weight count =
            static_cast<Weight>(count_bits(words_.data(), starts[k], starts[k + 1]));
        first += count;
        first_terms += node.term(count);
        second_terms += node.term(totals[k] - count);
      }
      cut.score = node.join(first_terms, first) + node.join(second_terms, node.whole() - first);
    } else if constexpr (std::is_same_v<T, float> && Node::kWhole) {
      const auto [first, sum] = sums_up_to(codes, limit, node.weights(), node.moments(), n);
      cut.score = node.join(sum, first) + node.join(node.sum() - sum, node.whole() - first);
    } else {
      cut.score = score_of(node, codes, [limit](T code) { return code <= limit; });
    }
    return Draw::scored;
  }

  // A cut drawn among the seen values, the missing rows on the better side.
  void random_cut_missing(const Node& node, std::size_t column, const T* codes, T low,
                          Random& random, Split& best, std::uint64_t& n_scored) {
    const std::uint32_t n = node.n_rows();
    const T missing = missing_code(column);
    T high = low;
    for (std::uint32_t i = 0; i < n; ++i) {
      if (codes[i] != missing) high = std::max(high, codes[i]);
    }
    const bool one_value = low == high;
    const Split drawn =
        one_value ? missing_against_rest(column) : drawn_cut(column, low, high, random);
    Split better;
    for (const bool first : {false, true}) {
      if (first && one_value) break;
      std::uint32_t n_first = 0;
      const T limit = limit_of(drawn);
      const auto goes_first = [&](T code) { return code == missing ? first : code <= limit; };
      for (std::uint32_t i = 0; i < n; ++i) n_first += goes_first(codes[i]) ? 1 : 0;
      if (!large_enough(n_first, n)) continue;
      Split cut = drawn;
      cut.missing_first = first;
      ++n_scored;
      const double score = score_of(node, codes, goes_first);
      const double margin = better.found() ? node.tolerance(better.score) : 0.0;
      const bool tie = better.found() && std::fabs(score - better.score) <= margin;
      if (!better.found() || (tie ? random.below(2) == 1 : score > better.score)) {
        take(better, cut, score);
      }
    }
    if (!better.found()) return;
    offer(node, best, better, scoring_ ? better.score : 0.0);
  }

  template <class Code, class GoesFirst>
  double score_of(const Node& node, const Code* codes, GoesFirst&& goes_first) const {
    Weight first{0};
    if constexpr (Node::kClasses) {
      double first_terms = 0.0;
      double second_terms = 0.0;
      for (std::size_t k = 0; k < node.totals().size(); ++k) {
        Weight count{0};
        for (std::uint32_t i = node.starts()[k]; i < node.starts()[k + 1]; ++i) {
          if (goes_first(codes[i])) count += node.weights()[i];
        }
        first += count;
        first_terms += node.term(count);
        second_terms += node.term(node.totals()[k] - count);
      }
      return node.join(first_terms, first) + node.join(second_terms, node.whole() - first);
    } else {
      double sum = 0.0;
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
        const bool in = goes_first(codes[i]);  // no branch: cuts are as good as random
        first += in ? node.weights()[i] : Weight{0};
        sum += in ? node.moments()[i] : 0.0;
      }
      return node.join(sum, first) + node.join(node.sum() - sum, node.whole() - first);
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

    if (has_equal_neighbours(sorted_.data() + begin, end - begin)) {
      for (std::uint32_t i = begin; i < end; ++i) {
        if (sorted_[i] == sorted_[i + 1]) scores_[i] = -std::numeric_limits<double>::infinity();
      }
    }
    const double top = largest_of(scores_.data() + begin, end - begin);
    if (settings_.stop_alpha < 1.0) {
      for (std::uint32_t i = begin; i < end; ++i) n_scored += sorted_[i] != sorted_[i + 1] ? 1 : 0;
    }
    // Between columns the first of equals stays; between the places of the missing rows, too.
    if (best.found() && !(top > best.score + node.tolerance(best.score))) return;
    const double least = top - node.tolerance(top);
    std::uint32_t chosen = n;
    std::uint32_t ties = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (!(scores_[i] >= least) || sorted_[i] == sorted_[i + 1]) continue;
      if (++ties == 1 || random.below(ties) == 0) chosen = i;
    }
    if (ties == 0) return;
    best.score = top;
    best.feature = static_cast<std::int64_t>(column);
    best.family = Family::ordered;
    best.low = sorted_[chosen];
    best.high = sorted_[chosen + 1];
    best.missing_first = missing_first;
    best.real_cut = false;
  }

  // scores_[i] becomes the score of the cut behind the i-th row in order, for i < n_cuts.
  void score_cuts(const Node& node, std::uint32_t n, std::uint32_t n_seen, bool missing_first,
                  std::uint32_t n_cuts) {
    const std::uint32_t* order = order_.data();
    const Weight* weights = node.weights();
    // Missing rows that belong to child 0 come first; then row after row passes over to it.
    const std::uint32_t from = missing_first ? n_seen : n;
    if constexpr (Node::kClasses) {
      if (node.n_groups() == 2) {
        Pair<Weight> sum{};
        for (std::uint32_t i = from; i < n; ++i) sum += pairs_[order[i]];
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          sum += pairs_[order[i]];
          pair_sums_[i] = sum;
        }
        score_two_classes(node, n_cuts);
        return;
      }
      const std::vector<Weight>& totals = node.totals();
      counts_.assign(totals.size(), Weight{0});
      const Weight whole = node.whole();
      Weight first{0};
      double first_terms = 0.0;
      double second_terms = 0.0;
      for (const Weight total : totals) second_terms += node.term(total);
      const auto move = [&](std::uint32_t at) {
        const std::uint32_t k = node.groups()[at];
        const Weight before = counts_[k];
        const Weight after = before + weights[at];
        first_terms += node.term(after) - node.term(before);
        second_terms += node.term(totals[k] - after) - node.term(totals[k] - before);
        counts_[k] = after;
        first += weights[at];
      };
      for (std::uint32_t i = from; i < n; ++i) move(order[i]);
      for (std::uint32_t i = 0; i < n_cuts; ++i) {
        move(order[i]);
        scores_[i] = node.join(first_terms, first) + node.join(second_terms, whole - first);
      }
    } else {
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
      const double all = node.sum();
      const double whole = static_cast<double>(node.whole());
      for (std::uint32_t i = 0; i < n_cuts; ++i) {
        const double left = static_cast<double>(firsts_[i]);
        const double other = all - sums_[i];
        scores_[i] = score_of_two(sums_[i] * sums_[i], left, other * other, whole - left);
      }
    }
  }

  // a / left + b / right. With whole weights one division serves both; rounding may take the
  // difference of real weights to 0.
  static double score_of_two(double a, double left, double b, double right) {
    if constexpr (Node::kWhole) return (a * right + b * left) / (left * right);
    const double second = b / right;
    return a / left + (right > 0.0 ? second : 0.0);
  }

  // With two classes the count of the second follows from that of the first.
  void score_two_classes(const Node& node, std::uint32_t n_cuts) {
    if constexpr (Node::kClasses) {
      const Weight all = node.whole();
      const Weight all_zero = node.totals()[0];
      if constexpr (Node::kGini) {
        const double whole = static_cast<double>(all);
        const double whole_zero = static_cast<double>(all_zero);
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          const double l = static_cast<double>(pair_sums_[i].weight);
          const double l0 = static_cast<double>(pair_sums_[i].zero);
          const double l1 = l - l0;
          const double r = whole - l;
          const double r0 = whole_zero - l0;
          const double r1 = r - r0;
          scores_[i] = score_of_two(l0 * l0 + l1 * l1, l, r0 * r0 + r1 * r1, r);
        }
      } else {
        for (std::uint32_t i = 0; i < n_cuts; ++i) {
          const Weight l = pair_sums_[i].weight;
          const Weight l0 = pair_sums_[i].zero;
          const Weight r = all - l;
          const Weight r0 = all_zero - l0;
          scores_[i] = node.join(node.term(l0) + node.term(l - l0), l) +
                       node.join(node.term(r0) + node.term(r - r0), r);
        }
      }
    }
  }

  bool scoring_;
  const Table& table_;
  const Settings& settings_;
  const Working<T>& working_;
  std::size_t n_columns_, side_stride_;
  bool by_row_ = false, use_dense_ = false;
  std::vector<T> buffer_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint64_t> words_;
  std::vector<std::size_t> row_starts_;
  std::vector<T> sorted_;
  std::vector<Weight> firsts_, counts_;
  std::vector<Pair<Weight>> pairs_, pair_sums_;
  std::vector<double> scores_, sums_;
  Sorter<T> sorter_;
  DenseRows dense_;
};

}  // namespace duramen
