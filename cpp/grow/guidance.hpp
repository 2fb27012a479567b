// Guidance of growth by what is known of the columns: which are drawn more often, and which split
// a node only where they gain much more than others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace duramen {

struct Guidance {
  const double* weight = nullptr;  // of each column in the draw of candidates
  const double* factor = nullptr;  // of the gain of columns that split no node so far, or null
  bool of_score = false;           // the factor is one of the score, of which the gain is a part

  bool given() const { return weight != nullptr; }
  bool penalizes() const { return factor != nullptr; }
};

// Draws columns without replacement with probability proportional to their weights. The sums of a
// binary tree are computed from their parts alone, so that they do not depend on earlier draws.
class WeightedDraw {
 public:
  WeightedDraw() = default;
  WeightedDraw(const double* weight, std::size_t count) : weight_(weight) {
    while (leaves_ < count) leaves_ *= 2;
    sums_.assign(2 * leaves_, 0.0);
    for (std::size_t j = 0; j < count; ++j) sums_[leaves_ + j] = weight[j];
    for (std::size_t k = leaves_; k-- > 1;) sums_[k] = sums_[2 * k] + sums_[2 * k + 1];
  }

  bool left() const { return sums_[1] > 0.0; }

  // The column that a number on [0, 1) stands for; it is not drawn again until restored.
  std::uint32_t take(double uniform) {
    double target = uniform * sums_[1];
    std::size_t at = 1;
    while (at < leaves_) {
      at *= 2;
      const bool first = sums_[at + 1] <= 0.0 || (sums_[at] > 0.0 && target < sums_[at]);
      if (!first) target -= sums_[at++];
    }
    const auto column = static_cast<std::uint32_t>(at - leaves_);
    leave_out(column);
    return column;
  }

  void leave_out(std::uint32_t column) {
    set(column, 0.0);
    out_.push_back(column);
  }

  void restore() {
    for (const std::uint32_t column : out_) set(column, weight_[column]);
    out_.clear();
  }

 private:
  void set(std::uint32_t column, double weight) {
    std::size_t at = leaves_ + column;
    sums_[at] = weight;
    while ((at /= 2) > 0) sums_[at] = sums_[2 * at] + sums_[2 * at + 1];
  }

  const double* weight_ = nullptr;
  std::size_t leaves_ = 1;
  std::vector<double> sums_;
  std::vector<std::uint32_t> out_;
};

}  // namespace duramen
