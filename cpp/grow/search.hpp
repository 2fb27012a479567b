// The search for the split of a node: which columns are drawn, and which of their splits is best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/bag.hpp"
#include "grow/decoys.hpp"
#include "grow/guidance.hpp"
#include "grow/problem.hpp"
#include "grow/split/best_splits.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/evaluator.hpp"
#include "grow/split/pairs.hpp"
#include "grow/working.hpp"
#include "random.hpp"

namespace duramen {

// A node: a range of the rows of the tree.
struct Range {
  std::uint32_t start, end, depth, id;
  std::uint32_t n_constant;  // so many columns at the front of the pool are constant here
  std::uint32_t degree;      // columns conditioned on so far
};

template <class T, class Node>
class Search {
 public:
  Search(const Problem& problem, const Working<T>& working, const Node& node)
      : problem_(problem),
        settings_(problem.settings),
        working_(working),
        node_(node),
        thorough_(settings_.n_best_splits > 1 || settings_.tests_by_permutation()),
        pool_(problem.table.n_columns),
        splits_(problem, working,
                ScoresRows<Node> || problem.settings.max_features > 1 || thorough_ ||
                    problem.decoys.cycle != nullptr || problem.guidance.given()),
        ordered_(splits_.ordered()),
        grouped_(splits_.grouped()),
        several_(problem.settings.n_best_splits) {
    if (settings_.n_best_splits > 1) splits_.collect_into(several_);
    for (std::size_t j = 0; j < problem.table.n_columns; ++j) {
      if (problem.table.kind(j) != Kind::numeric || problem.table.missing[j]) all_numeric_ = false;
    }
    if (problem.decoys.cycle != nullptr) decoys_.emplace(problem, working);
    const Guidance& guidance = problem.guidance;
    if (guidance.given()) guided_ = WeightedDraw(guidance.weight, problem.table.n_columns);
    if (guidance.penalizes()) used_.assign(problem.table.n_columns, 0);
  }

  void start_tree(std::uint64_t tree, double total_weight) {
    tree_ = tree;
    total_weight_ = total_weight;
    universe_ = pool_.start_tree(settings_, problem_.seed, tree);
    if (decoys_) decoys_->start_tree(tree);
  }

  // The best split of the node that was searched last, and how many were compared.
  const Split& best() const { return best_; }
  std::uint64_t n_scored() const { return n_scored_; }
  Evaluator<T, Node>& splits() { return splits_; }

  // Permutation test of the node that was searched last: whether its p-value is at most stop_alpha.
  // The p-value is the fraction of orders of the target, the one at hand and stop_permutations
  // others, in which the best split of the same candidate columns scores as high as it does.
  [[gnu::noinline]] bool passes_permutations(std::uint32_t id, const std::uint32_t* rows) {
    const double n_permutations = settings_.stop_permutations;
    const double most = settings_.stop_alpha * (n_permutations + 1.0) * (1.0 + 1e-12);
    const Split chosen = best_;
    first_codes_ = grouped_.chosen();
    const double least = top_score_ - node_.tolerance(top_score_);
    Random random(problem_.seed, tree_, id, Purpose::node_test);
    permuted_.assign(rows, rows + node_.n_rows());
    double reached = 1.0;
    // As soon as the rest cannot change the answer, it is left out.
    for (double left = n_permutations; reached <= most && reached + left > most; --left) {
      if (problem_.stopped()) break;
      if (best_of_permuted(random) >= least) ++reached;
    }
    best_ = chosen;
    grouped_.choose(first_codes_);
    splits_.start_node(node_, rows);
    if (chosen.family == Family::multiway) {  // groups the rows by their codes again
      Split same;
      evaluate_aside(static_cast<std::uint32_t>(chosen.feature), rows, random, same);
    }
    return reached <= most;
  }

  // What each column got beyond its decoy in the tree; null without decoys.
  const std::vector<double>* excess() const { return decoys_ ? &decoys_->excess() : nullptr; }

  // A node was split; its children have numbers from `first` on.
  void add_children(const Range& range, std::uint32_t first, std::size_t count) {
    if (decoys_) decoys_->add_children(range.id, best_.feature, first, count);
    if (problem_.guidance.penalizes()) used_[static_cast<std::size_t>(best_.feature)] = 1;
  }

  // Draws candidates and keeps the best split; also counts the constant columns it meets. False
  // where there is none.
  bool find(Range& range, const std::uint32_t* rows) {
    best_.feature = -1;
    best_.score = kNone;
    n_scored_ = 0;
    Random random(problem_.seed, tree_, range.id, Purpose::node);
    splits_.start_node(node_, rows);
    if (settings_.cut == Cut::pert) return pert_split(rows, random);
    if (problem_.guidance.given()) return guided_split(rows, random);
    if (decoys_) decoys_->start_node(range.id, node_, rows);
    if (settings_.splits == Family::multiway && settings_.max_leaf_nodes == 0) {
      return multiway_split(range, rows, random);
    }
    if (thorough_) return draw_thoroughly(range, rows, random);
    if (decoys_) return beside_decoys(rows, random);

    if (all_numeric_ && !settings_.count_constants && ordered_.draws_side_by_side()) {
      return settings_.max_features == 1 ? draw_one(range, rows, random)
                                         : draw_side_by_side(range, rows, random);
    }
    return draw_one_by_one(range, random, splits_.largest_score(node_), [&](std::uint32_t column) {
      return splits_.evaluate(node_, column, rows, random, best_, n_scored_);
    });
  }

