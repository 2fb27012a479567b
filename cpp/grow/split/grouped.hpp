// Splits that look at the codes of a node one by one: a child for every code (multiway), one code
// against the rest, any bipartition, and cuts drawn among the ranks that occur.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/split/best_splits.hpp"
#include "grow/split/candidate.hpp"
#include "random.hpp"

namespace duramen {

template <class Node>
class GroupedSplits {
 public:
  using Weight = typename Node::Weight;

  GroupedSplits(const Problem& problem, bool scoring)
      : scoring_(scoring),
        settings_(problem.settings),
        table_(problem.table),
        group_(problem.table.n_rows) {}

  // Every split goes into a list from now on.
  void collect_into(BestSplits& several) { several_ = &several; }

  // Groups the rows of a node by code, groups by ascending code; low and high are the least and the
  // largest code, and differ.
  template <class T>
  void load(const T* codes, std::uint32_t n, std::uint32_t low, std::uint32_t high,
            const Node& node) {
    n_ = n;
    node_ = &node;
    described_ = false;
    const std::uint32_t range = high - low + 1;
    if (range == 2) {
      std::uint32_t n_high = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        group_[i] = codes[i] - low;
        n_high += group_[i];
      }
      present_ = {low, high};
      sizes_ = {n - n_high, n_high};
      return;
    }
    present_.clear();
    sizes_.clear();
    if (slot_.size() < range) slot_.resize(range, 0);
    if (range <= kFewCodes || range <= n) {
      for (std::uint32_t i = 0; i < n; ++i) ++slot_[codes[i] - low];
      for (std::uint32_t c = 0; c < range; ++c) {
        if (slot_[c] == 0) continue;
        present_.push_back(low + c);
        sizes_.push_back(slot_[c]);
        slot_[c] = static_cast<std::uint32_t>(present_.size() - 1);
      }
    } else {
      for (std::uint32_t i = 0; i < n; ++i) {
        if (slot_[codes[i] - low]++ == 0) present_.push_back(codes[i]);
      }
      std::sort(present_.begin(), present_.end());
      for (std::uint32_t g = 0; g < present_.size(); ++g) {
        sizes_.push_back(slot_[present_[g] - low]);
        slot_[present_[g] - low] = g;
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) group_[i] = slot_[codes[i] - low];
    for (const std::uint32_t code : present_) slot_[code - low] = 0;
  }

  void multiway(const Node& node, std::size_t column, Split& best, std::uint64_t& n_scored) {
    last_score_ = -std::numeric_limits<double>::infinity();
    for (const std::uint32_t size : sizes_) {
      if (size < settings_.min_samples_leaf) return;
    }
    ++n_scored;
    double score = 0.0;
    if (scoring_) {
      describe();
      for (std::size_t g = 0; g < sizes_.size(); ++g) score += score_of(stats(g), weights_[g]);
    }
    last_score_ = score;
    Split& split = start(column, Family::multiway);
    offer(node, best, split, score);
  }
  // Rank of the code of every row among the codes of the node, and number of rows of each.
  const std::vector<std::uint32_t>& groups() const { return group_; }
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }

  // The score of the latest multiway split, whether it was the best or not.
  double last_score() const { return last_score_; }

  void one_vs_rest(const Node& node, std::size_t column, bool all, Random& random, Split& best,
                   std::uint64_t& n_scored) {
    describe();
    // With two codes, both splits of one code against the rest are equal.
    const std::uint32_t count = static_cast<std::uint32_t>(sizes_.size());
    const std::uint32_t ways = count == 2 ? 1 : count;
    const std::uint32_t from = all ? 0 : random.below(ways);
    const std::uint32_t to = all ? ways : from + 1;
    Choice choice;
    for (std::uint32_t g = from; g < to; ++g) {
      if (!large_enough(sizes_[g])) continue;
      ++n_scored;
      double score = 0.0;
      if constexpr (ScoresRows<Node>) {
        score = score_rows([&](std::uint32_t of) { return of == g; });
      } else {
        score = split_score(stats(g), weights_[g]);
      }
      if (!several_) {
        choice.consider(node, g, score, random);
      } else if (several_->admits(node, score)) {
        Split& split = start(column, Family::one_vs_rest);
        split.low = present_[g];
        split.score = score;
        several_->take(node, split, random);
      }
    }
    if (!choice.found()) return;
    Split& split = start(column, Family::one_vs_rest);
    split.low = present_[choice.at];
    offer(node, best, split, choice.score);
  }

