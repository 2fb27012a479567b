// Splits of ordered columns: codes up to a cut go to child 0. The best of all cuts, a cut drawn
// uniformly between the least and the largest value (Extra-Trees), or between two rows (PERT).
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
#include "grow/split/best_splits.hpp"
#include "grow/split/byte_cuts.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/class_bits.hpp"
#include "grow/split/code_sums.hpp"
#include "grow/split/dense.hpp"
#include "grow/split/few_rows.hpp"
#include "grow/split/gathered.hpp"
#include "grow/split/sorted_cuts.hpp"
#include "grow/working.hpp"
#include "lanes.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
class OrderedSplits {
 public:
  using Weight = typename Node::Weight;

  OrderedSplits(const Problem& problem, const Working<T>& working, bool scoring)
      : scoring_(scoring),
        table_(problem.table),
        settings_(problem.settings),
        working_(working),
        gathered_(problem, working),
        words_(problem.table.n_rows / 64 + 2),
        sums_(problem),
        sorted_(problem) {
    // Decoys look at what was gathered.
    plain_ = settings_.cut == Cut::best && settings_.min_samples_leaf == 1 &&
             !settings_.tests_by_chi_square() && settings_.n_best_splits == 1 &&
             problem.decoys.cycle == nullptr;
    by_entries_ = settings_.n_best_splits == 1 && problem.decoys.cycle == nullptr;
    const bool of_random_cuts = settings_.cut == Cut::random && scoring_ && !std::is_integral_v<T>;
    orders_suffice_ = kEntriesPossible && by_entries_ && !working.orders().empty();
    uses_sums_ = by_entries_ && (settings_.cut == Cut::best || of_random_cuts);
  }

  // Every cut of a column goes into a list from now on.
  void collect_into(BestSplits& several) { sorted_.collect_into(several); }

  void start_tree() {
    gathered_.start_tree();
    sums_.start_tree();
    sorted_.start_tree();
  }

  // Whether columns are looked at row by row in nodes of so many rows; not where the entries of all
  // columns are at hand in the order of their codes. Looking at all of these takes as long as
  // looking at so many rows and sorting their entries.
  bool reads_rows(std::uint32_t n) const {
    constexpr std::size_t kEntriesARow = 16;
    return !orders_suffice_ || working_.orders().most() > kEntriesARow * n;
  }

  // Whether it pays to guess which columns are next, and whether so much is read of each that they
  // are asked for one by one.
  bool guesses_next() const { return gathered_.guesses_next(); }
  bool reads_long() const { return gathered_.reads_long(); }
  // Asks for what is read of a column at any node, and for the column at the one at hand, ahead of
  // its use.
  void prefetch_look(std::size_t column) const { gathered_.prefetch_look(column); }
  void prefetch(std::size_t column) const { gathered_.prefetch(column); }

  void start_node(const Node& node, const std::uint32_t* rows) {
    use_dense_ = false;
    if constexpr (kDensePossible) {
      use_dense_ = working_.dense() && settings_.cut == Cut::random &&
                   settings_.splits == Family::ordered && settings_.min_samples_leaf == 1 &&
                   dense_.start_node(node, rows, working_.stride(), scoring_);
    }
    in_order_ = !reads_rows(node.n_rows());
    gathered_.start_node(rows, node.n_rows(), !in_order_);
    if (settings_.cut == Cut::best) sorted_.start_node(node);
    if constexpr (kEntriesPossible) {
      sums_.start_node(uses_sums_ && gathered_.reads_long());
      counts_bits_ = false;
      if constexpr (Node::kClasses) {
        if (gathered_.marked() && may_judge(node) &&
            (!gathered_.reads_long() || node.unit_weights())) {
          counts_bits_ = class_bits_.start_node(
              node, gathered_.n_words(), [&](std::uint32_t i) { return gathered_.place(rows, i); });
        }
      }
    }
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
    return node.largest_score(settings_);
  }

