// Grows one tree after another: depth first with an explicit stack (or best first, when the number
// of leaves is limited), a node being a range of one index array that is partitioned in place.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "bag.hpp"
#include "decoys.hpp"
#include "forest.hpp"
#include "node.hpp"
#include "problem.hpp"
#include "recorder.hpp"
#include "split/candidate.hpp"
#include "split/evaluator.hpp"
#include "working.hpp"

namespace duramen {

template <class T, class Node>
class Grower {
 public:
  using Weight = typename Node::Weight;

  Grower(const Problem& problem, const Working<T>& working)
      : problem_(problem),
        table_(problem.table),
        settings_(problem.settings),
        working_(working),
        pool_(problem.table.n_columns),
        node_(problem),
        splits_(problem, working,
                problem.settings.max_features > 1 || problem.decoys.cycle != nullptr),
        ordered_(splits_.ordered()),
        grouped_(splits_.grouped()),
        recorder_(problem),
        tree_weights_(problem.table.n_rows) {
    index_.reserve(problem.table.n_rows);
    for (std::size_t j = 0; j < table_.n_columns; ++j) {
      if (table_.kind(j) != Kind::numeric || table_.missing[j]) all_numeric_ = false;
    }
    if (problem.decoys.cycle != nullptr) decoys_.emplace(problem, working);
  }

