// The nodes of trees with their rows, child by child and class by class, laid out so that the rows
// of many contexts can be counted in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "permute/paths.hpp"

namespace duramen {

// Rows of one class that go to one child.
struct Run {
  std::uint32_t begin, end;  // among the rows of the layout
  std::uint32_t group;       // class, numbered within the node
};

struct Child {
  std::uint32_t first_run, last_run;
  std::uint32_t n_rows;
};

struct LaidNode {
  std::int32_t column;  // -1 for a leaf: one child, all its rows
  std::uint32_t first_child, last_child;
  std::uint32_t first_group, last_group;
  std::uint32_t n_rows;
  double levels;
};

// Some trees, one after another.
struct Layout {
  std::vector<LaidNode> nodes;
  std::vector<Child> children;
  std::vector<Run> runs;
  std::vector<std::uint32_t> groups;  // rows of each class at a node
  std::vector<std::uint32_t> rows;

  void clear() {
    nodes.clear();
    children.clear();
    runs.clear();
    groups.clear();
    rows.clear();
  }
};

// Appends trees to a layout: all nodes, or those that split on one column. Leaves of one class, or
// one row, are left out: nothing divides them.
class LayoutMaker {
 public:
  LayoutMaker(const ForestView& forest, const Table& table, const Truth& truth,
              const double* levels, std::int32_t column)
      : forest_(forest),
        truth_(truth),
        levels_(levels),
        column_(column),
        rows_{table},
        paths_(rows_, false) {
    all_.resize(table.n_rows);
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i] = static_cast<std::uint32_t>(i);
    numbers_.assign(std::max(truth.n_classes, 1U), kNone);
  }

  void add(std::size_t number, Layout& layout) {
    const TreeView tree(forest_, number);
    const double* levels = levels_ + forest_.offsets[number];
    paths_.start(tree, all_);
    for (std::size_t node = 0; node < tree.n_nodes; ++node) {
      if (!paths_.reached(node) || (column_ >= 0 && tree.feature[node] != column_)) continue;
      if (tree.feature[node] >= 0 || (levels[node] > 0.0 && divisible(node))) {
        add_node(tree, node, levels[node], layout);
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  std::uint32_t group_of(std::uint32_t row) const {
    return truth_.n_classes > 0 ? truth_.classes[row] : 0U;
  }

  bool divisible(std::size_t node) const {
    const std::uint32_t* begin = paths_.begin(node);
    const std::uint32_t* end = paths_.end(node);
    if (end - begin < 2) return false;
    return truth_.n_classes == 0 || std::any_of(begin, end, [&](std::uint32_t i) {
             return group_of(i) != group_of(*begin);
           });
  }

  void add_node(const TreeView& tree, std::size_t node, double levels, Layout& layout) {
    placed_.clear();
    const bool leaf = tree.feature[node] < 0;
    for (const std::uint32_t* i = paths_.begin(node); i != paths_.end(node); ++i) {
      placed_.push_back({leaf ? 0U : paths_.side(node, *i), group_of(*i), *i});
    }
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) {
      if (a.child != b.child) return a.child < b.child;
      return a.group != b.group ? a.group < b.group : a.row < b.row;
    });
    LaidNode made{};
    made.column = tree.feature[node];
    made.first_child = static_cast<std::uint32_t>(layout.children.size());
    made.first_group = static_cast<std::uint32_t>(layout.groups.size());
    made.n_rows = static_cast<std::uint32_t>(placed_.size());
    made.levels = levels;
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const Placed& here = placed_[i];
      const std::uint32_t at = static_cast<std::uint32_t>(layout.rows.size());
      layout.rows.push_back(here.row);
      const bool new_child = i == 0 || here.child != placed_[i - 1].child;
      if (new_child) {
        const std::uint32_t run = static_cast<std::uint32_t>(layout.runs.size());
        layout.children.push_back({run, run, 0});
      }
      if (new_child || here.group != placed_[i - 1].group) {
        layout.runs.push_back({at, at, number_of(here.group, made.first_group, layout)});
        layout.children.back().last_run = static_cast<std::uint32_t>(layout.runs.size());
      }
      layout.runs.back().end = at + 1;
      ++layout.children.back().n_rows;
      ++layout.groups[made.first_group + layout.runs.back().group];
    }
    made.last_group = static_cast<std::uint32_t>(layout.groups.size());
    made.last_child = static_cast<std::uint32_t>(layout.children.size());
    layout.nodes.push_back(made);
    for (const Placed& here : placed_) numbers_[here.group] = kNone;
  }

  // Number of a class within its node, of which the first one is at `first` among all.
  std::uint32_t number_of(std::uint32_t group, std::uint32_t first, Layout& layout) {
    std::uint32_t& number = numbers_[group];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(layout.groups.size()) - first;
      layout.groups.push_back(0);
    }
    return number;
  }

  struct Placed {
    std::uint32_t child, group, row;
  };

  const ForestView& forest_;
  const Truth& truth_;
  const double* levels_;
  std::int32_t column_;  // -1 for all
  CodeRows rows_;
  Paths<CodeRows> paths_;
  std::vector<std::uint32_t> all_, numbers_;
  std::vector<Placed> placed_;
};

}  // namespace duramen
