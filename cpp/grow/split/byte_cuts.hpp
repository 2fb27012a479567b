// The best cut of an ordered column of one-byte codes, in regression with whole weights, where no
// two rows of the node have the same code: a set of bits holds the codes, and is read in order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "grow/split/candidate.hpp"
#include "impurity.hpp"
#include "random.hpp"

namespace duramen {

// 256 bits, one for every code.
struct ByteSet {
  std::array<std::uint64_t, 4> words{};
};

constexpr std::array<ByteSet, 256> single_bytes() {
  std::array<ByteSet, 256> sets{};
  for (std::size_t code = 0; code < 256; ++code) {
    sets[code].words[code / 64] = std::uint64_t{1} << (code % 64);
  }
  return sets;
}
alignas(32) inline constexpr std::array<ByteSet, 256> kSingleBytes = single_bytes();

template <class Node>
class ByteCuts {
 public:
  static constexpr std::uint32_t kMost = 256;  // rows: others have codes in common

  void start_node() { margin_.start_node(); }

  // Takes the best cut of a column without missing values, if it is better than the best so far;
  // false, and nothing is done, where rows have a code in common.
  bool find_best(const Node& node, std::size_t column, const std::uint8_t* codes,
                 const std::uint32_t* rows, Random& random, Split& best) {
    const std::uint32_t n = node.n_rows();
    if (!mark(codes, rows, n)) return false;
    add_up(node);
    const std::uint32_t n_cuts = n - 1;
    const double top = score_cuts(node, n_cuts);
    if (best.found() && !margin_.beats(node, top, best.score)) return true;
    const double least = top - margin_.of(node, top);
    std::uint32_t chosen = n;
    std::uint32_t ties = 0;
    for (std::uint32_t i = 0; i < n_cuts; ++i) {
      if (!(scores_[i] >= least)) continue;
      if (++ties == 1 || random.below(ties) == 0) chosen = i;
    }
    best.take_cut(column, top, sorted_[chosen], sorted_[chosen + 1]);
    return true;
  }

 private:
  static constexpr std::uint32_t kLanes = 4;

  // The set of the codes, and where each is; false where two are the same.
  bool mark(const std::uint8_t* codes, const std::uint32_t* rows, std::uint32_t n) {
    ByteSet set;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint8_t code = codes[rows[i]];
      positions_[code] = static_cast<std::uint8_t>(i);
      for (std::size_t w = 0; w < 4; ++w) set.words[w] |= kSingleBytes[code].words[w];
    }
    std::uint32_t count = 0;
    for (const std::uint64_t word : set.words) {
      count += static_cast<std::uint32_t>(std::popcount(word));
    }
    set_ = set;
    return count == n;
  }

  // What lies up to each code.
  void add_up(const Node& node) {
    const auto* weights = node.weights();
    const double* moments = node.moments();
    typename Node::Weight first{0};
    double sum = 0.0;
    std::uint32_t k = 0;
    for (std::uint32_t w = 0; w < 4; ++w) {
      for (std::uint64_t word = set_.words[w]; word != 0; word &= word - 1) {
        const std::uint32_t code = 64 * w + static_cast<std::uint32_t>(std::countr_zero(word));
        const std::uint32_t at = positions_[code];
        first += weights[at];
        sum += moments[at];
        firsts_[k] = first;
        sums_[k] = sum;
        sorted_[k++] = static_cast<std::uint8_t>(code);
      }
    }
  }

  // The score of each cut; returns the largest. What lies behind the last has none: 0 / 0.
  double score_cuts(const Node& node, std::uint32_t n_cuts) {
    const double all = node.sum();
    const double whole = static_cast<double>(node.whole());
    for (std::uint32_t i = n_cuts; i < n_cuts + kLanes; ++i) {
      firsts_[i] = 0;
      sums_[i] = 0.0;
    }
    double top[kLanes] = {kNone, kNone, kNone, kNone};
    for (std::uint32_t i = 0; i < n_cuts; i += kLanes) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const double sum = sums_[i + lane];
        const double other = all - sum;
        const double left = static_cast<double>(firsts_[i + lane]);
        const double score =
            score_of_two<Node::kWhole>(sum * sum, left, other * other, whole - left);
        scores_[i + lane] = score;
        top[lane] = score > top[lane] ? score : top[lane];
      }
    }
    return std::max(std::max(top[0], top[1]), std::max(top[2], top[3]));
  }

  Margin margin_;
  ByteSet set_;
  std::uint8_t positions_[256];  // of the row with each code
  std::uint8_t sorted_[kMost];
  alignas(32) typename Node::Weight firsts_[kMost + kLanes];
  alignas(32) double sums_[kMost + kLanes];
  alignas(32) double scores_[kMost + kLanes];
};

}  // namespace duramen
