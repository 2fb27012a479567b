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
             double scale, Ballots& ballots)
      : width_(forest.n_values),
        truth_(truth),
        slots_(slots),
        scale_(scale),
        leaves_(forest),
        ballots_(ballots) {}

  static constexpr std::uint32_t kUnwanted = 0xFFFFFFFFU;

  void start_block(std::size_t) {}

  template <class Rows>
  bool start_tree(const Paths<Rows>& paths, std::size_t number) {
    leaves_.start(paths.tree(), number);
    rows_.resize(paths.size());
    before_.resize(paths.size());
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      rows_[i] = paths.row(i);
      before_[i] = leaves_.number(paths.leaf(i));
      std::atomic_ref<std::uint32_t>(ballots_.trees[rows_[i]])
          .fetch_add(1, std::memory_order_relaxed);
      cast(&ballots_.votes[rows_[i] * width_], before_[i], 1);
    }
    return true;
  }

  bool wants(std::uint32_t group) const { return slots_[group] != kUnwanted; }
  void start_group(std::uint32_t group) {
    changes_ = &ballots_.changes[slots_[group] * truth_.n_rows * width_];
  }
  void start_repeat() {}
  void change(std::uint32_t position, std::size_t node, double) {
    std::int64_t* votes = changes_ + rows_[position] * width_;
    cast(votes, before_[position], -1);
    cast(votes, leaves_.number(node), 1);
  }
  void end_repeat(double) {}
  void end_group() {}

 private:
  void cast(std::int64_t* votes, std::size_t leaf, std::int64_t sign) {
    if (scale_ == 0.0) {
      add(votes[leaves_.vote(leaf)], sign);
      return;
    }
    const double* values = leaves_.values(leaf);
    for (std::size_t k = 0; k < width_; ++k) add(votes[k], sign * std::llrint(values[k] * scale_));
  }

  std::size_t width_;
  const Truth& truth_;
  const std::vector<std::uint32_t>& slots_;
  double scale_;
  Leaves leaves_;
  Ballots& ballots_;
  std::int64_t* changes_ = nullptr;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> before_;
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
  Ballots ballots;
  ballots.trees.assign(truth.n_rows, 0);
  ballots.votes.assign(truth.n_rows * forest.n_values, 0);
  ballots.changes.assign(wanted.size() * ballots.votes.size(), 0);
  over_blocks(forest.n_trees, n_threads, monitor, [&] {
    return [walk = Walk<Rows>(forest, rows, truth.n_rows, groups, asked, rows.table.n_columns),
            sink = BallotSink(forest, truth, slots, scale, ballots)](std::size_t block,
                                                                     std::size_t tree) mutable {
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
  const std::size_t n = replacements.n_rows;
  const std::size_t width = forest.n_values;
  const std::vector<std::uint32_t> chosen(replacements.rows, replacements.rows + n);
  Replaced result;
  result.sums.assign(n * width, 0);
  result.changes.assign(groups.count * n * width, 0);
  // Whole numbers add up to the same in any order, and so for any number of threads.
  const auto cast = [&](std::int64_t* sums, const double* values, double sign) {
    for (std::size_t k = 0; k < width; ++k) add(sums[k], std::llrint(values[k] * scale * sign));
  };
  over_blocks(forest.n_trees, n_threads, monitor, [&] {
    return [&, paths = Paths<Rows>(rows), entries = Entries(groups, n_columns),
            leaves = Leaves(forest)](std::size_t, std::size_t number) mutable {
      const TreeView tree(forest, number);
      paths.start(tree, chosen);
      leaves.start(tree, number);
      const auto values_at = [&](std::size_t node) { return leaves.values(leaves.number(node)); };
      for (std::uint32_t i = 0; i < n; ++i) {
        cast(&result.sums[i * width], values_at(paths.leaf(i)), 1.0);
      }
      const auto donor_of = [&](std::size_t place, std::size_t draw, std::uint32_t i) {
        return replacements.donors[(place * replacements.n_draws + draw) * n + i];
      };
      entries.start(paths);
      for (const std::uint32_t group : entries.groups()) {
        for (const std::uint32_t entry : entries.of(group)) {
          for (const std::uint32_t* i = paths.begin(entry); i != paths.end(entry); ++i) {
            std::int64_t* changes = &result.changes[(group * n + *i) * width];
            for (std::size_t draw = 0; draw < replacements.n_draws; ++draw) {
              std::size_t node = entry;
              while (tree.feature[node] >= 0) {
                const auto column = static_cast<std::uint32_t>(tree.feature[node]);
                const std::size_t place = entries.membership().place(group, column);
                node =
                    static_cast<std::size_t>(tree.child[node]) +
                    (place == Membership::kNone ? paths.side(node, *i)
                                                : tree.side(node, rows, donor_of(place, draw, *i)));
              }
              if (node == paths.leaf(*i)) continue;
              cast(changes, values_at(paths.leaf(*i)), -1.0);
              cast(changes, values_at(node), 1.0);
            }
          }
        }
      }
    };
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
