#include "permute/project.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "grow/bag.hpp"
#include "permute/blocks.hpp"
#include "permute/paths.hpp"
#include "permute/walk.hpp"

namespace duramen {
namespace {

template <class Rows>
class Projector {
 public:
  Projector(const ForestView& forest, const Rows& rows, std::size_t n_columns, const Groups& groups,
            const Projections& projections, Projected& total)
      : forest_(forest),
        projections_(projections),
        width_(forest.n_values),
        total_(total),
        paths_(rows),
        entries_(groups, n_columns),
        every_(projections.n_rows),
        order_(projections.n_rows),
        spare_(projections.n_rows),
        mean_(forest.n_values) {
    for (std::uint32_t i = 0; i < projections.n_rows; ++i) every_[i] = i;
  }

  void tree(std::size_t number) {
    const TreeView tree(forest_, number);
    tree_ = &tree;
    values_ = forest_.leaf_values + static_cast<std::size_t>(forest_.leaf_offsets[number]) * width_;
    draw_bag(projections_.bags, projections_.n_rows, projections_.bag_seed,
             projections_.first_tree + number, bag_);
    paths_.start(tree, every_);
    for (const std::uint32_t row : every_) {
      if (!out_of_bag(row)) continue;
      std::atomic_ref<std::uint32_t>(total_.trees[row]).fetch_add(1, std::memory_order_relaxed);
      const double* own = of_leaf(row);
      for (std::size_t k = 0; k < width_; ++k) {
        add(total_.sums[row * width_ + k], steps(own[k]));
      }
    }
    weigh_classes(number);
    entries_.start(paths_);
    for (const std::uint32_t group : entries_.groups()) {
      changes_ = &total_.changes[group * projections_.n_rows * width_];
      for (const std::uint32_t entry : entries_.of(group)) project(group, entry);
    }
  }

 private:
  // Rows that reach the same nodes, in `order_`, and those of these nodes that are no leaves.
  struct Cell {
    std::uint32_t first, last;
    std::vector<std::uint32_t> nodes;
  };
  struct Part {
    std::uint32_t first, last;
  };

  bool out_of_bag(std::uint32_t row) const { return bag_[row] == 0; }
  const double* mass(std::uint32_t row) const { return projections_.masses + row * (width_ + 1); }
  bool teaches(std::uint32_t row) const { return bag_[row] > 0 && mass(row)[0] > 0.0; }
  const double* of_leaf(std::uint32_t row) const {
    return values_ + static_cast<std::size_t>(tree_->child[paths_.leaf(row)]) * width_;
  }
  std::int64_t steps(double value) const { return std::llrint(value * projections_.scale); }

  // Weights of classes, which may differ between bags, are what a tree weighs each class with,
  // compared with the weights of its rows.
  void weigh_classes(std::size_t number) {
    of_class_.assign(width_, 1.0);
    if (width_ == 1) return;
    const std::size_t first = static_cast<std::size_t>(forest_.offsets[number]);
    of_class_.assign(width_, 0.0);
    for (std::size_t node = 0; node < tree_->n_nodes; ++node) {
      if (tree_->feature[node] >= 0) continue;
      const double weight = forest_.weight != nullptr
                                ? forest_.weight[first + node]
                                : static_cast<double>(forest_.rows[first + node]);
      const double* values = values_ + static_cast<std::size_t>(tree_->child[node]) * width_;
      for (std::size_t k = 0; k < width_; ++k) of_class_[k] += weight * values[k];
    }
    std::fill(mean_.begin(), mean_.end(), 0.0);
    for (const std::uint32_t row : every_) {
      for (std::size_t k = 0; k < width_; ++k) {
        mean_[k] += bag_[row] * mass(row)[0] * mass(row)[k + 1];
      }
    }
    for (std::size_t k = 0; k < width_; ++k) {
      of_class_[k] = mean_[k] > 0.0 ? of_class_[k] / mean_[k] : 1.0;
    }
  }

  void project(std::uint32_t group, std::uint32_t entry) {
    const std::uint32_t n = static_cast<std::uint32_t>(paths_.end(entry) - paths_.begin(entry));
    std::copy(paths_.begin(entry), paths_.end(entry), order_.begin());
    if (std::none_of(order_.begin(), order_.begin() + n,
                     [&](std::uint32_t row) { return out_of_bag(row); })) {
      return;
    }
    cells_.clear();
    cells_.push_back({0, n, {entry}});
    while (!cells_.empty()) {
      const Cell cell = std::move(cells_.back());
      cells_.pop_back();
      set_mean(cell);
      if (cell.nodes.empty() || alike(cell)) {
        predict({cell.first, cell.last});
      } else {
        descend(group, cell);
      }
    }
  }

  // From one level of the tree to the next.
  void descend(std::uint32_t group, const Cell& cell) {
    tests_.clear();
    children_.clear();
    for (const std::uint32_t node : cell.nodes) {
      const std::uint32_t column = static_cast<std::uint32_t>(tree_->feature[node]);
      if (!entries_.membership().holds(group, column)) {
        tests_.push_back(node);
        continue;
      }
      for (std::uint32_t c = 0; c < tree_->n_children(node); ++c) {
        push(children_, static_cast<std::uint32_t>(tree_->child[node]) + c);
      }
    }
    parts_.assign(1, {cell.first, cell.last});
    for (const std::uint32_t node : tests_) {
      next_.clear();
      for (const Part& part : parts_) split(node, part);
      parts_.swap(next_);
    }
    for (const Part& part : parts_) {
      std::vector<std::uint32_t> nodes = children_;
      for (const std::uint32_t node : tests_) {
        push(nodes, static_cast<std::uint32_t>(tree_->child[node]) +
                        paths_.side(node, order_[part.first]));
      }
      cells_.push_back({part.first, part.last, std::move(nodes)});
    }
  }