  void any(const Node& node, std::size_t column, bool all, Random& random, Split& best,
           std::uint64_t& n_scored) {
    describe();
    if (!all) {
      random_bipartition(random);
      offer_sides(node, column, best, n_scored);
    } else if (Node::kClasses && node_groups(node) > 2 &&
               present_.size() <= kExhaustiveCategories) {
      every_bipartition(node, column, random, best, n_scored);
    } else {
      sorted_bipartitions(node, column, random, best, n_scored);
    }
  }

  // Ordinal columns: uniform among the cuts between codes that occur; missing on the better side.
  void random_rank_cut(const Node& node, std::size_t column, bool has_missing, Random& random,
                       Split& best, std::uint64_t& n_scored) {
    describe();
    const std::uint32_t missing = table_.n_values(column);
    const std::uint32_t count = static_cast<std::uint32_t>(present_.size());
    const bool some_missing = has_missing && present_.back() == missing;
    const std::uint32_t seen = count - (some_missing ? 1 : 0);
    const std::uint32_t cut = seen == 1 ? 0 : random.below(seen - 1);
    Choice choice;
    for (std::uint32_t side = 0; side < (some_missing && seen > 1 ? 2U : 1U); ++side) {
      side_.assign(count, 0);
      for (std::uint32_t g = 0; g <= cut; ++g) side_[g] = 1;
      if (side == 1) side_[count - 1] = 1;
      const Sides sides = add_up();
      if (!large_enough(sides.rows)) continue;
      ++n_scored;
      choice.consider(node, side, sides.score, random);
    }
    if (!choice.found()) return;
    Split& split = start(column, Family::ordered);
    split.low = present_[cut];
    split.high = present_[cut + 1];
    split.missing_first = choice.at == 1;
    offer(node, best, split, choice.score);
  }

  // PERT on a nominal column: a split with code a in child 0 and code b in child 1; false where it
  // is forbidden.
  bool separating(const Node& node, std::size_t column, Family family, std::uint32_t a,
                  std::uint32_t b, Random& random, Split& best) {
    Split& split = start(column, family);
    std::uint32_t n_first = 0;
    bool allowed = true;
    if (family == Family::one_vs_rest) split.low = random.below(2) == 0 ? a : b;
    for (std::size_t g = 0; g < present_.size(); ++g) {
      const std::uint32_t code = present_[g];
      bool first = code == split.low;
      if (family == Family::any) {
        const bool coin = random.below(2) == 1;
        first = code == a || (code != b && coin);
        if (first) first_codes_.push_back(code);
      }
      n_first += first ? sizes_[g] : 0;
      allowed = allowed && sizes_[g] >= settings_.min_samples_leaf;
    }
    if (family != Family::multiway) allowed = large_enough(n_first);
    if (!allowed) return false;
    best.feature = -1;
    offer(node, best, split, 0.0);
    return true;
  }

  // Sorts the rows of a node by group, stably, and appends the ends of the groups to bounds.
  void partition(std::uint32_t* rows, std::uint32_t n, std::uint32_t start,
                 std::vector<std::uint32_t>& spare, std::vector<std::uint32_t>& bounds) {
    at_.assign(sizes_.size(), 0);
    for (std::size_t g = 1; g < sizes_.size(); ++g) at_[g] = at_[g - 1] + sizes_[g - 1];
    for (std::size_t g = 0; g < sizes_.size(); ++g) bounds.push_back(start + at_[g] + sizes_[g]);
    for (std::uint32_t i = 0; i < n; ++i) spare[at_[group_[i]]++] = rows[i];
    std::copy_n(spare.data(), n, rows);
  }

