#include "forest/prune.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "forest/route.hpp"

namespace duramen {
namespace {

class Pruner {
 public:
  Pruner(const ForestView& forest, std::size_t index)
      : tree_(forest, index),
        n_(tree_.n_nodes),
        parent_(n_, 0),
        leaves_(n_, 1),
        own_(n_, 0.0),
        beneath_(n_, 0.0),
        gone_(n_, 0) {
    const std::int64_t start = forest.offsets[index];
    const auto weight = [&](std::size_t node) {
      const std::size_t at = static_cast<std::size_t>(start) + node;
      return forest.weight == nullptr ? static_cast<double>(forest.rows[at]) : forest.weight[at];
    };
    if (n_ < 2) return;
    for (std::size_t node = 0; node < n_; ++node) {
      own_[node] =
          forest.impurity[static_cast<std::size_t>(start) + node] * weight(node) / weight(0);
    }
    // Children come after their parent.
    for (std::size_t node = n_; node-- > 0;) {
      if (is_leaf(node)) {
        beneath_[node] = own_[node];
        continue;
      }
      leaves_[node] = 0;
      visit_children(node, [&](std::size_t child) {
        parent_[child] = node;
        leaves_[node] += leaves_[child];
        beneath_[node] += beneath_[child];
      });
      links_.push({strength(node), node});
    }
  }

  // Prunes link after link; fills the entries of the nodes of the tree.
  void prune(double* alpha, double* increase, std::int64_t* fewer_leaves) {
    double last = 0.0;
    while (!links_.empty()) {
      const auto [queued, node] = links_.top();
      links_.pop();
      // Links whose subtree has changed were pushed again.
      if (gone_[node] || queued != strength(node)) continue;
      last = std::max(last, queued);
      const std::uint32_t fewer = leaves_[node] - 1;
      const double more = own_[node] - beneath_[node];
      alpha[node] = last;
      increase[node] = std::max(0.0, more);
      fewer_leaves[node] = fewer;
      remove_beneath(node);
      gone_[node] = 1;
      for (std::size_t above = node; above != 0;) {
        above = parent_[above];
        leaves_[above] -= fewer;
        beneath_[above] += more;
        links_.push({strength(above), above});
      }
    }
  }

 private:
  using Link = std::pair<double, std::size_t>;

  bool is_leaf(std::size_t node) const { return tree_.feature[node] < 0; }

  template <class Visit>
  void visit_children(std::size_t node, Visit&& visit) const {
    const std::size_t first = static_cast<std::size_t>(tree_.child[node]);
    for (std::uint32_t c = 0; c < tree_.n_children(node); ++c) visit(first + c);
  }

  double strength(std::size_t node) const {
    return (own_[node] - beneath_[node]) / static_cast<double>(leaves_[node] - 1);
  }

  void remove_beneath(std::size_t node) {
    stack_.assign(1, node);
    while (!stack_.empty()) {
      const std::size_t top = stack_.back();
      stack_.pop_back();
      visit_children(top, [&](std::size_t child) {
        if (is_leaf(child) || gone_[child]) return;
        gone_[child] = 1;
        stack_.push_back(child);
      });
    }
  }

  TreeView tree_;
  std::size_t n_;
  std::vector<std::size_t> parent_;
  std::vector<std::uint32_t> leaves_;  // beneath a node that is left
  std::vector<double> own_, beneath_;  // R(t), and its sum over those leaves
  std::vector<std::uint8_t> gone_;     // became a leaf, or went with a node above
  std::priority_queue<Link, std::vector<Link>, std::greater<Link>> links_;
  std::vector<std::size_t> stack_;
};

}  // namespace

WeakestLinks weakest_links(const ForestView& forest) {
  const std::size_t n_nodes = static_cast<std::size_t>(forest.offsets[forest.n_trees]);
  WeakestLinks links;
  links.alpha.assign(n_nodes, std::numeric_limits<double>::quiet_NaN());
  links.increase.assign(n_nodes, 0.0);
  links.fewer.assign(n_nodes, 0);
  for (std::size_t t = 0; t < forest.n_trees; ++t) {
    const std::size_t start = static_cast<std::size_t>(forest.offsets[t]);
    Pruner(forest, t).prune(links.alpha.data() + start, links.increase.data() + start,
                            links.fewer.data() + start);
  }
  return links;
}

}  // namespace duramen
