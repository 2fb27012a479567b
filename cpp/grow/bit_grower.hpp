// Grows trees with random cuts on small tables, where a node is a set of rows, a bit each: no loop
// depends on the size of the node. The trees are those that Grower would grow.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/bag.hpp"
#include "grow/node.hpp"
#include "grow/problem.hpp"
#include "grow/recorder.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/drawn_cuts.hpp"
#include "grow/tree_grower.hpp"
#include "grow/working.hpp"
#include "lanes.hpp"

namespace duramen {

// kWords: words of 64 rows.
// Terms: terms of the criterion (criteria/criteria.hpp).
template <std::size_t kWords, class Terms>
class BitGrower final : public TreeGrower {
 public:
  using Weight = std::int32_t;
  using Node = ClassNode<Weight>;

  BitGrower(const Problem& problem, const Working<std::uint8_t>& working)
      : problem_(problem),
        settings_(problem.settings),
        working_(working),
        pool_(problem.table.n_columns),
        node_(problem),
        terms_(problem.logs),
        cuts_(problem.table, working),
        recorder_(problem, nullptr),
        class_rows_(problem.n_classes),
        counts_(problem.n_classes) {
    for (std::size_t row = 0; row < problem.table.n_rows; ++row) {
      set(class_rows_[problem.classes[row]], row);
    }
  }

  bool grow(std::uint64_t tree, Trees& out) override {
    recorder_.start_tree(out);
    key_ = Random::key(problem_.seed, tree);
    draw_bag(settings_, problem_.table.n_rows, problem_.seed, tree, multiplicity_);
    universe_ = pool_.start_tree(settings_, problem_.seed, tree);
    Range root{};
    for (std::size_t row = 0; row < multiplicity_.size(); ++row) {
      if (multiplicity_[row] > 0) set(root.rows, row);
    }
    recorder_.add_nodes(1);
    stack_.clear();
    stack_.push_back(root);
    while (!stack_.empty()) {
      if (problem_.stopped()) return false;
      const Range range = stack_.back();
      stack_.pop_back();
      grow_node(range);
    }
    recorder_.finish_tree();
    return true;
  }

 private:
  static_assert(64 * kWords <= kDenseRows);
  static constexpr std::size_t kSide = 4;
  using Bits = std::array<std::uint64_t, kWords>;

  struct Range {
    Bits rows;
    std::uint32_t depth, id, n_constant;
  };
  struct Candidate {
    Split cut;
    Bits first;  // rows of child 0
    bool varies;
  };

  static void set(Bits& bits, std::size_t row) { bits[row / 64] |= std::uint64_t{1} << (row % 64); }
  static std::uint32_t size(const Bits& bits) {
    int count = 0;
    for (const std::uint64_t word : bits) count += std::popcount(word);
    return static_cast<std::uint32_t>(count);
  }
  static Bits both(const Bits& a, const Bits& b) {
    Bits result;
    for (std::size_t w = 0; w < kWords; ++w) result[w] = a[w] & b[w];
    return result;
  }

  void grow_node(const Range& range) {
    std::size_t n_seen = 0;  // classes
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      counts_[k] = size(both(range.rows, class_rows_[k]));
      n_seen += counts_[k] > 0 ? 1 : 0;
    }
    if (n_seen == 1) {
      finish_pure(range);
      return;
    }
    node_.load_counts(counts_);
    NodeRecord& record = recorder_[range.id];
    record.rows = node_.n_rows();
    record.impurity = node_.impurity();
    const bool may_split = node_.n_rows() >= settings_.min_samples_split &&
                           (settings_.max_depth == 0 || range.depth < settings_.max_depth);
    std::uint32_t n_constant = range.n_constant;
    if (!may_split || !find_split(range, n_constant)) {
      node_.append_leaf_values(recorder_.add_leaf(range.id));
      return;
    }
    const std::uint32_t n_first = size(best_.first);
    const std::uint32_t first = recorder_.add_nodes(2);
    NodeRecord& inner = recorder_[range.id];
    inner.feature = static_cast<std::int32_t>(best_.cut.feature);
    inner.child = static_cast<std::int32_t>(first);
    if (2 * n_first >= node_.n_rows()) inner.split = kFirstHeavier | kMissingFirst;
    recorder_.record_ordered(range.id, best_.cut);
    Bits second;
    for (std::size_t w = 0; w < kWords; ++w) second[w] = range.rows[w] & ~best_.first[w];
    stack_.push_back({second, range.depth + 1, first + 1, n_constant});
    stack_.push_back({best_.first, range.depth + 1, first, n_constant});
  }

