// Decoys: copies of the columns with their rows in another order. They split nothing: at every node
// of a tree a decoy takes the place of its column among the candidates, drawn in the same order,
// and is credited with the decrease of impurity if it would have been chosen.
//
// A column that was chosen further up has fewer values left at a node, and what it explained by
// chance is used up. So for its decoy: beneath a node at which it would have been chosen, another
// order of its rows takes its place, of which one side of the cut is left. (Of columns without an
// order, for the column and its decoy, only the first choice on a path counts.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "grow/problem.hpp"
#include "grow/split/candidate.hpp"
#include "grow/split/evaluator.hpp"
#include "grow/working.hpp"
#include "random.hpp"

namespace duramen {

// The comparison of the columns with their decoys at the nodes of one tree after another.
template <class T, class Node>
class DecoyContest {
 public:
  DecoyContest(const Problem& problem, const Working<T>& working)
      : problem_(problem),
        table_(problem.table),
        working_(working),
        first_splits_(problem, working, true),
        later_splits_(problem, working, true),
        place_(table_.n_rows),
        first_(table_.n_rows),
        size_(table_.n_rows),
        rows_(table_.n_rows),
        later_rows_(table_.n_rows) {
    const Decoys& decoys = problem.decoys;
    for (std::size_t s = 0; s < decoys.n_strata; ++s) {
      const std::uint32_t first = decoys.bounds[s], end = decoys.bounds[s + 1];
      for (std::uint32_t i = first; i < end; ++i) {
        const std::uint32_t row = decoys.cycle[i];
        place_[row] = i - first;
        first_[row] = first;
        size_[row] = end - first;
      }
    }
  }

  void start_tree(std::uint64_t tree) {
    key_ = Random::key(problem_.seed, tree);
    nodes_.assign(1, NodeAt{});
    uses_.clear();
    columns_.assign(table_.n_columns, ColumnAt{});
    excess_.assign(table_.n_columns, 0.0);
  }
  // What each column got beyond its decoy in the tree so far.
  const std::vector<double>& excess() const { return excess_; }

  // A node was split on a column; its children have numbers from `first` on.
  void add_children(std::uint32_t id, std::int64_t column, std::uint32_t first, std::size_t count) {
    nodes_.resize(first + count);
    for (std::size_t c = 0; c < count; ++c) nodes_[first + c] = {id, column, 0, 0};
  }

  void start_node(std::uint32_t id, const Node& node, const std::uint32_t* rows) {
    id_ = id;
    node_ = &node;
    node_rows_ = rows;
    random_ = Random(key_, id, Purpose::decoy);
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) rows_[i] = row_after(rows[i], 1);
    first_splits_.start_node(node, rows_.data());
    look_up();
    start_draws();
    nodes_[id].first_use = nodes_[id].end_use = uses_.size();
  }

  Random& random() { return random_; }

  // Forgets the candidates that were drawn.
  void start_draws() {
    drawn_.clear();
    n_varying_ = 0;
  }
  // A candidate was drawn. `varies`: it is not constant at the node; a score of kNone: none of its
  // splits is allowed.
  void note(std::uint32_t column, bool varies, double score) {
    drawn_.push_back({column, varies, score});
    n_varying_ += varies ? 1 : 0;
  }
  std::size_t n_varying() const { return n_varying_; }

  // Multiway trees draw no column again that a path was split on; its decoy would be drawn with
  // this probability.
  void note_columns_above(double probability) {
    for (const std::uint32_t column : above_) {
      if (random_.uniform() < probability) note(column, false, kNone);
    }
  }
  bool is_above(std::uint32_t column) const { return columns_[column].chosen == visit_; }