  void push(std::vector<std::uint32_t>& nodes, std::uint32_t node) const {
    if (tree_->feature[node] >= 0) nodes.push_back(node);
  }

  // Adds what the children of a node hold of a part of a cell to the next parts, unless no row is
  // to be predicted there. Where too few rows of the tree are, the mean of the cell predicts.
  void split(std::uint32_t node, const Part& part) {
    const std::uint32_t n_children = tree_->n_children(node);
    starts_.assign(n_children + 1, 0);
    turns_.resize(part.last - part.first);
    for (std::uint32_t i = part.first; i < part.last; ++i) {
      const std::uint32_t turn = paths_.side(node, order_[i]);
      turns_[i - part.first] = turn;
      ++starts_[turn + 1];
    }
    if (starts_[turns_[0] + 1] == part.last - part.first) {  // rows that stay together
      next_.push_back(part);
      return;
    }
    for (std::uint32_t c = 0; c < n_children; ++c) starts_[c + 1] += starts_[c];
    places_.assign(starts_.begin(), starts_.end() - 1);
    for (std::uint32_t i = part.first; i < part.last; ++i) {
      spare_[places_[turns_[i - part.first]]++] = order_[i];
    }
    std::copy(spare_.begin(), spare_.begin() + (part.last - part.first),
              order_.begin() + part.first);
    for (std::uint32_t c = 0; c < n_children; ++c) {
      const Part child{part.first + starts_[c], part.first + starts_[c + 1]};
      bool asks = false;
      std::uint32_t n_teaching = 0;
      for (std::uint32_t i = child.first; i < child.last; ++i) {
        asks = asks || out_of_bag(order_[i]);
        n_teaching += teaches(order_[i]) ? 1 : 0;
      }
      if (!asks) continue;
      if (n_teaching >= projections_.min_rows) {
        next_.push_back(child);
      } else {
        predict(child);
      }
    }
  }

  void set_mean(const Cell& cell) {
    double total = 0.0;
    std::fill(mean_.begin(), mean_.end(), 0.0);
    for (std::uint32_t i = cell.first; i < cell.last; ++i) {
      const std::uint32_t row = order_[i];
      if (!teaches(row)) continue;
      const double* of_row = mass(row);
      const double weight = bag_[row] * of_row[0];
      total += weight;
      for (std::size_t k = 0; k < width_; ++k) mean_[k] += weight * of_row[k + 1];
    }
    if (width_ > 1) {
      total = 0.0;
      for (std::size_t k = 0; k < width_; ++k) total += mean_[k] *= of_class_[k];
    }
    for (double& mean : mean_) mean /= total;
  }

  // Whether the tree's rows of a cell have one response: then all its parts have equal predictions.
  bool alike(const Cell& cell) const {
    const double* response = nullptr;
    for (std::uint32_t i = cell.first; i < cell.last; ++i) {
      if (!teaches(order_[i])) continue;
      const double* other = mass(order_[i]) + 1;
      if (response == nullptr) response = other;
      if (!std::equal(response, response + width_, other)) return false;
    }
    return true;
  }

  void predict(const Part& part) {
    for (std::uint32_t i = part.first; i < part.last; ++i) {
      const std::uint32_t row = order_[i];
      if (!out_of_bag(row)) continue;
      const double* own = of_leaf(row);
      for (std::size_t k = 0; k < width_; ++k) {
        add(changes_[row * width_ + k], steps(mean_[k]) - steps(own[k]));
      }
    }
  }

  const ForestView& forest_;
  const Projections& projections_;
  std::size_t width_;
  Projected& total_;
  Paths<Rows> paths_;
  Entries entries_;
  std::vector<std::uint32_t> every_, order_, spare_, bag_;
  std::vector<double> mean_, of_class_;
  const TreeView* tree_ = nullptr;
  const double* values_ = nullptr;
  std::int64_t* changes_ = nullptr;
  std::vector<Cell> cells_;
  std::vector<Part> parts_, next_;
  std::vector<std::uint32_t> tests_, children_, starts_, places_, turns_;
};

}  // namespace

template <class Rows>
Projected projected_values(const ForestView& forest, const Rows& rows, std::size_t n_columns,
                           const Groups& groups, const Projections& projections, unsigned n_threads,
                           Monitor& monitor) {
  Projected total;
  total.trees.assign(projections.n_rows, 0);
  total.sums.assign(projections.n_rows * forest.n_values, 0);
  total.changes.assign(groups.count * total.sums.size(), 0);
  over_blocks(forest.n_trees, n_threads, monitor, [&] {
    return [projector = Projector<Rows>(forest, rows, n_columns, groups, projections, total)](
               std::size_t, std::size_t tree) mutable { projector.tree(tree); };
  });
  return total;
}

template Projected projected_values(const ForestView&, const CodeRows&, std::size_t, const Groups&,
                                    const Projections&, unsigned, Monitor&);

}  // namespace duramen