  // The codes of child 0 of the latest accepted bipartition.
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }
  // Puts back the codes of one that was accepted before.
  void choose(const std::vector<std::uint32_t>& first_codes) { chosen_ = first_codes; }

  // A set of codes to test membership of.
  void mark(const std::vector<std::uint32_t>& codes, std::uint32_t n_codes) {
    marks_.assign(n_codes, 0);
    for (const std::uint32_t code : codes) marks_[code] = 1;
  }
  bool marked(std::uint32_t code) const { return marks_[code] != 0; }

 private:
  static constexpr std::uint32_t kFewCodes = 16;

  struct Sides {
    std::uint32_t rows = 0;
    double score = 0.0;
  };

  static std::size_t node_groups(const Node& node) {
    if constexpr (Node::kClasses) {
      return node.n_groups();
    } else {
      return 1;
    }
  }
  std::size_t width() const { return node_groups(*node_); }

  bool large_enough(std::uint32_t n_first) const {
    return n_first >= settings_.min_samples_leaf && n_ - n_first >= settings_.min_samples_leaf;
  }

  Split& start(std::size_t column, Family family) {
    split_ = Split{};
    first_codes_.clear();
    split_.feature = static_cast<std::int64_t>(column);
    split_.family = family;
    return split_;
  }
  void offer(const Node& node, Split& best, Split& split, double score) {
    if (best.found() && !(score > best.score + node.tolerance(best.score))) return;
    split.score = score;
    best = split;
    if (split.family == Family::any) chosen_.swap(first_codes_);
  }

  // The target statistics of every group.
  void describe() {
    if (described_) return;
    described_ = true;
    const std::size_t wide = width();
    weights_.assign(sizes_.size(), Weight{0});
    if constexpr (Node::kClasses) {
      counts_.assign(sizes_.size() * wide, Weight{0});
      for (std::uint32_t i = 0; i < n_; ++i) {
        counts_[group_[i] * wide + node_->groups()[i]] += node_->weights()[i];
        weights_[group_[i]] += node_->weights()[i];
      }
    } else {
      sums_.assign(sizes_.size(), 0.0);
      for (std::uint32_t i = 0; i < n_; ++i) {
        sums_[group_[i]] += node_->moments()[i];
        weights_[group_[i]] += node_->weights()[i];
      }
    }
  }

  auto stats(std::size_t g) const {
    if constexpr (Node::kClasses) {
      return counts_.data() + g * width();
    } else {
      return sums_.data() + g;
    }
  }
  // The score of one child from its statistics.
  template <class Stat>
  double score_of(const Stat* stat, Weight weight) const {
    if constexpr (Node::kClasses) {
      double terms = 0.0;
      for (std::size_t k = 0; k < width(); ++k) terms += node_->term(stat[k]);
      return node_->join(terms, weight);
    } else {
      return node_->join(*stat, weight);
    }
  }
  // The score of a bipartition from the statistics of its first child.
  template <class Stat>
  double split_score(const Stat* stat, Weight weight) const {
    const Weight other = node_->whole() - weight;
    if constexpr (Node::kClasses) {
      double first = 0.0;
      double second = 0.0;
      for (std::size_t k = 0; k < width(); ++k) {
        first += node_->term(stat[k]);
        second += node_->term(node_->totals()[k] - stat[k]);
      }
      return node_->join(first, weight) + node_->join(second, other);
    } else {
      return node_->join(*stat, weight) + node_->join(node_->sum() - *stat, other);
    }
  }

  // Sums over the groups with side 1.
  Sides add_up() {
    Sides sides;
    Weight weight{0};
    if constexpr (Node::kClasses) {
      const std::size_t wide = width();
      first_.assign(wide, Weight{0});
      for (std::size_t g = 0; g < side_.size(); ++g) {
        if (!side_[g]) continue;
        sides.rows += sizes_[g];
        weight += weights_[g];
        for (std::size_t k = 0; k < wide; ++k) first_[k] += counts_[g * wide + k];
      }
      sides.score = split_score(first_.data(), weight);
    } else {
      double sum = 0.0;
      for (std::size_t g = 0; g < side_.size(); ++g) {
        if (!side_[g]) continue;
        sides.rows += sizes_[g];
        weight += weights_[g];
        sum += sums_[g];
      }
      if constexpr (ScoresRows<Node>) {
        sides.score = score_rows([this](std::uint32_t of) { return side_[of] != 0; });
      } else {
        sides.score = split_score(&sum, weight);
      }
    }
    return sides;
  }

  // The score of a bipartition from the groups of its first child.
  template <class GoesFirst>
  double score_rows(GoesFirst&& goes_first) const {
    return node_->score_rows([&](std::uint32_t i) { return goes_first(group_[i]); });
  }

  // Uniform among the bipartitions: fair coins until both sides have a code.
  void random_bipartition(Random& random) {
    side_.assign(present_.size(), 0);
    std::size_t n_first = 0;
    while (n_first == 0 || n_first == side_.size()) {
      n_first = 0;
      std::uint64_t bits = 0;
      for (std::size_t g = 0; g < side_.size(); ++g) {
        if (g % 64 == 0) bits = random.next();
        side_[g] = static_cast<std::uint8_t>(bits & 1U);
        bits >>= 1U;
        n_first += side_[g];
      }
    }
  }

  // The bipartition whose first child has the groups with side 1 goes into the list.
  [[gnu::noinline]] void collect_sides(const Node& node, std::size_t column, double score,
                                       Random& random) {
    if (!several_->admits(node, score)) return;
    Split& split = start(column, Family::any);
    split.score = score;
    for (std::size_t g = 0; g < side_.size(); ++g) {
      if (side_[g]) first_codes_.push_back(present_[g]);
    }
    several_->take(node, split, random, first_codes_);
  }

  // False where min_samples_leaf forbids it.
  bool offer_sides(const Node& node, std::size_t column, Split& best, std::uint64_t& n_scored) {
    const Sides sides = add_up();
    if (!large_enough(sides.rows)) return false;
    ++n_scored;
    Split& split = start(column, Family::any);
    for (std::size_t g = 0; g < side_.size(); ++g) {
      if (side_[g]) first_codes_.push_back(present_[g]);
    }
    offer(node, best, split, sides.score);
    return true;
  }

  // Of every group, the place in the order whose cuts are tried: its mean target, or the fraction
  // of the first of two classes.
  void place_groups() {
    place_.resize(sizes_.size());
    for (std::size_t g = 0; g < sizes_.size(); ++g) {
      if constexpr (Node::kClasses) {
        place_[g] = static_cast<double>(counts_[g * width()]) / static_cast<double>(weights_[g]);
      } else {
        place_[g] = sums_[g] / static_cast<double>(weights_[g]);
      }
    }
    if constexpr (Node::kClasses) {
      if (width() > 2) place_by_component();
    }
  }

  // More than two classes: the first principal component of the class fractions of the groups,
  // which are weighted by their rows (Coppersmith, Hong, Hosking 1999). Power iteration, with all
  // sums in the order of groups and classes: the same bits for any number of threads.
  [[gnu::noinline]] void place_by_component()
    requires(Node::kClasses)
  {
    const std::size_t wide = width();
    const double whole = static_cast<double>(node_->whole());
    covariance_.assign(wide * wide, 0.0);
    deviation_.resize(wide);
    const auto deviate = [&](std::size_t g) {
      for (std::size_t k = 0; k < wide; ++k) {
        deviation_[k] =
            static_cast<double>(counts_[g * wide + k]) / static_cast<double>(weights_[g]) -
            static_cast<double>(node_->totals()[k]) / whole;
      }
    };
    for (std::size_t g = 0; g < sizes_.size(); ++g) {
      deviate(g);
      const double fraction = static_cast<double>(weights_[g]) / whole;
      for (std::size_t k = 0; k < wide; ++k) {
        for (std::size_t l = 0; l < wide; ++l) {
          covariance_[k * wide + l] += fraction * deviation_[k] * deviation_[l];
        }
      }
    }
    // It starts with entries that no eigenvector of a covariance of fractions is orthogonal to in
    // practice: multiples of the golden ratio, less their whole parts.
    constexpr double kGolden = 0.6180339887498949;
    constexpr int kMostRounds =
        300;  // then two components are nearly as good, and so is any mixture
    constexpr double kSettled = 1e-9;
    component_.resize(wide);
    product_.resize(wide);
    for (std::size_t k = 0; k < wide; ++k) {
      const double multiple = kGolden * static_cast<double>(k + 1);
      component_[k] = multiple - std::floor(multiple);
    }
    for (int round = 0; round < kMostRounds; ++round) {
      std::size_t largest = 0;
      for (std::size_t k = 0; k < wide; ++k) {
        product_[k] = 0.0;
        for (std::size_t l = 0; l < wide; ++l) {
          product_[k] += covariance_[k * wide + l] * component_[l];
        }
        if (std::fabs(product_[k]) > std::fabs(product_[largest])) largest = k;
      }
      const double length = product_[largest];
      if (length == 0.0) break;  // all groups have the same fractions
      double change = 0.0;
      for (std::size_t k = 0; k < wide; ++k) {
        const double entry = product_[k] / length;
        change = std::max(change, std::fabs(entry - component_[k]));
        component_[k] = entry;
      }
      if (change < kSettled) break;
    }
    for (std::size_t g = 0; g < sizes_.size(); ++g) {
      deviate(g);
      place_[g] = 0.0;
      for (std::size_t k = 0; k < wide; ++k) place_[g] += component_[k] * deviation_[k];
    }
  }

  // Cuts of the groups in the order of their places: the best bipartition is one of them for two
  // classes and for a mean.
  void sorted_bipartitions(const Node& node, std::size_t column, Random& random, Split& best,
                           std::uint64_t& n_scored) {
    const std::size_t count = present_.size();
    std::vector<std::uint32_t>& order = at_;
    order.resize(count);
    std::iota(order.begin(), order.end(), 0U);
    place_groups();
    std::stable_sort(order.begin(), order.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return place_[a] < place_[b]; });
    Choice choice;
    side_.assign(count, 0);
    std::uint32_t rows = 0;
    Weight weight{0};
    double sum = 0.0;
    if constexpr (Node::kClasses) first_.assign(width(), Weight{0});
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
      const std::uint32_t g = order[i];
      rows += sizes_[g];
      weight += weights_[g];
      if constexpr (Node::kClasses) {
        for (std::size_t k = 0; k < width(); ++k) first_[k] += counts_[g * width() + k];
      } else {
        sum += sums_[g];
      }
      side_[g] = 1;
      if (!large_enough(rows)) continue;
      ++n_scored;
      double score = 0.0;
      if constexpr (ScoresRows<Node>) {
        score = score_rows([this](std::uint32_t of) { return side_[of] != 0; });
      } else if constexpr (Node::kClasses) {
        score = split_score(first_.data(), weight);
      } else {
        score = split_score(&sum, weight);
      }
      if (several_) {
        collect_sides(node, column, score, random);
      } else {
        choice.consider(node, i, score, random);
      }
    }
    if (!choice.found()) return;
    if (count > 2 && !node.gains(choice.score)) {
      // All groups have equal means or fractions, so that all bipartitions are equally good.
      constexpr int kTries = 64;  // min_samples_leaf may forbid most
      for (int tries = 0; tries < kTries; ++tries) {
        random_bipartition(random);
        if (offer_sides(node, column, best, n_scored)) return;
      }
    }
    Split& split = start(column, Family::any);
    for (std::uint32_t i = 0; i <= choice.at; ++i) first_codes_.push_back(present_[order[i]]);
    std::sort(first_codes_.begin(), first_codes_.end());
    offer(node, best, split, choice.score);
  }

  // All 2^(m-1) - 1 of them.
  void every_bipartition(const Node& node, std::size_t column, Random& random, Split& best,
                         std::uint64_t& n_scored) {
    const std::uint32_t count = static_cast<std::uint32_t>(present_.size());
    Choice choice;
    side_.assign(count, 0);
    for (std::uint32_t set = 1; set < (1U << (count - 1)); ++set) {
      for (std::uint32_t g = 0; g + 1 < count; ++g) side_[g] = (set >> g) & 1U;
      const Sides sides = add_up();
      if (!large_enough(sides.rows)) continue;
      ++n_scored;
      if (several_) {
        collect_sides(node, column, sides.score, random);
      } else {
        choice.consider(node, set, sides.score, random);
      }
    }
    if (!choice.found()) return;
    Split& split = start(column, Family::any);
    for (std::uint32_t g = 0; g + 1 < count; ++g) {
      if ((choice.at >> g) & 1U) first_codes_.push_back(present_[g]);
    }
    offer(node, best, split, choice.score);
  }

  bool scoring_;
  BestSplits* several_ = nullptr;  // every split goes into it, where there is one
  const Settings& settings_;
  const Table& table_;
  const Node* node_ = nullptr;
  std::uint32_t n_ = 0;
  bool described_ = false;
  double last_score_ = 0.0;
  std::vector<std::uint32_t> group_, slot_, present_, sizes_, at_, first_codes_, chosen_;
  std::vector<std::uint8_t> side_, marks_;
  std::vector<Weight> weights_, counts_, first_;
  std::vector<double> sums_, place_, covariance_, deviation_, component_, product_;
  Split split_;
};

}  // namespace duramen
