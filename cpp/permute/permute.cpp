#include "permute/permute.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "permute/blocks.hpp"
#include "permute/concordance_score.hpp"
#include "permute/score.hpp"
#include "permute/walk.hpp"

namespace duramen {
namespace {

// What a block of trees loses.
struct BlockLosses {
  std::vector<std::uint32_t> groups;
  std::vector<double> losses;
  std::uint64_t n_trees = 0;
};

template <class TreeScore>
class LossSink {
 public:
  LossSink(const ForestView& forest, const Truth& truth, const Counted& counted, TreeScore score,
           Losses& total, std::vector<BlockLosses>& blocks)
      : truth_(truth),
        counted_(counted),
        leaves_(forest),
        score_(std::move(score)),
        total_(total),
        blocks_(blocks) {}

  void start_block(std::size_t block) { block_ = &blocks_[block]; }

  template <class Rows>
  bool start_tree(const Paths<Rows>& paths, std::size_t number) {
    leaves_.start(paths.tree(), number);
    rows_.resize(paths.size());
    before_.resize(paths.size());
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      rows_[i] = paths.row(i);
      before_[i] = leaves_.number(paths.leaf(i));
      if (counted_.votes) {
        const std::size_t c = truth_.n_classes;
        add(total_.votes[truth_.classes[rows_[i]] * c + leaves_.vote(before_[i])], 1);
      }
    }
    const bool scored = score_.start_tree(paths, leaves_);
    block_->n_trees += scored ? 1 : 0;
    return scored;
  }

  bool wants(std::uint32_t) const { return true; }
  void start_group(std::uint32_t group) {
    group_ = group;
    score_.start_group();
  }
  void start_repeat() { score_.start_repeat(); }

  void change(std::uint32_t position, std::size_t node, double weight) {
    const std::size_t after = leaves_.number(node);
    const std::uint32_t row = rows_[position];
    score_.change(row, before_[position], after, weight);
    if (!counted_.votes) return;
    const std::uint32_t old_vote = leaves_.vote(before_[position]);
    const std::uint32_t new_vote = leaves_.vote(after);
    if (old_vote == new_vote) return;
    const std::size_t c = truth_.n_classes;
    std::int64_t* votes = &total_.changed_votes[(group_ * c + truth_.classes[row]) * c];
    add(votes[old_vote], -1);
    add(votes[new_vote], 1);
  }

  void end_repeat(double weight) { score_.end_repeat(weight); }

  void end_group() {
    const std::vector<double>& losses = score_.losses();
    if (std::all_of(losses.begin(), losses.end(), [](double loss) { return loss == 0.0; })) return;
    block_->groups.push_back(group_);
    block_->losses.insert(block_->losses.end(), losses.begin(), losses.end());
  }

 private:
  const Truth& truth_;
  const Counted& counted_;
  Leaves leaves_;
  TreeScore score_;
  Losses& total_;
  std::vector<BlockLosses>& blocks_;
  BlockLosses* block_ = nullptr;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> before_;
  std::uint32_t group_ = 0;
};

// Votes and changes of votes of the forest as a whole.
class BallotSink {
 public:
  BallotSink(const ForestView& forest, const Truth& truth, const std::vector<std::uint32_t>& slots,
             std::size_t n_wanted, double scale, bool alone, Ballots& ballots)
      : width_(forest.n_values),
        truth_(truth),
        slots_(slots),
        n_wanted_(n_wanted),
        scale_(scale),
        alone_(alone),
        leaves_(forest),
        ballots_(ballots) {}

  static constexpr std::uint32_t kUnwanted = 0xFFFFFFFFU;

  void start_block(std::size_t) {}

