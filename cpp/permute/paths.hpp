// The rows of one tree on their way down: which of them a node holds, and where each would turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "forest/route.hpp"

namespace duramen {

// Rows are named by their position among the rows that are sent down the tree.
template <class Rows>
class Paths {
 public:
  // With a table of sides for rows that do not reach a node, where many are asked for.
  explicit Paths(const Rows& rows, bool with_table = true) : rows_(rows), with_table_(with_table) {}

  void start(const TreeView& tree, const std::vector<std::uint32_t>& chosen) {
    tree_ = &tree;
    chosen_ = &chosen;
    const std::uint32_t n = size();
    tabulate();
    at_.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) at_[i] = i;
    spare_.resize(n);
    starts_.assign(tree.n_nodes, 0);
    ends_.assign(tree.n_nodes, 0);
    parents_.assign(tree.n_nodes, 0);
    leaves_.resize(n);
    ends_[0] = n;
    for (std::size_t node = 0; node < tree.n_nodes; ++node) {  // children come after their parent
      if (starts_[node] == ends_[node]) continue;
      if (tree.feature[node] < 0) {
        for (const std::uint32_t* i = begin(node); i != end(node); ++i) {
          leaves_[*i] = static_cast<std::uint32_t>(node);
        }
      } else {
        deal_out(node);
      }
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(chosen_->size()); }
  const TreeView& tree() const { return *tree_; }
  std::uint32_t row(std::uint32_t position) const { return (*chosen_)[position]; }
  // The positions of the rows at a node.
  const std::uint32_t* begin(std::size_t node) const { return at_.data() + starts_[node]; }
  const std::uint32_t* end(std::size_t node) const { return at_.data() + ends_[node]; }
  bool reached(std::size_t node) const { return starts_[node] != ends_[node]; }
  std::uint32_t leaf(std::uint32_t position) const { return leaves_[position]; }
  // Of a node that some row reaches, but for the root.
  std::size_t parent(std::size_t node) const { return parents_[node]; }

  bool tabulated() const { return tabulated_; }
  // Which child of an inner node the row would go to, whether it reaches the node or not.
  std::uint32_t side(std::size_t node, std::uint32_t position) const {
    if (tabulated_) return sides_[slots_[node] + position];
    return tree_->side(node, rows_, row(position));
  }

 private:
  // Sides are looked up in a table while it fits the second cache and is quickly made.
  static constexpr std::size_t kLargestTable = std::size_t{1} << 18;

  void tabulate() {
    const std::size_t n = size();
    std::size_t n_inner = 0;
    tabulated_ = with_table_;
    if (!tabulated_) return;
    slots_.resize(tree_->n_nodes);
    for (std::size_t node = 0; node < tree_->n_nodes; ++node) {
      if (tree_->feature[node] < 0) continue;
      slots_[node] = n_inner++ * n;
      if (tree_->n_children(node) > 256) tabulated_ = false;
    }
    if (n_inner * n > kLargestTable) tabulated_ = false;
    if (!tabulated_) return;
    sides_.resize(n_inner * n);
    for (std::size_t node = 0; node < tree_->n_nodes; ++node) {
      if (tree_->feature[node] >= 0) fill(node, sides_.data() + slots_[node]);
    }
  }

  void fill(std::size_t node, std::uint8_t* sides) {
    const std::uint32_t n = size();
    const std::uint32_t* rows = chosen_->data();
    const std::size_t column = static_cast<std::size_t>(tree_->feature[node]);
    if constexpr (std::is_same_v<Rows, CodeRows>) {
      const bool ordered = (tree_->split[node] & kFamilyMask) == static_cast<int>(Family::ordered);
      if (ordered && rows_.table.missing[column] == 0) {
        const std::uint32_t cut = tree_->cut[node];
        rows_.table.visit_column(column, [&](auto codes) {
          for (std::uint32_t i = 0; i < n; ++i) sides[i] = codes[rows[i]] > cut ? 1 : 0;
        });
        return;
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      sides[i] = static_cast<std::uint8_t>(tree_->side(node, rows_, rows[i]));
    }
  }

  // Sorts the positions at a node by the child they go to, stably.
  void deal_out(std::size_t node) {
    const std::uint32_t first = starts_[node];
    const std::uint32_t last = ends_[node];
    const std::size_t child = static_cast<std::size_t>(tree_->child[node]);
    const std::uint32_t n_children = tree_->n_children(node);
    counts_.assign(n_children + 1, 0);
    turns_.resize(last - first);
    for (std::uint32_t i = first; i < last; ++i) {
      turns_[i - first] = side(node, at_[i]);
      ++counts_[turns_[i - first] + 1];
    }
    for (std::uint32_t c = 0; c < n_children; ++c) {
      counts_[c + 1] += counts_[c];
      starts_[child + c] = first + counts_[c];
      ends_[child + c] = first + counts_[c + 1];
      parents_[child + c] = static_cast<std::uint32_t>(node);
    }
    for (std::uint32_t i = first; i < last; ++i) spare_[counts_[turns_[i - first]]++] = at_[i];
    std::copy(spare_.begin(), spare_.begin() + (last - first), at_.begin() + first);
  }

  const Rows& rows_;
  bool with_table_;
  const TreeView* tree_ = nullptr;
  const std::vector<std::uint32_t>* chosen_ = nullptr;
  bool tabulated_ = false;
  std::vector<std::size_t> slots_;
  std::vector<std::uint8_t> sides_;
  std::vector<std::uint32_t> at_, spare_, starts_, ends_, parents_, leaves_, counts_, turns_;
};

}  // namespace duramen