  void finish_pure(const Range& range) {
    recorder_[range.id].rows = size(range.rows);
    std::vector<double>& values = recorder_.add_leaf(range.id);
    for (const std::uint32_t count : counts_) values.push_back(count > 0 ? 1.0 : 0.0);
  }

  bool find_split(const Range& range, std::uint32_t& n_constant) {
    Random random(key_, range.id, Purpose::node);
    expand_bits(range.rows.data(), working_.stride(), mask_.data());
    best_.cut.feature = -1;
    best_.cut.score = -std::numeric_limits<double>::infinity();
    std::size_t low = range.n_constant;
    if (settings_.max_features == 1) {
      while (low < universe_) {
        const std::size_t at = low + random.below(static_cast<std::uint32_t>(universe_ - low));
        const std::uint32_t column = pool_[at];
        working_.prefetch(column);
        const auto [least, most] =
            masked_range(working_.column(column), mask_.data(), working_.stride());
        if (least < most) {
          best_.cut = cuts_.draw(column, least, most, random);
          divide(range, best_);
          break;
        }
        pool_.swap(at, low++);
      }
      n_constant = static_cast<std::uint32_t>(low);
      return best_.cut.found();
    }
    const double bound = node_.largest_score(settings_);
    std::size_t high = universe_;
    std::uint32_t wanted = settings_.max_features;
    Candidate candidates[kSide];
    while (wanted > 0 && low < high && best_.cut.score < bound) {
      std::uint32_t columns[kSide];
      const std::size_t count = std::min({kSide, high - low, std::size_t{wanted}});
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t at = low + random.below(static_cast<std::uint32_t>(high - low));
        columns[c] = pool_[at];
        pool_.swap(at, --high);
        working_.prefetch(columns[c]);
      }
      draw_side_by_side(range, columns, count, random, candidates);
      pool_.set_constants_aside(low, high, count,
                                [&](std::size_t c) { return !candidates[c].varies; });
      for (std::size_t c = 0; c < count && best_.cut.score < bound; ++c) {
        if (!candidates[c].varies) continue;
        --wanted;
        const double score = candidates[c].cut.score;
        const Split& best = best_.cut;
        if (!best.found() || score > best.score + node_.tolerance(best.score)) {
          best_ = candidates[c];
        }
      }
    }
    n_constant = static_cast<std::uint32_t>(low);
    return best_.cut.found();
  }

  void draw_side_by_side(const Range& range, const std::uint32_t* columns, std::size_t count,
                         Random& random, Candidate* candidates) {
    std::pair<std::uint8_t, std::uint8_t> ranges[kSide];
    for (std::size_t c = 0; c < count; ++c) {
      ranges[c] = masked_range(working_.column(columns[c]), mask_.data(), working_.stride());
    }
    for (std::size_t c = 0; c < count; ++c) {
      const auto [least, most] = ranges[c];
      candidates[c].varies = least < most;
      if (least < most) candidates[c].cut = cuts_.draw(columns[c], least, most, random);
    }
    for (std::size_t c = 0; c < count; ++c) {
      if (!candidates[c].varies) continue;
      divide(range, candidates[c]);
      candidates[c].cut.score = score(candidates[c].first);
    }
  }

  // The rows of child 0.
  void divide(const Range& range, Candidate& candidate) const {
    candidate.first = Bits{};
    byte_bits_up_to(working_.column(static_cast<std::size_t>(candidate.cut.feature)),
                    static_cast<std::uint8_t>(candidate.cut.low), working_.stride(),
                    candidate.first.data());
    candidate.first = both(candidate.first, range.rows);
  }

  double score(const Bits& first) const {
    double first_terms = 0.0;
    double second_terms = 0.0;
    Weight n_first{0};
    for (std::size_t k = 0; k < node_.totals().size(); ++k) {
      const Weight count = static_cast<Weight>(size(both(first, class_rows_[node_.classes()[k]])));
      n_first += count;
      first_terms += terms_.term(count);
      second_terms += terms_.term(node_.totals()[k] - count);
    }
    return terms_.join(first_terms, n_first) + terms_.join(second_terms, node_.whole() - n_first);
  }

  const Problem& problem_;
  const Settings& settings_;
  const Working<std::uint8_t>& working_;
  ColumnPool pool_;
  Node node_;
  Terms terms_;
  DrawnCuts<std::uint8_t, Node> cuts_;
  Recorder recorder_;
  std::vector<Bits> class_rows_;
  std::vector<std::uint32_t> counts_, multiplicity_;
  alignas(64) std::array<std::uint8_t, kDenseRows> mask_{};  // vectors of it cross no cache line
  std::vector<Range> stack_;
  Candidate best_;
  std::size_t universe_ = 0;
  std::uint64_t key_ = 0;
};

}  // namespace duramen