  template <class Rows>
  bool start_tree(const Paths<Rows>& paths, std::size_t number) {
    leaves_.start(paths.tree(), number);
    steps_.resize(leaves_.count() * width_);
    for (std::size_t leaf = 0; leaf < leaves_.count(); ++leaf) {
      const double* values = leaves_.values(leaf);
      for (std::size_t k = 0; k < width_; ++k) {
        steps_[leaf * width_ + k] =
            scale_ == 0.0 ? leaves_.vote(leaf) == k : std::llrint(values[k] * scale_);
      }
    }
    rows_.resize(paths.size());
    before_.resize(paths.size());
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      rows_[i] = paths.row(i);
      before_[i] = leaves_.number(paths.leaf(i));
      std::atomic_ref<std::uint32_t>(ballots_.trees[rows_[i]])
          .fetch_add(1, std::memory_order_relaxed);
      std::int64_t* votes = &ballots_.votes[rows_[i] * width_];
      for (std::size_t k = 0; k < width_; ++k) add(votes[k], steps_[before_[i] * width_ + k]);
    }
    return true;
  }

  bool wants(std::uint32_t group) const { return slots_[group] != kUnwanted; }
  void start_group(std::uint32_t group) {
    next_ = &ballots_.changes[slots_[group] * truth_.n_rows * width_];
  }
  void start_repeat() {
    changes_ = next_;
    next_ += n_wanted_ * truth_.n_rows * width_;
  }
  void change(std::uint32_t position, std::size_t node, double) {
    std::int64_t* votes = changes_ + rows_[position] * width_;
    const std::int64_t* before = &steps_[before_[position] * width_];
    const std::int64_t* after = &steps_[leaves_.number(node) * width_];
    for (std::size_t k = 0; k < width_; ++k) {
      if (after[k] != before[k]) add(votes[k], after[k] - before[k], alone_);
    }
  }
  void end_repeat(double) {}
  void end_group() {}

 private:
  std::size_t width_;
  const Truth& truth_;
  const std::vector<std::uint32_t>& slots_;
  std::size_t n_wanted_;
  double scale_;
  bool alone_;
  Leaves leaves_;
  Ballots& ballots_;
  std::int64_t* changes_ = nullptr;
  std::int64_t* next_ = nullptr;  // of the next repeat
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> before_;
  std::vector<std::int64_t> steps_;  // leaf by value: a vote, or its value times scale
};

// Replaces values in one tree after another.
template <class Rows>
class Replacing {
 public:
  Replacing(const ForestView& forest, const Rows& rows, std::size_t n_columns, const Groups& groups,
            const Replacements& replacements, const std::vector<std::uint32_t>& chosen,
            double scale, bool alone, Replaced& result)
      : forest_(forest),
        rows_(rows),
        groups_(groups),
        replacements_(replacements),
        chosen_(chosen),
        scale_(scale),
        alone_(alone),
        result_(result),
        paths_(rows, false),
        membership_(groups, n_columns),
        leaves_(forest),
        turns_(groups.count * replacements.n_draws, kNone),
        places_(n_columns, kNone) {}

