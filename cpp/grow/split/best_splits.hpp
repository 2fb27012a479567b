// The best few splits of a node, one of which is taken at random (Dietterich and Kong 1995).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/node.hpp"
#include "grow/split/candidate.hpp"
#include "random.hpp"

namespace duramen {

class BestSplits {
 public:
  // A split, and where it is a bipartition the codes of child 0.
  struct Entry {
    Split split;
    std::vector<std::uint32_t> first_codes;
    std::uint64_t key;  // decides between equals
  };

  explicit BestSplits(std::size_t most) : most_(most) {}

  void start_node() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  // By descending score.
  const std::vector<Entry>& entries() const { return entries_; }

  // Whether a split with this score may be among the best so far.
  template <class Node>
  bool admits(const Node& node, double score) const {
    if (score == kNone || (ScoresRows<Node> && !node.gains(score))) return false;
    if (entries_.size() < most_) return true;
    const double last = entries_.back().split.score;
    return score >= last - node.tolerance(last);
  }

  // Inserts an admitted split; of equal splits at the end of the list any may be removed.
  template <class Node>
  void take(const Node& node, const Split& split, Random& random,
            std::vector<std::uint32_t> first_codes = {}) {
    const std::uint64_t key = random.next();
    std::size_t at = entries_.size();
    while (at > 0 && precedes(node, split.score, key, entries_[at - 1])) --at;
    if (at == most_) return;
    if (entries_.size() == most_) entries_.pop_back();
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at),
                    Entry{split, std::move(first_codes), key});
  }

 private:
  template <class Node>
  static bool precedes(const Node& node, double score, std::uint64_t key, const Entry& other) {
    const double margin = node.tolerance(other.split.score);
    if (score > other.split.score + margin) return true;
    return score >= other.split.score - margin && key < other.key;
  }

  std::size_t most_;
  std::vector<Entry> entries_;
};

}  // namespace duramen