  // Adds up what each column gets beyond its decoy. At most `limit` candidates that vary were
  // drawn, and none after one with the score `bound`; beaten_later(score) tells whether one of
  // those that were not drawn for that reason would beat a score.
  template <class BeatenLater>
  void settle(std::size_t limit, double bound, double total_weight, BeatenLater&& beaten_later) {
    const std::size_t n = drawn_.size();
    look_ahead(n_varying_ == limit);
    const double fraction = node_->weight() / total_weight;
    const double factor = std::sqrt(std::sqrt(std::sqrt(fraction))) / total_weight;
    double best = kNone;
    std::size_t chosen = n;
    for (std::size_t t = 0; t < n; ++t) {
      const auto [column, varies, score] = drawn_[t];
      if (judged(column) && columns_[column].won != visit_) {
        const Split cut = decoy_split(column);
        bool wins = beats(cut.score, best) && !beats(after_[t], cut.score);
        if (wins && t + 1 == n && score >= bound && cut.score < bound) {
          wins = !beaten_later(cut.score);
        }
        if (wins) {
          excess_[column] -= node_->gain(cut.score) * factor;
          uses_.push_back(use_of(cut));
          columns_[column].won = visit_;
        }
      }
      if (beats(score, best)) {
        best = score;
        chosen = t;
      }
    }
    nodes_[id_].end_use = uses_.size();
    if (chosen == n) return;
    const std::uint32_t column = drawn_[chosen].column;
    if (!judged(column) || (unordered(column) && is_above(column))) return;
    excess_[column] += node_->gain(best) * factor;
  }

  // Whether a score is better than one that was there before.
  bool beats(double score, double before) const {
    return before == kNone ? score > before : score > before + node_->tolerance(before);
  }

 private:
  struct NodeAt {
    std::int64_t parent = -1;
    std::int64_t column = -1;  // that the parent is split on
    std::size_t first_use = 0;
    std::size_t end_use = 0;
  };
  // A decoy that would have been chosen at a node: how its rows part.
  struct Use {
    std::uint32_t column;
    bool missing_first, ordered;
    T limit;  // codes up to it go to child 0
    double first_fraction;
  };
  // What is left of a decoy and a column at the node.
  struct ColumnAt {
    std::uint32_t visit = 0;   // the decoy would have been chosen further up if this is the latest
    std::uint32_t chosen = 0;  // the column was
    std::uint32_t won = 0;     // the decoy would be chosen here
    bool ordered = true;
    std::uint32_t n_uses = 0;
    T low{}, high{};         // remaining values: above `low`, or from it on if from_first,
    bool from_first = true;  // and up to `high`
    bool missing = false;
  };
  struct Drawn {
    std::uint32_t column;
    bool varies;
    double score;
  };

  bool judged(std::uint32_t column) const { return problem_.decoys.judged[column] != 0; }
  bool unordered(std::uint32_t column) const {
    return first_splits_.family_of(column) != Family::ordered;
  }

  std::uint32_t row_after(std::uint32_t row, std::size_t steps) const {
    return problem_.decoys.cycle[first_[row] + (place_[row] + steps) % size_[row]];
  }

  // Walks up from the node for the remaining values of decoys and columns chosen above it.
  void look_up() {
    ++visit_;
    above_.clear();
    for (std::uint32_t at = id_; nodes_[at].parent >= 0;) {
      const auto up = static_cast<std::uint32_t>(nodes_[at].parent);
      above_.push_back(static_cast<std::uint32_t>(nodes_[at].column));
      columns_[above_.back()].chosen = visit_;
      for (std::size_t u = nodes_[up].first_use; u < nodes_[up].end_use; ++u) leave(uses_[u], at);
      at = up;
    }
  }

  // Leaves one side of a use, drawn for this child, of the decoy.
  void leave(const Use& use, std::uint32_t child) {
    ColumnAt& at = columns_[use.column];
    if (at.visit != visit_) {
      at = {.visit = visit_, .chosen = at.chosen, .won = at.won};
      at.high = std::numeric_limits<T>::max();
      at.missing = table_.missing[use.column] != 0;
    }
    ++at.n_uses;
    at.ordered = use.ordered;
    Random random(mix(key_ + use.column), child, Purpose::decoy);
    const bool first = random.uniform() < use.first_fraction;
    if (first) {
      at.high = std::min(at.high, use.limit);
    } else {
      at.low = at.from_first ? use.limit : std::max(at.low, use.limit);
      at.from_first = false;
    }
    at.missing = at.missing && use.missing_first == first;
  }

  // Whether values run out; if nearly all are distinct, other values are as good as the rest.
  bool few_values(std::uint32_t column) const {
    return table_.n_values(column) <= table_.n_rows / 2;
  }

  bool left(const ColumnAt& at, T value, std::uint32_t column) const {
    if constexpr (std::is_integral_v<T>) {
      if (value >= table_.n_values(column)) return at.missing;
    }
    return (at.from_first || value > at.low) && value <= at.high;
  }