  void tree(std::size_t number) {
    const TreeView tree(forest_, number);
    paths_.start(tree, chosen_);
    leaves_.start(tree, number);
    scaled_.resize(leaves_.count() * forest_.n_values);
    for (std::size_t k = 0; k < scaled_.size(); ++k) {
      scaled_[k] = std::llrint(leaves_.values(0)[k] * scale_);
    }
    const std::size_t width = forest_.n_values;
    for (std::uint32_t i = 0; i < chosen_.size(); ++i) {
      const std::int64_t* own = at(paths_.leaf(i));
      for (std::size_t k = 0; k < width; ++k) add(result_.sums[i * width + k], own[k], alone_);
      find_turns(i);
      for (const std::uint32_t turned : turned_) {
        const std::uint32_t group = turned / static_cast<std::uint32_t>(replacements_.n_draws);
        const std::int64_t* other = at(leaf_after(turned, group, i));
        std::int64_t* changes = &result_.changes[(group * chosen_.size() + i) * width];
        for (std::size_t k = 0; k < width; ++k) add(changes[k], other[k] - own[k], alone_);
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  const std::int64_t* at(std::size_t node) const {
    return &scaled_[leaves_.number(node) * forest_.n_values];
  }

  std::uint32_t donor(std::size_t place, std::size_t draw, std::uint32_t i) const {
    return replacements_.donors[(place * replacements_.n_draws + draw) * chosen_.size() + i];
  }

  // The first nodes on the path of a row where values of donors lead elsewhere: from the leaf up,
  // so that nodes higher up take the place of those below. The path is walked once for all groups,
  // instead of once for each from its first split on.
  void find_turns(std::uint32_t i) {
    const TreeView& tree = paths_.tree();
    turned_.clear();
    for (std::size_t node = paths_.leaf(i); node != 0;) {
      const std::size_t below = node;
      node = paths_.parent(below);
      const std::size_t own = below - static_cast<std::size_t>(tree.child[node]);
      membership_.visit(static_cast<std::uint32_t>(tree.feature[node]), [&](std::uint32_t group,
                                                                            std::size_t place) {
        for (std::size_t draw = 0; draw < replacements_.n_draws; ++draw) {
          if (tree.side(node, rows_, donor(place, draw, i)) == own) continue;
          std::uint32_t& turn = turns_[group * replacements_.n_draws + draw];
          if (turn == kNone) {
            turned_.push_back(static_cast<std::uint32_t>(group * replacements_.n_draws + draw));
          }
          turn = static_cast<std::uint32_t>(node);
        }
      });
    }
  }

  // The leaf that a row comes to after it has turned.
  std::size_t leaf_after(std::uint32_t turned, std::uint32_t group, std::uint32_t i) {
    const TreeView& tree = paths_.tree();
    const std::size_t draw = turned % replacements_.n_draws;
    const auto first = static_cast<std::size_t>(groups_.offsets[group]);
    const auto last = static_cast<std::size_t>(groups_.offsets[group + 1]);
    for (std::size_t place = first; place < last; ++place) {
      places_[groups_.columns[place]] = static_cast<std::uint32_t>(place);
    }
    std::size_t node = turns_[turned];
    turns_[turned] = kNone;
    while (tree.feature[node] >= 0) {
      const std::uint32_t place = places_[static_cast<std::size_t>(tree.feature[node])];
      node =
          static_cast<std::size_t>(tree.child[node]) +
          (place == kNone ? paths_.side(node, i) : tree.side(node, rows_, donor(place, draw, i)));
    }
    for (std::size_t place = first; place < last; ++place) places_[groups_.columns[place]] = kNone;
    return node;
  }

  const ForestView& forest_;
  const Rows& rows_;
  const Groups& groups_;
  const Replacements& replacements_;
  const std::vector<std::uint32_t>& chosen_;
  double scale_;
  bool alone_;
  Replaced& result_;
  Paths<Rows> paths_;
  Membership membership_;
  Leaves leaves_;
  std::vector<std::int64_t> scaled_;  // leaf by value, in steps of 1 / scale
  std::vector<std::uint32_t> turns_;  // node by group and draw, for a row
  std::vector<std::uint32_t> turned_;
  std::vector<std::uint32_t> places_;  // by column, of a group
};

}  // namespace

template <class Rows>
Losses permutation_losses(const ForestView& forest, const Rows& rows, const Truth& truth,
                          const Groups& groups, const Permutations& permutations,
                          const Counted& counted, unsigned n_threads, Monitor& monitor) {
  Losses total;
  total.width = counted.by_class ? 1 + std::size_t{truth.n_classes} : 1;
  if (counted.votes) {
    const std::size_t cells = std::size_t{truth.n_classes} * truth.n_classes;
    total.votes.assign(cells, 0);
    total.changed_votes.assign(groups.count * cells, 0);
  }
  const std::size_t size = block_size(forest.n_trees, n_threads);
  std::vector<BlockLosses> blocks((forest.n_trees + size - 1) / size);
  const auto run = [&](const auto& score) {
    over_blocks(forest.n_trees, n_threads, monitor, [&] {
      return [walk = Walk<Rows>(forest, rows, truth.n_rows, groups, permutations,
                                rows.table.n_columns),
              sink = LossSink(forest, truth, counted, score, total, blocks)](
                 std::size_t block, std::size_t tree) mutable {
        sink.start_block(block);
        walk.tree(tree, sink);
      };
    });
  };
  if (counted.score == Score::auc) {
    run(AucScore(truth, counted.by_class));
  } else if (counted.score == Score::concordance) {
    run(ConcordanceScore(truth));
  } else {
    run(RowScore(counted.score, truth, counted.by_class));
  }
  for (const BlockLosses& block : blocks) {
    total.n_trees += block.n_trees;
    total.groups.insert(total.groups.end(), block.groups.begin(), block.groups.end());
    total.losses.insert(total.losses.end(), block.losses.begin(), block.losses.end());
  }
  return total;
}

template <class Rows>
Ballots permuted_ballots(const ForestView& forest, const Rows& rows, const Truth& truth,
                         const Groups& groups, const Permutations& permutations,
                         const std::vector<std::uint32_t>& wanted, double scale, unsigned n_threads,
                         Monitor& monitor) {
  std::vector<std::uint32_t> slots(groups.count, BallotSink::kUnwanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) slots[wanted[i]] = static_cast<std::uint32_t>(i);
  Permutations asked = permutations;
  asked.place = slots.data();
  asked.n_wanted = wanted.size();
  Ballots ballots;
  ballots.trees.assign(truth.n_rows, 0);
  ballots.votes.assign(truth.n_rows * forest.n_values, 0);
  ballots.changes.assign(asked.n_repeats * wanted.size() * ballots.votes.size(), 0);
  over_blocks(forest.n_trees, n_threads, monitor, [&] {
    return [walk = Walk<Rows>(forest, rows, truth.n_rows, groups, asked, rows.table.n_columns),
            sink = BallotSink(forest, truth, slots, wanted.size(), scale, n_threads == 1, ballots)](
               std::size_t block, std::size_t tree) mutable {
      sink.start_block(block);
      walk.tree(tree, sink);
    };
  });
  return ballots;
}

template <class Rows>
Replaced replaced_values(const ForestView& forest, const Rows& rows, std::size_t n_columns,
                         const Groups& groups, const Replacements& replacements, double scale,
                         unsigned n_threads, Monitor& monitor) {
  const std::vector<std::uint32_t> chosen(replacements.rows,
                                          replacements.rows + replacements.n_rows);
  Replaced result;
  result.sums.assign(chosen.size() * forest.n_values, 0);
  result.changes.assign(groups.count * result.sums.size(), 0);
  over_blocks(forest.n_trees, n_threads, monitor, [&] {
    return [replacing = Replacing<Rows>(forest, rows, n_columns, groups, replacements, chosen,
                                        scale, n_threads == 1, result)](
               std::size_t, std::size_t number) mutable { replacing.tree(number); };
  });
  return result;
}

#define DURAMEN_PERMUTE(Rows)                                                                     \
  template Losses permutation_losses(const ForestView&, const Rows&, const Truth&, const Groups&, \
                                     const Permutations&, const Counted&, unsigned, Monitor&);    \
  template Ballots permuted_ballots(const ForestView&, const Rows&, const Truth&, const Groups&,  \
                                    const Permutations&, const std::vector<std::uint32_t>&,       \
                                    double, unsigned, Monitor&);                                  \
  template Replaced replaced_values(const ForestView&, const Rows&, std::size_t, const Groups&,   \
                                    const Replacements&, double, unsigned, Monitor&);
DURAMEN_PERMUTE(CodeRows)
DURAMEN_PERMUTE(ValueRows)

}  // namespace duramen
