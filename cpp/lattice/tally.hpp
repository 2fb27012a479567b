// Exact sums of the scores of cells, and the importances that follow from them.
//
// A term (score c, sets B and F) stands for all sets B + U with U a part of F: the cell is a cell
// of each of them, since its rows agree on F. With |B| = b and |F| = n, C(n, k-b) of these sets
// have k members. A feature outside of B and F gains c for each of the sets (it could split the
// cell), a feature of B loses c for each (it made the cell), and one of F neither:
//
//   sum over |S| = k without m of h(S) - h(S + m)
//     = sum over terms of  c C(n, k-b) [m not in B + F]  -  c C(n, k+1-b) [m in B]
//
// so that sums by feature, b and n are all that must be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lattice/score.hpp"

namespace duramen::lattice {

class Tally {
 public:
  Tally(std::size_t n_features, std::size_t depth);

  // Adds a term.
  void add(Score score, const std::uint32_t* path, std::size_t n_path, const std::uint32_t* free,
           std::size_t n_free) {
    Sum* sums = find(n_path, n_free);
    sums[0] += score;
    for (std::size_t i = 0; i < n_path; ++i) sums[1 + path[i]] += score;
    sums += 1 + n_features_;
    for (std::size_t i = 0; i < n_free; ++i) sums[free[i]] += score;
  }

  // For sets as large as the depth, where F does not matter. Adds to a last member ...
  Sum* last_level() { return find(depth_, 0) + 1; }
  // ... and to the others the sum of all last members.
  void add_last(Sum total, const std::uint32_t* path, std::size_t n_path) {
    Sum* sums = find(depth_, 0);
    sums[0] += total;
    for (std::size_t i = 0; i < n_path; ++i) sums[1 + path[i]] += total;
  }

  void merge(const Tally& other);

  // Importance of every feature for every size k of the conditioning set, feature by k, with
  // the scores divided by `unit`.
  std::vector<double> importances(double unit) const;

 private:
  Sum* find(std::size_t b, std::size_t n) {
    const std::size_t key = b * (n_features_ + 1) + n;
    if (place_[key] == kNowhere) create(key);
    return sums_.data() + place_[key];
  }
  void create(std::size_t key);

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::size_t n_features_;
  std::size_t depth_;
  std::size_t width_;               // all terms, those with the feature in B, with it in F
  std::vector<std::size_t> place_;  // by b and n: where its sums begin
  std::vector<std::size_t> keys_;   // in the order of their sums
  std::vector<Sum> sums_;
};

}  // namespace duramen::lattice