  // The best score after each candidate; without the last of them where that would not have been
  // drawn had the decoy varied, since its column does not.
  void look_ahead(bool full) {
    after_.resize(drawn_.size());
    double after = kNone;
    double but_last = kNone;
    for (std::size_t t = drawn_.size(); t-- > 0;) {
      after_[t] = full && !drawn_[t].varies ? but_last : after;
      after = std::max(after, drawn_[t].score);
      if (t + 1 < drawn_.size()) but_last = std::max(but_last, drawn_[t].score);
    }
  }

  // A split of the node by a decoy; without one its score is kNone.
  Split decoy_split(std::uint32_t column) {
    Split cut;
    std::uint64_t n_scored = 0;
    if (columns_[column].visit != visit_) {
      latest_ = &first_splits_;
      latest_->evaluate(*node_, column, rows_.data(), random_, cut, n_scored);
    } else if (take_later_rows(column)) {
      latest_ = &later_splits_;
      latest_->start_node(*node_, later_rows_.data());
      latest_->evaluate(*node_, column, later_rows_.data(), random_, cut, n_scored);
    }
    return cut;
  }

  // Rows whose values a decoy has that would have been chosen further up: a step on in the cycle
  // for each time, and on from there to one with a value that is left. False where none is.
  bool take_later_rows(std::uint32_t column) {
    constexpr std::size_t kTries = 16;
    const ColumnAt& at = columns_[column];
    if (!at.ordered) return false;
    const bool few = few_values(column);
    const std::size_t stride = table_.n_rows / kTries + 1;
    taken_.clear();
    without_.clear();
    for (std::uint32_t i = 0; i < node_->n_rows(); ++i) {
      std::size_t steps = 1 + at.n_uses;
      std::uint32_t row = row_after(node_rows_[i], steps);
      bool suits = !few || left(at, working_.at(column, row), column);
      for (std::size_t tries = 1; tries < kTries && !suits; ++tries) {
        steps += stride;
        row = row_after(node_rows_[i], steps);
        suits = left(at, working_.at(column, row), column);
      }
      later_rows_[i] = row;
      (suits ? taken_ : without_).push_back(i);
    }
    // Few values are left: some rows repeat values of other rows.
    for (std::size_t k = 0; k < without_.size() && !taken_.empty(); ++k) {
      later_rows_[without_[k]] = later_rows_[taken_[k % taken_.size()]];
    }
    return !taken_.empty();
  }

  Use use_of(const Split& cut) const {
    const auto column = static_cast<std::uint32_t>(cut.feature);
    const std::uint32_t n = node_->n_rows();
    const T* values = latest_->codes();
    Use use{column, cut.missing_first, cut.family == Family::ordered, {}, 1.0};
    if constexpr (std::is_integral_v<T>) {
      use.limit = static_cast<T>(cut.low);
    } else {
      // Values that single precision cannot tell apart do not run out.
      use.limit = cut.by_code ? std::numeric_limits<T>::max() : static_cast<T>(cut.threshold);
    }
    std::uint32_t n_first = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      bool first = values[i] <= use.limit;
      if constexpr (std::is_integral_v<T>) {
        if (values[i] >= table_.n_values(column)) first = cut.missing_first;
      }
      n_first += first ? 1 : 0;
    }
    use.first_fraction = static_cast<double>(n_first) / n;
    return use;
  }

  const Problem& problem_;
  const Table& table_;
  const Working<T>& working_;
  Evaluator<T, Node> first_splits_, later_splits_;
  Evaluator<T, Node>* latest_ = nullptr;
  std::vector<std::uint32_t> place_;         // of each row in its stratum of the cycle
  std::vector<std::uint32_t> first_, size_;  // of its stratum
  std::vector<std::uint32_t> rows_, later_rows_, taken_, without_;
  std::vector<NodeAt> nodes_;
  std::vector<Use> uses_;
  std::vector<ColumnAt> columns_;
  std::vector<std::uint32_t> above_;  // columns that the path is split on, one way up
  std::vector<Drawn> drawn_;
  std::vector<double> after_, excess_;
  const Node* node_ = nullptr;
  const std::uint32_t* node_rows_ = nullptr;
  Random random_{0, 0, Purpose::decoy};
  std::uint64_t key_ = 0;
  std::size_t n_varying_ = 0;
  std::uint32_t id_ = 0;
  std::uint32_t visit_ = 0;
};

}  // namespace duramen
