// A way to split a node, and the contest between such ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "grow/settings.hpp"
#include "random.hpp"

namespace duramen {

constexpr double kNone = -std::numeric_limits<double>::infinity();  // no score

struct Split {
  double score = kNone;
  std::int64_t feature = -1;
  Family family = Family::ordered;
  // ordered: codes <= low go to child 0, and the cut lies before the code `high`, the next one seen
  // at the node; one-vs-rest: the code `low` goes to child 0. (any: GroupedSplits keeps the codes.)
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  bool missing_first = false;
  bool real_cut = false;  // `threshold` was drawn, on the value of `low` or above; else set midway
  double threshold = std::numeric_limits<double>::quiet_NaN();
  bool placed = false;   // the threshold is known to lie between the values of `low` and low + 1
  bool by_code = false;  // single-precision values: the split still compares with `low`

  bool found() const { return feature >= 0; }

  // Becomes the cut of an ordered column between two codes, the missing rows in child 1.
  void take_cut(std::size_t column, double its_score, std::int64_t below, std::int64_t above) {
    score = its_score;
    feature = static_cast<std::int64_t>(column);
    family = Family::ordered;
    low = static_cast<std::uint32_t>(below);
    high = static_cast<std::uint32_t>(above);
    missing_first = false;
    real_cut = false;
  }
};

// How far apart two scores of a node must be for one to be better. Asked for the best score again
// and again, while candidates come and go.
class Margin {
 public:
  void start_node() { score_ = std::numeric_limits<double>::quiet_NaN(); }

  template <class Node>
  double of(const Node& node, double score) {
    if (score != score_) {
      score_ = score;
      margin_ = node.tolerance(score);
    }
    return margin_;
  }

  // Whether a score is better than the best so far.
  template <class Node>
  bool beats(const Node& node, double score, double best) {
    return score > best + of(node, best);
  }

 private:
  double score_ = std::numeric_limits<double>::quiet_NaN();
  double margin_ = 0.0;
};

// The best among the splits of one column, ties broken uniformly.
struct Choice {
  double score = kNone;
  std::uint32_t at = 0;
  std::uint32_t ties = 0;

  bool found() const { return ties > 0; }

  template <class Node>
  void consider(const Node& node, std::uint32_t what, double value, Random& random) {
    const double margin = ties == 0 ? 0.0 : node.tolerance(score);
    if (ties == 0 || value > score + margin) {
      score = value;
      ties = 1;
    } else if (value < score - margin || random.below(++ties) != 0) {
      return;
    }
    at = what;
  }
};

// What became of a drawn column.
enum class Draw { constant, forbidden, scored };

}  // namespace duramen