  // Gathers the codes of a column and returns the least and the largest of them.
  std::pair<T, T> gather_range(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    return gathered_.gather(column, rows, n);
  }

  // What was gathered last.
  const T* codes() const { return gathered_.codes(); }

  // The codes of a column at the rows of a node; valid until the next call.
  const T* gather(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    gather_range(column, rows, n);
    return codes();
  }

  // Whether the columns of the node are looked at by the order of their entries.
  bool in_order() const { return in_order_; }
  // The most frequent code of a sparse column.
  std::uint32_t frequent_code(std::size_t column) const { return working_.frequent_code(column); }
  // There, a bit for every row of the table: whether its code of a column is not on the side of a
  // cut where the most frequent one is. Valid until the next call.
  const std::uint64_t* rows_beyond(std::size_t column, std::uint32_t low) {
    std::fill(words_.begin(), words_.end(), 0U);
    const OrderedEntries<T> entries = working_.orders().of(column);
    const T* end = entries.codes + entries.size;
    const auto n_first = static_cast<std::size_t>(
        std::upper_bound(entries.codes, end, static_cast<T>(low)) - entries.codes);
    const bool rest_first = frequent_code(column) <= low;
    for (std::size_t e = rest_first ? n_first : 0; e < (rest_first ? entries.size : n_first); ++e) {
      words_[entries.rows[e] / 64] |= std::uint64_t{1} << (entries.rows[e] % 64);
    }
    return words_.data();
  }

  // Whether nodes can be scanned as masks over all rows.
  static constexpr bool kDensePossible =
      std::is_same_v<T, std::uint8_t> && Node::kClasses && Node::kWhole;
  // Columns whose random cuts are drawn at a time.
  static constexpr std::size_t kSide = Gathered<T>::kSide;
  // Whether there are such tables, and whether the node at hand is one of theirs.
  static constexpr bool kSideBySide = !std::is_integral_v<T> || kDensePossible;

  bool draws_side_by_side() const { return use_dense_ || !std::is_integral_v<T>; }