 private:
  // evaluate(column) scores the splits of a candidate against the best so far, and is false where
  // the column is constant; no split scores higher than `bound`.
  template <class Evaluate>
  bool draw_one_by_one(Range& range, Random& random, double bound, Evaluate&& evaluate) {
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
      if (!evaluate(column)) {
        pool_.swap(at, low++);
        if (settings_.count_constants) ++drawn;
      } else {
        pool_.swap(at, --high);
        ++drawn;
        if (best_.score >= bound) break;
      }
      if ((drawn & 63U) == 0 && problem_.stopped()) return false;
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return best_.found();
  }

  // The same where all candidates are looked at, and one of the best few splits may be taken.
  [[gnu::noinline]] bool draw_thoroughly(Range& range, const std::uint32_t* rows, Random& random) {
    tried_.clear();
    several_.start_node();
    draw_one_by_one(range, random, -kNone, [&](std::uint32_t column) {
      Split cut;
      Split& best = settings_.n_best_splits > 1 ? cut : best_;
      if (!evaluate_aside(column, rows, random, best)) return false;
      tried_.push_back(column);
      // A drawn split is the only one of its column.
      if (cut.found() && several_.admits(node_, cut.score)) {
        several_.take(node_, cut, random, grouped_.chosen());
      }
      return true;
    });
    top_score_ = best_.score;
    const auto& entries = several_.entries();
    if (entries.empty()) return best_.found();
    const auto& chosen = entries[random.below(static_cast<std::uint32_t>(entries.size()))];
    best_ = chosen.split;
    grouped_.choose(chosen.first_codes);
    top_score_ = entries.front().split.score;
    return true;
  }

  // Called where speed does not matter much: the more calls a long function has, the less of it is
  // compiled into the ones that count.
  [[gnu::noinline]] bool group_aside(std::uint32_t column, const std::uint32_t* rows) {
    return splits_.group(node_, column, rows);
  }
  [[gnu::noinline]] bool evaluate_aside(std::uint32_t column, const std::uint32_t* rows,
                                        Random& random, Split& best) {
    return splits_.evaluate(node_, column, rows, random, best, n_scored_);
  }

