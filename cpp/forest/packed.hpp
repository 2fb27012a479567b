// One tree with all that routes a row at a node side by side, for rows of the training table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "forest/route.hpp"
#include "grow/bag.hpp"
#include "grow/problem.hpp"

namespace duramen {

struct PackedNode {
  std::int32_t slot;  // of its column, or -1 at a leaf
  std::uint32_t child;
  std::uint32_t cut;
  bool plain;  // codes <= cut go to child 0, the others to child 1
};

class PackedTree {
 public:
  // Rows that are sent down side by side: a row waits for memory while others move on.
  static constexpr std::size_t kLanes = 16;

  explicit PackedTree(const Table& table) : table_(table) {}

  // slot_of(column): where codes of a column are asked for.
  template <class SlotOf>
  void start(const TreeView& tree, SlotOf&& slot_of) {
    tree_ = &tree;
    nodes_.resize(tree.n_nodes);
    for (std::size_t node = 0; node < tree.n_nodes; ++node) {
      const std::int32_t feature = tree.feature[node];
      if (feature < 0) {
        nodes_[node] = {-1, 0, 0, false};
        continue;
      }
      const std::size_t column = static_cast<std::size_t>(feature);
      const std::uint8_t flags = tree.split[node];
      const bool ordered = (flags & kFamilyMask) == static_cast<int>(Family::ordered);
      const bool missing_first = (flags & kMissingFirst) != 0 && table_.missing[column] != 0;
      nodes_[node] = {static_cast<std::int32_t>(slot_of(column)),
                      static_cast<std::uint32_t>(tree.child[node]), tree.cut[node],
                      ordered && !missing_first};
    }
  }

  struct NoStop {
    void operator()(std::size_t, std::size_t, std::size_t) const {}
  };

  // Sends up to kLanes rows, each at a node, on to their leaves; code_of(lane, slot), and
  // arrive(lane, slot, node) at each node that a split by the column of the slot leads to.
  template <class CodeOf, class Arrive = NoStop>
  void descend(std::uint32_t* at, std::size_t n, CodeOf&& code_of, Arrive&& arrive = {}) const {
    std::array<std::uint8_t, kLanes> moving;
    for (std::size_t i = 0; i < n; ++i) moving[i] = static_cast<std::uint8_t>(i);
    while (n > 0) {
      std::size_t left = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t lane = moving[i];
        const PackedNode& node = nodes_[at[lane]];
        if (node.slot < 0) continue;
        const std::size_t slot = static_cast<std::size_t>(node.slot);
        const std::uint32_t code = code_of(lane, slot);
        at[lane] = node.child + (node.plain ? (code > node.cut ? 1U : 0U) : side(at[lane], code));
        arrive(lane, slot, at[lane]);
        moving[left++] = lane;
      }
      n = left;
    }
  }

 private:
  // A row that has one code in whichever column is asked for.
  struct OneCode {
    const Table& table;
    std::uint32_t value;
    bool is_missing(std::size_t j, std::size_t) const {
      return table.missing[j] != 0 && value == table.n_values(j);
    }
    std::uint32_t code(std::size_t, std::size_t) const { return value; }
    bool first_of_ordered(std::size_t, std::size_t, std::uint32_t cut, double, bool) const {
      return value <= cut;
    }
  };

  std::uint32_t side(std::size_t node, std::uint32_t code) const {
    return tree_->side(node, OneCode{table_, code}, 0);
  }

  const Table& table_;
  const TreeView* tree_ = nullptr;
  std::vector<PackedNode> nodes_;
};

// Leaves of the rows that a tree is asked for, one tree after another.
template <class Rows>
class Descent {
 public:
  explicit Descent(const Rows& rows) : rows_(rows) {}
  void start(const TreeView& tree) { tree_ = &tree; }

  void leaves(const std::uint32_t* rows, std::size_t n, std::uint32_t* leaf) const {
    for (std::size_t i = 0; i < n; ++i) {
      leaf[i] = static_cast<std::uint32_t>(tree_->leaf(rows_, rows[i]));
    }
  }

 private:
  const Rows& rows_;
  const TreeView* tree_ = nullptr;
};

template <>
class Descent<CodeRows> {
 public:
  explicit Descent(const CodeRows& rows) : rows_(rows), packed_(rows.table) {}
  void start(const TreeView& tree) {
    packed_.start(tree, [](std::size_t column) { return column; });
  }

  void leaves(const std::uint32_t* rows, std::size_t n, std::uint32_t* leaf) const {
    for (std::size_t first = 0; first < n; first += PackedTree::kLanes) {
      const std::size_t some = std::min(n - first, PackedTree::kLanes);
      std::fill_n(leaf + first, some, 0U);
      packed_.descend(leaf + first, some, [&](std::size_t lane, std::size_t column) {
        return rows_.code(column, rows[first + lane]);
      });
    }
  }

 private:
  const CodeRows& rows_;
  PackedTree packed_;
};

// Rows whose leaves are looked up at a time.
constexpr std::size_t kRowsAtATime = 1024;

// Rows out of the bag of each tree.
class OutOfBagRows {
 public:
  OutOfBagRows(const Settings& settings, std::size_t n_rows, std::uint64_t seed,
               std::uint64_t first_tree)
      : settings_(settings), n_rows_(n_rows), seed_(seed), first_tree_(first_tree) {}
  void start(std::size_t tree) { draw_bag(settings_, n_rows_, seed_, first_tree_ + tree, bag_); }
  bool operator()(std::size_t row) const { return bag_[row] == 0; }

 private:
  Settings settings_;
  std::size_t n_rows_;
  std::uint64_t seed_, first_tree_;
  std::vector<std::uint32_t> bag_;
};

}  // namespace duramen