  // A random cut of each of up to kSide numeric columns without missing values, with its score,
  // which is kNone where it is known to be no better than the best so far. `next` are columns that
  // may follow.
  void random_cuts(const Node& node, const std::uint32_t* columns, std::size_t count,
                   const std::uint32_t* rows, Random& random, Split* cuts, Draw* draws,
                   const Split& best, const std::uint32_t* next, std::size_t n_next) {
    const std::uint32_t n = node.n_rows();
    std::pair<T, T> ranges[kSide];
    bool scored[kSide]{};  // already
    std::uint32_t beaten = 0;
    if constexpr (kDensePossible) {
      for (std::size_t c = 0; c < count; ++c) {
        ranges[c] = dense_.range(working_.column(columns[c]));
      }
    } else if constexpr (!std::is_integral_v<T>) {
      if (!gathered_.reads_long() && !gathered_.reads_columns()) {
        // The numbers of the cuts, as long as it is known which columns have one.
        Random ahead = random;
        bool knows = std::all_of(columns, columns + count,
                                 [&](std::uint32_t column) { return gathered_.sparse(column); });
        gathered_.read_bits(columns, count);
        // Before any of them is judged: no load waits for what becomes of another column.
        std::pair<Weight, Weight> weights[kSide]{};
        if (counts_bits_) {
          for (std::size_t c = 0; c < count; ++c) {
            if (gathered_.sparse(columns[c])) weights[c] = weigh_entries(columns[c], c);
          }
        }
        beaten = gathered_.gather_side_by_side(
            columns, count, rows, n, ranges, [&](std::uint32_t column, std::size_t c) {
              Random after = ahead;
              const double u = after.uniform();
              const Verdict verdict = judge(node, column, weights[c], best, knows ? &u : nullptr);
              knows &= verdict != Verdict::unknown;
              if (verdict != Verdict::constant) ahead = after;
              return verdict;
            });
      }
    }
    for (std::size_t c = 0; c < count; ++c) {
      if constexpr (!std::is_integral_v<T>) {
        if (gathered_.reads_columns()) {
          // What was gathered is scored while it is in the cache.
          const auto [low, high] = gathered_.gather(columns[c], rows, n);
          draws[c] = Draw::constant;
          if (low < high) {
            cuts[c] = drawn_cut(columns[c], low, high, random);
            draws[c] = score_cut(node, codes(), cuts[c]);
            scored[c] = true;
          }
          continue;
        }
        if (gathered_.reads_long()) {
          if (may_compress(node, columns[c])) {
            const bool follows = c < n_next && gathered_.sparse(next[c]);
            const std::uint32_t following = follows ? next[c] : columns[c];
            draws[c] = cut_by_bits(node, columns[c], random, cuts[c], following);
            scored[c] = true;
            continue;
          }
          if (c < n_next) prefetch(next[c]);
          if constexpr (kEntriesPossible) {
            if (may_add_up(node, columns[c])) {
              draws[c] = cut_by_code(node, columns[c], rows, random, cuts[c]);
              scored[c] = true;
              continue;
            }
          }
          ranges[c] = gathered_.gather_side(columns[c], rows, n, c);
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
      if (low < high) cuts[c] = drawn_cut(columns[c], low, high, random);
    }
    for (std::size_t c = 0; c < count; ++c) {
      if (scored[c]) continue;
      if constexpr (kDensePossible) {
        if (draws[c] == Draw::scored && scoring_) {
          cuts[c].score = dense_.score(node, working_.column(columns[c]), limit_of(cuts[c]));
        }
      } else if constexpr (!std::is_integral_v<T>) {
        if (draws[c] == Draw::scored) {
          draws[c] = gathered_.sparse(columns[c])
                         ? score_entries(node, gathered_.entries_of_side(c), cuts[c])
                         : score_cut(node, gathered_.side(c), cuts[c]);
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
    const bool by_entries = !kDensePossible && may_use_entries(column);
    if constexpr (kDensePossible) {
      range = dense_.range(working_.column(column));
    } else if (by_entries) {
      range = gathered_.gather_side(column, rows, node.n_rows(), 0);
    } else {
      range = gather_range(column, rows, node.n_rows());
    }
    if (range.first == range.second) {
      if constexpr (std::is_integral_v<T>) return Draw::constant;
      return working_.collides(column) ? code_cut(node, column, rows, random, cut) : Draw::constant;
    }
    cut = drawn_cut(column, range.first, range.second, random);
    if constexpr (kDensePossible) return Draw::scored;
    if (by_entries) return score_entries(node, gathered_.entries_of_side(0), cut);
    return score_cut(node, codes(), cut);
  }

  // The same for one column of codes, with missing values or without; false where it is constant.
  bool random_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                  Split& best, std::uint64_t& n_scored) {
    Split cut;
    const bool by_entries = may_use_entries(column);
    const auto [low, high] = by_entries ? gathered_.gather_side(column, rows, node.n_rows(), 0)
                                        : gather_range(column, rows, node.n_rows());
    if (low == high) {
      if (std::is_integral_v<T> || !working_.collides(column)) return false;
      const Draw draw = code_cut(node, column, rows, random, cut);
      if (draw == Draw::scored) take_in(node, best, cut, n_scored);
      return draw != Draw::constant;
    }
    if constexpr (std::is_integral_v<T>) {
      if (table_.missing[column] != 0 && high == missing_code(column)) {
        random_cut_missing(node, column, codes(), low, random, best, n_scored);
        return true;
      }
    }
    cut = drawn_cut(column, low, high, random);
    const Draw draw = by_entries ? score_entries(node, gathered_.entries_of_side(0), cut)
                                 : score_cut(node, codes(), cut);
    if (draw == Draw::scored) take_in(node, best, cut, n_scored);
    return true;
  }

  bool best_cut(const Node& node, std::size_t column, const std::uint32_t* rows, Random& random,
                Split& best, std::uint64_t& n_scored) {
    if (gathered_.no_entry(column)) return false;
    if constexpr (kPlainPossible) {
      if (plain_ && table_.missing[column] == 0) {
        if (node.n_rows() <= FewRows<Node>::kMost) {
          return gathered_.with_reader(column, rows, node.n_rows(), [&](auto read) {
            return few_.find_best(node, column, read, random, best);
          });
        }
        if constexpr (std::is_same_v<T, std::uint8_t>) {
          if (working_.dense() &&
              bytes_.find_best(node, column, working_.column(column), rows, random, best)) {
            return true;
          }
        }
      }
    }
    if constexpr (kEntriesPossible && std::is_integral_v<T>) {
      if (may_use_entries(column)) {
        if (in_order_) {
          return sorted_.find_best_in_order(node, column, rows, working_.orders(),
                                            working_.frequent_code(column), random, best, n_scored);
        }
        if constexpr (Node::kClasses) {
          if (counts_bits_) {
            const Verdict verdict = judge(node, column, weigh_entries(column), best);
            if (decided(verdict)) return verdict == Verdict::beaten;
          }
        }
        if (sums_.suits(node, table_.n_codes(column))) {
          return sorted_.find_best_by_code(node, column, rows, table_.n_codes(column), gathered_,
                                           sums_, random, best, n_scored);
        }
        const NodeEntries<T>& entries = gathered_.entries(column, rows, node.n_rows());
        const auto [low, high] = entries.range();
        if (low == high) return false;
        sorted_.find_best(node, column, entries, low, high, random, best, n_scored);
        return true;
      }
    }
    const auto [low, high] = gather_range(column, rows, node.n_rows());
    if (low == high) return false;
    const bool some_missing = table_.missing[column] != 0 && high == missing_code(column);
    sorted_.find_best(node, column, codes(), low, high, some_missing, random, best, n_scored);
    return true;
  }

  // PERT: the cut lies at a uniform mixture of the values of two rows; false where it is forbidden.
  bool mixture_cut(const Node& node, std::size_t column, T a, T b, Random& random, Split& best) {
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
    if (!allowed(codes(), cut, node.n_rows())) return false;
    take(best, cut, 0.0);
    return true;
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
  static constexpr bool kPlainPossible =
      std::is_integral_v<T> && !Node::kClasses && Node::kWhole && !ScoresRows<Node>;

  // Sums of whole weights, and of moments with them, are exact: what the rows of the most frequent
  // code add up to is the rest of the node.
  static constexpr bool kEntriesPossible = CodeSums<T, Node>::kExact;

  // Whether the splits of a column are scored by its entries. Where any code is missing, or more
  // than the best split is asked for, all rows are looked at.
  bool may_use_entries(std::size_t column) const {
    return kEntriesPossible && by_entries_ && gathered_.sparse(column) &&
           table_.missing[column] == 0;
  }

  // Whether the columns of a node may be judged before their codes are read.
  bool may_judge(const Node& node) const {
    return node.n_groups() == 2 && scoring_ && by_entries_ && !settings_.tests_by_chi_square();
  }

  // What the entries of a sparse column at the node weigh in each of two classes.
  std::pair<Weight, Weight> weigh_entries(std::size_t column, std::size_t side = 0) {
    if constexpr (Node::kClasses) return class_bits_.weigh(gathered_.bits(column, side));
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
      if (!counts_bits_) return Verdict::unknown;
      if constexpr (!std::is_integral_v<T>) {
        if (working_.collides(column)) return Verdict::unknown;
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

  // Whether a random cut leaves all entries of a column at a node with others beyond it, whichever
  // their codes are.
  bool parts_all_entries(std::size_t column, double number) const {
    if constexpr (!std::is_integral_v<T>) {
      return rounded_mixture(working_.value(column, 0), working_.last_value(column), number) <
             working_.value(column, 1);
    }
    return false;
  }

  T missing_code(std::size_t column) const { return static_cast<T>(table_.n_values(column)); }

  bool large_enough(std::uint32_t n_first, std::uint32_t n) const {
    return n_first >= settings_.min_samples_leaf && n - n_first >= settings_.min_samples_leaf;
  }

  // Whether min_samples_leaf allows a cut of a gathered column.
  bool allowed(const T* codes, const Split& cut, std::uint32_t n) const {
    if (settings_.min_samples_leaf <= 1) return true;
    const T limit = limit_of(cut);
    std::uint32_t n_first = 0;
    for (std::uint32_t i = 0; i < n; ++i) n_first += codes[i] <= limit ? 1 : 0;
    return large_enough(n_first, n);
  }

  template <class Real>
  static Real mixture(Real a, Real b, double u) {
    const Real drawn = rounded_mixture(a, b, u);
    return drawn >= a && drawn < b ? drawn : a;
  }
  // Perhaps a or b by rounding; larger b do not make it smaller.
  template <class Real>
  static Real rounded_mixture(Real a, Real b, double u) {
    return static_cast<Real>(static_cast<double>(a) * (1.0 - u) + static_cast<double>(b) * u);
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
    table_codes_.resize(node.n_rows());
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
      table_codes_[i] = table_.code(column, rows[i]);
      low = std::min(low, table_codes_[i]);
      high = std::max(high, table_codes_[i]);
    }
    if (low == high) return Draw::constant;
    cut = drawn_cut(column, low, high, random);
    cut.by_code = true;
    const auto goes_first = [&](std::uint32_t code) { return code <= cut.low; };
    std::uint32_t n_first = 0;
    for (std::uint32_t i = 0; i < node.n_rows(); ++i)
      n_first += goes_first(table_codes_[i]) ? 1 : 0;
    if (!large_enough(n_first, node.n_rows())) return Draw::forbidden;
    cut.score = scoring_ ? score_of(node, table_codes_.data(), goes_first) : 0.0;
    return Draw::scored;
  }

  // Whether a random cut of a column is drawn and scored from the sums of its codes.
  bool may_add_up(const Node& node, std::uint32_t column) const {
    return uses_sums_ && may_use_entries(column) && sums_.suits(node, table_.n_codes(column)) &&
           !working_.collides(column);
  }

  // Whether it is from the bits of its entries, in nodes that are sought among all rows.
  bool may_compress(const Node& node, std::uint32_t column) const {
    if constexpr (!Node::kClasses) return false;
    return kExtractsBits && counts_bits_ && node.unit_weights() && may_use_entries(column) &&
           !working_.collides(column) && working_.byte_entries(column).codes != nullptr;
  }
  // Such a cut, with its score. Asks for the entries of a column that may follow in passing.
  Draw cut_by_bits(const Node& node, std::uint32_t column, Random& random, Split& cut,
                   std::uint32_t following) {
    if constexpr (Node::kClasses && kEntriesPossible) {
      const ByteEntries& entries = working_.byte_entries(column);
      class_bits_.take_entries(entries, working_.byte_entries(following));
      const auto [of_first, of_second] = class_bits_.count();
      const Weight of_both = of_first + of_second;
      const auto frequent = static_cast<std::uint8_t>(entries.frequent);
      std::pair<std::uint8_t, std::uint8_t> range{frequent, frequent};
      if (of_both > Weight{0}) range = class_bits_.range();
      const bool all_rows = of_both == node.whole();
      const std::uint8_t low = all_rows ? range.first : std::min(range.first, frequent);
      const std::uint8_t high = all_rows ? range.second : std::max(range.second, frequent);
      if (low == high) return Draw::constant;
      cut = drawn_cut(column, working_.value(column, low), working_.value(column, high), random);
      const auto last = static_cast<std::uint8_t>(working_.code_up_to(column, limit_of(cut)));
      auto [first, second] = class_bits_.count_up_to(last);
      if (frequent <= last) {
        first += node.totals()[0] - of_first;
        second += node.totals()[1] - of_second;
      }
      if (!large_enough(static_cast<std::uint32_t>(first + second), node.n_rows())) {
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
    const std::uint32_t n_codes = table_.n_codes(column);
    sums_.add(node, column, rows, n_codes, gathered_);
    std::uint32_t low = 0;
    std::uint32_t high = n_codes - 1;
    while (!sums_.occurs(low)) ++low;
    while (!sums_.occurs(high)) --high;
    typename CodeSums<T, Node>::Sum first;
    std::uint32_t last = low;
    if (low < high) {
      cut = drawn_cut(column, working_.value(column, low), working_.value(column, high), random);
      last = working_.code_up_to(column, limit_of(cut));
    }
    for (std::uint32_t code = low; code <= high; ++code) {
      const auto sum = sums_.take(code);
      if (code <= last) first += sum;
    }
    if (low == high) return Draw::constant;
    if (!large_enough(first.n_rows(), node.n_rows())) return Draw::forbidden;
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

  // Scores a drawn cut of a sparse column: the rows that are on the other side than those of the
  // most frequent code, and the rest.
  Draw score_entries(const Node& node, const typename Gathered<T>::Entries& entries, Split& cut) {
    if constexpr (kEntriesPossible) {
      const auto last = working_.code_up_to(static_cast<std::size_t>(cut.feature), limit_of(cut));
      const bool rest_first = entries.frequent <= last;
      const auto other_side = [&](std::uint32_t e) {
        return (entries.codes[e] <= last) != rest_first;
      };
      if (settings_.min_samples_leaf > 1) {
        std::uint32_t count = 0;
        for (std::uint32_t e = 0; e < entries.size; ++e) count += other_side(e) ? 1 : 0;
        if (!large_enough(count, node.n_rows())) return Draw::forbidden;
      }
      cut.score = 0.0;
      if (!scoring_) return Draw::scored;
      if constexpr (Node::kClasses) {
        const auto& totals = node.totals();
        const auto score = [&](auto&& count_of) {
          cut.score = score_of_counts(node, [&](std::size_t k) {
            return rest_first ? totals[k] - count_of(k) : count_of(k);
          });
        };
        if (node.n_groups() == 2) {
          const auto count = [&](auto&& weight_of) {
            const std::uint32_t second = node.starts()[1];
            Weight of_first{0};
            Weight of_both{0};
            for (std::uint32_t e = 0; e < entries.size; ++e) {
              const Weight weight = other_side(e) ? weight_of(entries.at[e]) : Weight{0};
              of_both += weight;
              of_first += entries.at[e] < second ? weight : Weight{0};
            }
            score([&](std::size_t k) { return k == 0 ? of_first : of_both - of_first; });
          };
          if (node.unit_weights()) {
            count([](std::uint32_t) { return Weight{1}; });
          } else {
            count([weights = node.weights()](std::uint32_t i) { return weights[i]; });
          }
        } else {
          counts_.assign(totals.size(), Weight{0});
          for (std::uint32_t e = 0; e < entries.size; ++e) {
            const std::uint32_t i = entries.at[e];
            counts_[node.groups()[i]] += other_side(e) ? node.weights()[i] : Weight{0};
          }
          score([&](std::size_t k) { return counts_[k]; });
        }
      } else {
        Weight first{0};
        double sum = 0.0;
        for (std::uint32_t e = 0; e < entries.size; ++e) {
          const std::uint32_t i = entries.at[e];
          const bool in = other_side(e);
          first += in ? node.weights()[i] : Weight{0};
          sum += in ? node.moments()[i] : 0.0;
        }
        if (rest_first) {
          first = node.whole() - first;
          sum = node.sum() - sum;
        }
        cut.score = score_of_moments(node, first, sum);
      }
    }
    return Draw::scored;
  }

  // Scores a drawn cut of a gathered column.
  Draw score_cut(const Node& node, const T* codes, Split& cut) {
    const std::uint32_t n = node.n_rows();
    const T limit = limit_of(cut);
    if (!allowed(codes, cut, n)) return Draw::forbidden;
    cut.score = 0.0;
    if (!scoring_) return Draw::scored;
    if constexpr (Node::kClasses) {
      if (!node.unit_weights()) {
        cut.score = score_of(node, codes, [limit](T code) { return code <= limit; });
        return Draw::scored;
      }
      const auto& starts = node.starts();
      bits_up_to(codes, limit, n, words_.data());
      cut.score = score_of_counts(node, [&](std::size_t k) {
        return static_cast<Weight>(count_bits(words_.data(), starts[k], starts[k + 1]));
      });
    } else if constexpr (std::is_same_v<T, float> && Node::kWhole) {
      const auto [first, sum] = sums_up_to(codes, limit, node.weights(), node.moments(), n);
      cut.score = score_of_moments(node, first, sum);
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

  // The score of a split whose child 0 has the weight count_of(k) of each class k.
  template <class Count>
  static double score_of_counts(const Node& node, Count&& count_of) {
    return node.with_terms([&](auto terms) { return score_by_terms(node, terms, count_of); });
  }
  template <class Terms, class Count>
  [[gnu::always_inline]] static double score_by_terms(const Node& node, Terms terms,
                                                      Count&& count_of) {
    double first_terms = 0.0;
    double second_terms = 0.0;
    Weight first{0};
    for (std::size_t k = 0; k < node.totals().size(); ++k) {
      const Weight count = count_of(k);
      first += count;
      first_terms += terms.term(count);
      second_terms += terms.term(node.totals()[k] - count);
    }
    return terms.join(first_terms, first) + terms.join(second_terms, node.whole() - first);
  }

  // The same of one whose child 0 has this weight and this sum of moments.
  static double score_of_moments(const Node& node, Weight first, double sum) {
    return node.join(sum, first) + node.join(node.sum() - sum, node.whole() - first);
  }

  // Without a branch for a row's side: cuts are as good as random.
  template <class Code, class GoesFirst>
  double score_of(const Node& node, const Code* codes, GoesFirst&& goes_first) const {
    if constexpr (ScoresRows<Node>) {
      return node.score_rows([&](std::uint32_t i) { return goes_first(codes[i]); });
    } else if constexpr (Node::kClasses) {
      return score_of_counts(node, [&](std::size_t k) {
        Weight count{0};
        for (std::uint32_t i = node.starts()[k]; i < node.starts()[k + 1]; ++i) {
          count += goes_first(codes[i]) ? node.weights()[i] : Weight{0};
        }
        return count;
      });
    } else {
      Weight first{0};
      double sum = 0.0;
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
        const bool in = goes_first(codes[i]);
        first += in ? node.weights()[i] : Weight{0};
        sum += in ? node.moments()[i] : 0.0;
      }
      return score_of_moments(node, first, sum);
    }
  }

  bool scoring_;
  const Table& table_;
  const Settings& settings_;
  const Working<T>& working_;
  bool use_dense_ = false;
  bool plain_ = false;  // every cut of best cuts is allowed, and no more is asked than the best
  bool by_entries_ = false;      // sparse columns may be looked at by their entries alone
  bool uses_sums_ = false;       // and scored from the sums of their codes
  bool orders_suffice_ = false;  // and from the order of their entries, in nodes of many rows
  bool in_order_ = false;        // at the node at hand
  Gathered<T> gathered_;
  std::vector<std::uint32_t> table_codes_;
  std::vector<Weight> counts_;
  std::vector<std::uint64_t> words_;
  CodeSums<T, Node> sums_;
  ClassBits<Node> class_bits_;
  bool counts_bits_ = false;  // at the node at hand: class_bits_ has it
  SortedCuts<T, Node> sorted_;
  FewRows<Node> few_;
  ByteCuts<Node> bytes_;
  DenseRows dense_;
};

}  // namespace duramen