  // The largest score among the splits of the candidates when the target is permuted. A node has
  // the target in order of position: taking the rows in another order permutes it, together with
  // the weights.
  double best_of_permuted(Random& random) {
    for (std::size_t i = permuted_.size(); i > 1; --i) {
      std::swap(permuted_[i - 1], permuted_[random.below(static_cast<std::uint32_t>(i))]);
    }
    splits_.start_node(node_, permuted_.data());
    several_.start_node();
    Split top;
    for (const std::uint32_t column : tried_) {
      evaluate_aside(column, permuted_.data(), random, top);
    }
    return several_.empty() ? top.score : several_.entries().front().split.score;
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
    while (wanted > 0 && low < high && best_.score < bound && !problem_.stopped()) {
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
  // conditioned on: the degree of a split is the size of the set B of the theory. Where constant
  // columns count, the greatest depth is one of degrees, as in the theory.
  bool multiway_split(Range& range, const std::uint32_t* rows, Random& random) {
    std::size_t low = range.n_constant;
    std::size_t most = universe_;
    if (settings_.count_constants && settings_.max_depth > 0) {
      most = std::min<std::size_t>(most, settings_.max_depth);
    }
    bool split = false;
    while (!split && range.degree < most) {
      best_ = Split{};
      std::size_t known = low - range.degree;  // constant columns that can be drawn
      std::size_t high = universe_;
      std::uint32_t n_constant = 0;
      std::uint32_t n_best = 0;
      if (thorough_) tried_.clear();
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
        if (thorough_) tried_.push_back(column);
        const double score = grouped_.last_score();
        if (decoys_) decoys_->note(column, true, score);
        if (n_best == 0 || score > before + node_.tolerance(before)) {
          n_best = best_.found() ? 1 : 0;
        } else if (score >= before - node_.tolerance(before)) {
          ++n_best;
        }
        if (problem_.stopped()) return false;
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
        top_score_ = best_.score;
        split = true;
      } else {
        ++range.degree;
      }
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return split;
  }

  // Candidates are the columns used so far, and others that are drawn by their weights. A column
  // that was not used must gain more than the best one does, by the inverse of its factor.
  bool guided_split(const std::uint32_t* rows, Random& random) {
    const Guidance& guidance = problem_.guidance;
    const double bound = node_.largest_score(settings_);
    double best_value = kNone;
    const auto consider = [&](std::uint32_t column, bool penalized) {
      Split cut;
      if (!splits_.evaluate(node_, column, rows, random, cut, n_scored_)) return false;
      if (!cut.found()) return true;
      double value = cut.score;
      double margin = node_.tolerance(cut.score);
      if (guidance.penalizes()) {
        value = node_.gain(cut.score);
        margin = value - node_.gain(cut.score - margin);
        if (penalized) {
          const double factor = guidance.factor[column];
          if (!node_.gains(cut.score)) return true;
          value = guidance.of_score ? factor * cut.score - (cut.score - value) : factor * value;
          if (value <= 0.0) return true;
        }
      }
      if (best_value == kNone || value > best_value + margin) {
        best_value = value;
        best_ = cut;
        if (cut.family == Family::any) first_codes_ = grouped_.chosen();
      }
      return true;
    };
    if (guidance.penalizes()) {
      for (std::uint32_t j = 0; j < problem_.table.n_columns; ++j) {
        if (!used_[j]) continue;
        guided_.leave_out(j);
        consider(j, false);
      }
    }
    std::uint32_t wanted = settings_.max_features;
    bool stopped = false;
    while (wanted > 0 && guided_.left() && !stopped) {
      const bool varies = consider(guided_.take(random.uniform()), guidance.penalizes());
      if (varies || settings_.count_constants) --wanted;
      if (!guidance.penalizes() && best_.score >= bound) break;
      stopped = problem_.stopped();
    }
    guided_.restore();
    if (best_.family == Family::any) grouped_.choose(first_codes_);
    return best_.found() && !stopped;
  }

  // The same beside decoys: every column is drawn with its decoy, so that none that is constant
  // further up is left out. Where a perfect split ends the search, it is taken up again if the
  // winner's decoy is less than perfect.
  bool beside_decoys(const std::uint32_t* rows, Random& random) {
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
      if ((high & 63U) == 0 && problem_.stopped()) return false;
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

  // PERT: two rows of different classes, a column on which they differ, a cut between them. Where
  // min_samples_leaf forbids a cut, other columns are tried, then other rows. With the column
  // before the rows, two of those that differ on it.
  bool pert_split(const std::uint32_t* rows, Random& random) {
    if constexpr (Node::kClasses && std::is_integral_v<T>) {
      for (int attempt = 0; attempt < 10; ++attempt) {
        std::pair<std::uint32_t, std::uint32_t> pair;
        if (!settings_.feature_first) pair = node_.pair_of_classes(random);
        for (std::size_t high = universe_; high > 0;) {
          const std::size_t at = random.below(static_cast<std::uint32_t>(high));
          const std::uint32_t column = pool_[at];
          pool_.swap(at, --high);
          if (settings_.feature_first) {
            if (!group_aside(column, rows)) continue;
            pair = pair_apart(node_, grouped_.groups(), grouped_.sizes(), random);
          }
          const T* codes = ordered_.gather(column, rows, node_.n_rows());
          const T code_a = codes[pair.first];
          const T code_b = codes[pair.second];
          if (code_a == code_b) continue;
          n_scored_ = 1;
          const Family family = splits_.family_of(column);
          if (family != Family::ordered) group_aside(column, rows);
          const bool found =
              family == Family::ordered
                  ? ordered_.mixture_cut(node_, column, code_a, code_b, random, best_)
                  : grouped_.separating(node_, column, family, code_a, code_b, random, best_);
          if (found) return true;
        }
      }
    }
    return false;
  }

  const Problem& problem_;
  const Settings& settings_;
  const Working<T>& working_;
  const Node& node_;     // the one at hand
  const bool thorough_;  // all candidates are looked at, and remembered, even after a perfect split
  ColumnPool pool_;
  Evaluator<T, Node> splits_;
  OrderedSplits<T, Node>& ordered_;
  GroupedSplits<Node>& grouped_;
  std::optional<DecoyContest<T, Node>> decoys_;  // where they are asked for
  WeightedDraw guided_;
  // With factors: columns that split a node of this tree or one that was grown before. They are
  // candidates at every node.
  std::vector<std::uint8_t> used_;
  BestSplits several_;                   // where one of the best few is to be taken
  std::vector<std::uint32_t> tried_;     // the candidates that vary at the node, where thorough
  std::vector<std::uint32_t> permuted_;  // rows of the node
  double top_score_ = kNone;             // of the best split, whether it was taken or not
  std::vector<std::uint32_t> first_codes_;
  std::vector<std::size_t> later_;
  Split best_;
  std::uint64_t tree_ = 0;
  std::size_t universe_ = 0;
  std::uint64_t n_scored_ = 0;
  double total_weight_ = 0.0;
  bool all_numeric_ = true;  // no categories, no missing values
};

}  // namespace duramen