  // Appends one tree to `out`; false when it was stopped half-way.
  bool grow(std::uint64_t tree, Trees& out) {
    tree_ = tree;
    recorder_.start_tree(out);
    if (decoys_) decoys_->start_tree(tree);
    fill_bag();
    universe_ = pool_.start_tree(settings_, problem_.seed, tree);
    const bool whole = settings_.max_leaf_nodes > 0 ? best_first() : depth_first();
    recorder_.finish_tree();
    return whole;
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();  // no score

  struct Range {
    std::uint32_t start, end, depth, id;
    std::uint32_t n_constant;  // so many columns at the front of the pool are constant here
    std::uint32_t degree;      // columns conditioned on so far
  };
  // A node whose best split is known but not yet carried out (best first).
  struct Planned {
    Range range;
    Split split;
    std::vector<std::uint32_t> first_codes;
    std::vector<std::uint32_t> bounds;
    std::vector<double> leaf_values;  // should it stay a leaf
    double decrease = 0.0;
  };

  void fill_bag() {
    draw_bag(settings_, table_.n_rows, problem_.seed, tree_, multiplicity_);
    std::vector<double> balance;
    if (settings_.balanced_subsample) balance = class_balance();
    index_.clear();
    total_weight_ = 0.0;
    for (const std::uint32_t row : problem_.row_order) {
      if (multiplicity_[row] == 0) continue;
      double weight = multiplicity_[row];
      if (problem_.weights != nullptr) weight *= problem_.weights[row];
      if (!balance.empty()) weight *= balance[problem_.classes[row]];
      if (weight == 0.0) continue;
      tree_weights_[row] = static_cast<Weight>(weight);
      total_weight_ += weight;
      index_.push_back(row);
    }
    unit_weights_ = total_weight_ == static_cast<double>(index_.size()) &&
                    std::numeric_limits<Weight>::is_integer;
    spare_.resize(index_.size());
  }

  // Weights that make the classes of the bag equally heavy.
  std::vector<double> class_balance() const {
    std::vector<double> count(problem_.n_classes, 0.0);
    double total = 0.0;
    for (std::size_t row = 0; row < table_.n_rows; ++row) {
      count[problem_.classes[row]] += multiplicity_[row];
      total += multiplicity_[row];
    }
    for (double& c : count) {
      if (c > 0.0) c = total / (c * static_cast<double>(problem_.n_classes));
    }
    return count;
  }

  bool stopped() const {
    return problem_.monitor != nullptr && problem_.monitor->stop.load(std::memory_order_relaxed);
  }

  bool depth_first() {
    std::vector<Range>& stack = stack_;
    stack.clear();
    recorder_.add_nodes(1);
    stack.push_back({0, static_cast<std::uint32_t>(index_.size()), 0, 0, 0, 0});
    while (!stack.empty()) {
      if (stopped()) return false;
      Range range = stack.back();
      stack.pop_back();
      describe(range);
      if (!may_split(range) || !find_split(range) || !partition(range, bounds_)) {
        finish_leaf(range);
        continue;
      }
      const std::uint32_t first = carry_out(range, best_, grouped_.chosen(), bounds_);
      if (decoys_) decoys_->add_children(range.id, best_.feature, first, bounds_.size() - 1);
      for (std::size_t c = bounds_.size() - 1; c-- > 0;) {
        stack.push_back({bounds_[c], bounds_[c + 1], range.depth + 1,
                         first + static_cast<std::uint32_t>(c), range.n_constant,
                         range.degree + 1});
      }
    }
    return true;
  }

  // The split with the largest weighted decrease first, until the leaves are as many as allowed.
  bool best_first() {
    std::vector<Planned> frontier;
    const auto consider = [&](Range range) {
      describe(range);
      if (!may_split(range) || !find_split(range)) {
        finish_leaf(range);
        return;
      }
      const Split split = best_;
      std::vector<std::uint32_t> bounds;
      if (!partition(range, bounds)) {
        finish_leaf(range);
        return;
      }
      const double decrease = node_.weighted_impurity() - children_.weighted_impurity;
      std::vector<double> leaf_values;
      node_.append_leaf_values(leaf_values);
      frontier.push_back({range, split, grouped_.chosen(), bounds, leaf_values, decrease});
    };
    recorder_.add_nodes(1);
    consider({0, static_cast<std::uint32_t>(index_.size()), 0, 0, 0, 0});
    std::size_t n_leaves = 1;
    while (!frontier.empty()) {
      if (stopped()) return false;
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
          carry_out(planned.range, planned.split, planned.first_codes, planned.bounds);
      for (std::size_t c = 0; c + 1 < planned.bounds.size(); ++c) {
        consider({planned.bounds[c], planned.bounds[c + 1], planned.range.depth + 1,
                  first + static_cast<std::uint32_t>(c), 0, planned.range.degree + 1});
      }
    }
    return true;
  }

  // The statistics of a node, and its record.
  void describe(const Range& range) {
    node_.load(index_.data() + range.start, range.end - range.start, tree_weights_.data());
    NodeRecord& record = recorder_[range.id];
    record.rows = range.end - range.start;
    record.weight = node_.weight();
    record.impurity = node_.impurity();
  }

  bool may_split(const Range& range) const {
    const std::uint32_t n = range.end - range.start;
    if (node_.pure() || n < settings_.min_samples_split) return false;
    if (n < 2 * settings_.min_samples_leaf) return false;
    return settings_.max_depth == 0 || range.depth < settings_.max_depth;
  }

  // Draws candidates and keeps the best split in best_; also counts the constant columns it meets.
  bool find_split(Range& range) {
    best_.feature = -1;
    best_.score = -std::numeric_limits<double>::infinity();
    n_scored_ = 0;
    Random random(problem_.seed, tree_, range.id, Purpose::node);
    const std::uint32_t* rows = index_.data() + range.start;
    splits_.start_node(node_, rows);
    if (settings_.cut == Cut::pert) return find_pert_split(rows, random);
    if (decoys_) decoys_->start_node(range.id, node_, rows);
    if (settings_.splits == Family::multiway && settings_.max_leaf_nodes == 0) {
      return find_multiway_split(range, rows, random);
    }
    if (decoys_) return find_split_beside_decoys(rows, random);

    if (all_numeric_ && !settings_.count_constants && ordered_.draws_side_by_side()) {
      return settings_.max_features == 1 ? draw_one(range, rows, random)
                                         : draw_side_by_side(range, rows, random);
    }
    const double bound = node_.largest_score(settings_);
    std::size_t low = range.n_constant;
    std::size_t high = universe_;
    std::size_t known = range.n_constant;
    for (std::uint32_t drawn = 0; drawn < settings_.max_features;) {
      if (settings_.count_constants) {
        const std::size_t left = known + (high - low);
        if (left == 0) break;
        if (random.below(static_cast<std::uint32_t>(left)) < known) {
          --known;
          ++drawn;
          continue;
        }
      }
      if (low == high) break;
      const std::size_t at = low + random.below(static_cast<std::uint32_t>(high - low));
      const std::uint32_t column = pool_[at];
      if (!splits_.evaluate(node_, column, rows, random, best_, n_scored_)) {
        pool_.swap(at, low++);
        if (settings_.count_constants) ++drawn;
      } else {
        pool_.swap(at, --high);
        ++drawn;
        if (best_.score >= bound) break;
      }
      if ((drawn & 63U) == 0 && stopped()) return false;
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return best_.found();
  }

  // The same for a single random cut, which needs no score.
  bool draw_one(Range& range, const std::uint32_t* rows, Random& random) {
    std::size_t low = range.n_constant;
    Draw draw = Draw::constant;
    while (draw == Draw::constant && low < universe_) {
      const std::size_t at = low + random.below(static_cast<std::uint32_t>(universe_ - low));
      working_.prefetch(pool_[at]);
      draw = ordered_.one_random_cut(node_, pool_[at], rows, random, best_);
      if (draw == Draw::constant) pool_.swap(at, low++);
    }
    n_scored_ = 1;
    range.n_constant = static_cast<std::uint32_t>(low);
    return draw == Draw::scored;
  }

  // The same for random cuts on values, a few candidates at a time: each alone is a chain of
  // dependent steps, several side by side keep the processor busy.
  bool draw_side_by_side(Range& range, const std::uint32_t* rows, Random& random) {
    constexpr std::size_t kSide = OrderedSplits<T, Node>::kSide;
    const double bound = node_.largest_score(settings_);
    std::size_t low = range.n_constant;
    std::size_t high = universe_;
    std::uint32_t wanted = settings_.max_features;
    while (wanted > 0 && low < high && best_.score < bound && !stopped()) {
      std::uint32_t columns[kSide];
      Split cuts[kSide];
      Draw draws[kSide];
      const std::size_t count = std::min({kSide, high - low, std::size_t{wanted}});
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t at = low + random.below(static_cast<std::uint32_t>(high - low));
        columns[c] = pool_[at];
        pool_.swap(at, --high);
        working_.prefetch(columns[c]);
      }
      ordered_.random_cuts(node_, columns, count, rows, random, cuts, draws);
      pool_.set_constants_aside(low, high, count,
                                [&](std::size_t c) { return draws[c] == Draw::constant; });
      for (std::size_t c = 0; c < count && best_.score < bound; ++c) {
        if (draws[c] == Draw::constant) continue;
        --wanted;
        if (draws[c] == Draw::forbidden) continue;
        ++n_scored_;
        ordered_.offer(node_, best_, cuts[c], cuts[c].score);
      }
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return best_.found();
  }

  // Multiway trees follow the theory: K candidates are drawn among the columns not conditioned on
  // yet, constant ones included. Where a constant column is chosen (nothing else was drawn, or it
  // ties with splits that gain nothing) the node stays as it is, but the column counts as
  // conditioned on: the degree of a split is the size of the set B of the theory.
  bool find_multiway_split(Range& range, const std::uint32_t* rows, Random& random) {
    std::size_t low = range.n_constant;
    bool split = false;
    while (!split && universe_ > range.degree) {
      best_ = Split{};
      std::size_t known = low - range.degree;  // constant columns that can be drawn
      std::size_t high = universe_;
      std::uint32_t n_constant = 0;
      std::uint32_t n_best = 0;
      if (decoys_) decoys_->start_draws();
      for (std::uint32_t drawn = 0; drawn < settings_.max_features; ++drawn) {
        if (known + (high - low) == 0) break;
        const std::size_t pick = random.below(static_cast<std::uint32_t>(known + (high - low)));
        if (pick < known) {
          --known;
          ++n_constant;
          if (decoys_) note_constant(low);
          continue;
        }
        const std::size_t at = low + (pick - known);
        const std::uint32_t column = pool_[at];
        const double before = best_.score;
        if (!splits_.evaluate(node_, column, rows, random, best_, n_scored_)) {
          pool_.swap(at, low++);
          ++n_constant;
          if (decoys_) decoys_->note(column, false, kNone);
          continue;
        }
        pool_.swap(at, --high);
        const double score = grouped_.last_score();
        if (decoys_) decoys_->note(column, true, score);
        if (n_best == 0 || score > before + node_.tolerance(before)) {
          n_best = best_.found() ? 1 : 0;
        } else if (score >= before - node_.tolerance(before)) {
          ++n_best;
        }
        if (stopped()) return false;
      }
      if (decoys_) {
        decoys_->note_columns_above(static_cast<double>(settings_.max_features) /
                                    static_cast<double>(universe_ - range.degree));
        constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
        decoys_->settle(kUnlimited, -kNone, total_weight_, [](double) { return false; });
      }
      const bool gains = best_.found() && (settings_.max_features == 1 || node_.gains(best_.score));
      if (gains || n_constant == 0 || (n_best > 0 && random.below(n_best + n_constant) < n_best)) {
        if (!best_.found()) break;
        while (pool_[high] != static_cast<std::uint32_t>(best_.feature)) ++high;
        pool_.swap(high, low++);  // constant in every child
        split = true;
      } else {
        ++range.degree;
      }
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return split;
  }

  // The same beside decoys: every column is drawn with its decoy, so that none that is constant
  // further up is left out. Where a perfect split ends the search, it is taken up again if the
  // winner's decoy is less than perfect.
  bool find_split_beside_decoys(const std::uint32_t* rows, Random& random) {
    const double bound = node_.largest_score(settings_);
    std::size_t high = universe_;
    std::size_t drawn_at = 0;
    std::uint32_t column = 0;
    Split cut;
    const auto draw = [&](Random& from) {
      drawn_at = from.below(static_cast<std::uint32_t>(high));
      column = pool_[drawn_at];
      pool_.swap(drawn_at, --high);
      cut = Split{};
      return splits_.evaluate(node_, column, rows, from, cut, n_scored_);
    };
    while (high > 0 && decoys_->n_varying() < settings_.max_features && best_.score < bound) {
      const bool varies = draw(random);
      decoys_->note(column, varies, cut.score);
      if (cut.found() && decoys_->beats(cut.score, best_.score)) {
        best_ = cut;
        if (cut.family == Family::any) first_codes_ = grouped_.chosen();
      }
      if ((high & 63U) == 0 && stopped()) return false;
    }
    decoys_->settle(settings_.max_features, bound, total_weight_, [&](double score) {
      std::size_t wanted = settings_.max_features - decoys_->n_varying();
      bool beaten = false;
      later_.clear();
      while (wanted > 0 && high > 0 && !beaten) {
        if (draw(decoys_->random())) --wanted;
        later_.push_back(drawn_at);
        beaten = cut.found() && decoys_->beats(cut.score, score);
      }
      // The tree must not depend on it.
      for (std::size_t k = later_.size(); k-- > 0;) pool_.swap(later_[k], high++);
      return beaten;
    });
    if (best_.family == Family::any) grouped_.choose(first_codes_);
    return best_.found();
  }

  // Draws one of the columns at the front of the pool, which are constant at the node.
  void note_constant(std::size_t count) {
    const std::uint32_t column = pool_[decoys_->random().below(static_cast<std::uint32_t>(count))];
    if (!decoys_->is_above(column)) decoys_->note(column, false, kNone);
  }

  // PERT: two rows of different classes, a column on which they differ, a cut between them.
  bool find_pert_split(const std::uint32_t* rows, Random& random) {
    if constexpr (Node::kClasses && std::is_integral_v<T>) {
      for (int attempt = 0; attempt < 10; ++attempt) {
        const auto [a, b] = node_.pair_of_classes(random);
        for (std::size_t high = universe_; high > 0;) {
          const std::size_t at = random.below(static_cast<std::uint32_t>(high));
          const std::uint32_t column = pool_[at];
          pool_.swap(at, --high);
          const T* codes = ordered_.gather(column, rows, node_.n_rows());
          if (codes[a] == codes[b]) continue;
          n_scored_ = 1;
          const Family family = splits_.family_of(column);
          if (family == Family::ordered) {
            ordered_.mixture_cut(column, codes[a], codes[b], random, best_);
          } else {
            const T code_a = codes[a];
            const T code_b = codes[b];
            splits_.group(node_, column, rows);
            grouped_.separating(node_, column, family, code_a, code_b, random, best_);
          }
          return true;
        }
      }
    }
    return false;
  }

  // Reorders the rows of a node child by child, each child's rows in their former order, and
  // fills bounds; false when the split is forbidden by a rule on its decrease.
  bool partition(const Range& range, std::vector<std::uint32_t>& bounds) {
    const std::uint32_t n = range.end - range.start;
    std::uint32_t* rows = index_.data() + range.start;
    const std::uint32_t column = static_cast<std::uint32_t>(best_.feature);
    bounds.clear();
    bounds.push_back(range.start);
    // With one candidate the groups of its codes are still at hand.
    const bool grouped = best_.family == Family::multiway && settings_.max_features == 1;
    const T* codes = best_.family == Family::multiway ? nullptr : ordered_.gather(column, rows, n);
    if (best_.family == Family::multiway) {
      if constexpr (std::is_integral_v<T>) {
        if (!grouped) splits_.group(node_, column, rows);
        grouped_.partition(rows, n, range.start, spare_, bounds);
      }
    } else {
      std::uint32_t n_first = 0;
      std::uint32_t n_second = 0;
      const auto split_by = [&](auto&& goes_first) {
        for (std::uint32_t i = 0; i < n; ++i) {
          const bool first = goes_first(codes[i]);
          const std::uint32_t row = rows[i];
          rows[n_first] = row;
          spare_[n_second] = row;
          n_first += first ? 1 : 0;
          n_second += first ? 0 : 1;
        }
      };
      if constexpr (!std::is_integral_v<T>) {
        const T cut = static_cast<T>(best_.threshold);
        if (best_.by_code) {
          first_by_code(column, rows, n);
          std::size_t at = 0;
          split_by([this, &at](T) { return marks_[at++] != 0; });
        } else {
          split_by([cut](T value) { return value <= cut; });
        }
      } else {
        const std::uint32_t low = best_.low;
        if (best_.family == Family::one_vs_rest) {
          split_by([low](T code) { return code == low; });
        } else if (best_.family == Family::any) {
          grouped_.mark(grouped_.chosen(), table_.n_codes(column));
          split_by([this](T code) { return grouped_.marked(code); });
        } else if (best_.missing_first) {
          const std::uint32_t missing = table_.n_values(column);
          split_by([low, missing](T code) { return code <= low || code == missing; });
        } else {
          split_by([low](T code) { return code <= low; });
        }
      }
      std::copy_n(spare_.data(), n_second, rows + n_first);
      bounds.push_back(range.start + n_first);
      bounds.push_back(range.end);
    }
    if (settings_.min_impurity_decrease <= 0.0 && settings_.stop_alpha >= 1.0 &&
        settings_.max_leaf_nodes == 0) {
      return true;
    }
    children_ = node_.children(index_.data(), bounds, tree_weights_.data());
    const double decrease = node_.weighted_impurity() - children_.weighted_impurity;
    if (decrease / total_weight_ < settings_.min_impurity_decrease) return false;
    return settings_.stop_alpha >= 1.0 || passes_node_test(n);
  }

  void first_by_code(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    marks_.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      marks_[i] = table_.code(column, rows[i]) <= best_.low ? 1 : 0;
    }
  }

  // Chi-square law of the gain under independence, corrected for the splits that were compared.
  bool passes_node_test(std::uint32_t n) const {
    const double tail =
        chi_square_tail(node_.gain_statistic(children_, n), node_.gain_freedom(children_.count));
    const double tests = static_cast<double>(std::max<std::uint64_t>(n_scored_, 1));
    return std::min(1.0, tail * tests) <= settings_.stop_alpha;
  }

  void finish_leaf(const Range& range) { node_.append_leaf_values(recorder_.add_leaf(range.id)); }

  // Records a split and makes room for its children; returns the first child's number.
  std::uint32_t carry_out(const Range& range, const Split& split,
                          const std::vector<std::uint32_t>& first_codes,
                          const std::vector<std::uint32_t>& bounds) {
    const std::size_t column = static_cast<std::size_t>(split.feature);
    const std::uint32_t first = recorder_.add_nodes(bounds.size() - 1);
    NodeRecord& record = recorder_[range.id];
    record.feature = static_cast<std::int32_t>(split.feature);
    record.child = static_cast<std::int32_t>(first);
    record.degree = range.degree;
    std::uint8_t flags = static_cast<std::uint8_t>(split.family);
    if (split.family == Family::multiway) {
      record_multiway(record, column, bounds);
    } else {
      const bool first_heavier = weigh(bounds[0], bounds[1]) >= weigh(bounds[1], bounds[2]);
      if (first_heavier) flags |= kFirstHeavier;
      bool missing_first = first_heavier;
      if (table_.missing[column] != 0 && missing_here(column, bounds)) {
        missing_first = split.missing_first;
      }
      if (split.family == Family::any) {
        record_set(record, column, first_codes, first_heavier, bounds);
      } else if (split.family == Family::one_vs_rest) {
        record.cut = split.low;
        if (table_.missing[column] != 0) missing_first = split.low == table_.n_values(column);
      } else {
        recorder_.record_ordered(range.id, split);
      }
      if (missing_first) flags |= kMissingFirst;
    }
    record.split = flags;
    return first;
  }

  // Weight of a range of rows of the node at hand.
  double weigh(std::uint32_t begin, std::uint32_t end) const {
    if (unit_weights_) return end - begin;
    double weight = 0.0;
    for (std::uint32_t i = begin; i < end; ++i) {
      weight += static_cast<double>(tree_weights_[index_[i]]);
    }
    return weight;
  }

  bool missing_here(std::size_t column, const std::vector<std::uint32_t>& bounds) const {
    const std::uint32_t missing = table_.n_values(column);
    for (std::uint32_t i = bounds.front(); i < bounds.back(); ++i) {
      if (table_.code(column, index_[i]) == missing) return true;
    }
    return false;
  }

  // A bit a code; codes that the node has not seen go with the heavier child.
  void record_set(NodeRecord& record, std::size_t column,
                  const std::vector<std::uint32_t>& first_codes, bool first_heavier,
                  const std::vector<std::uint32_t>& bounds) {
    const std::uint32_t n_codes = table_.n_codes(column);
    record.cut = recorder_.pool_offset();
    std::vector<std::uint32_t> words((n_codes + 31) / 32, first_heavier ? ~0U : 0U);
    if (first_heavier) {
      if (n_codes % 32 != 0) words.back() = (1U << (n_codes % 32)) - 1;
      for (std::uint32_t i = bounds[1]; i < bounds[2]; ++i) {
        const std::uint32_t code = table_.code(column, index_[i]);
        words[code / 32] &= ~(1U << (code % 32));
      }
    } else {
      for (const std::uint32_t code : first_codes) words[code / 32] |= 1U << (code % 32);
    }
    recorder_.pool().insert(recorder_.pool().end(), words.begin(), words.end());
  }

  // [number of children, the heaviest of them, the code of each, ascending]
  void record_multiway(NodeRecord& record, std::size_t column,
                       const std::vector<std::uint32_t>& bounds) {
    record.cut = recorder_.pool_offset();
    const std::uint32_t count = static_cast<std::uint32_t>(bounds.size() - 1);
    std::uint32_t heaviest = 0;
    double largest = -1.0;
    for (std::uint32_t c = 0; c < count; ++c) {
      const double weight = weigh(bounds[c], bounds[c + 1]);
      if (weight > largest) {
        largest = weight;
        heaviest = c;
      }
    }
    recorder_.pool().push_back(count);
    recorder_.pool().push_back(heaviest);
    for (std::uint32_t c = 0; c < count; ++c) {
      recorder_.pool().push_back(table_.code(column, index_[bounds[c]]));
    }
  }

  const Problem& problem_;
  const Table& table_;
  const Settings& settings_;
  const Working<T>& working_;
  ColumnPool pool_;
  Node node_;
  Evaluator<T, Node> splits_;
  OrderedSplits<T, Node>& ordered_;
  GroupedSplits<Node>& grouped_;
  std::optional<DecoyContest<T, Node>> decoys_;  // where they are asked for
  Recorder<T> recorder_;
  std::vector<Weight> tree_weights_;  // of every row in the bag
  std::vector<std::uint32_t> multiplicity_, index_, spare_, bounds_, first_codes_;
  std::vector<std::size_t> later_;
  std::vector<std::uint8_t> marks_;
  std::vector<Range> stack_;
  Split best_;
  Children children_;
  std::uint64_t tree_ = 0;
  std::size_t universe_ = 0;
  std::uint64_t n_scored_ = 0;
  double total_weight_ = 0.0;
  bool all_numeric_ = true;    // no categories, no missing values
  bool unit_weights_ = false;  // every row of the bag weighs 1
};

}  // namespace duramen
