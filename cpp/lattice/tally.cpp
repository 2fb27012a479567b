#include "lattice/tally.hpp"

#include <algorithm>

namespace duramen::lattice {
namespace {

// C(n, k) for k = 0..most; 0 beyond n.
std::vector<long double> binomials(std::size_t n, std::size_t most) {
  std::vector<long double> row(most + 1, 0.0L);
  row[0] = 1.0L;
  for (std::size_t k = 1; k <= std::min(n, most); ++k) {
    row[k] = row[k - 1] * static_cast<long double>(n - k + 1) / static_cast<long double>(k);
  }
  return row;
}

}  // namespace

Tally::Tally(std::size_t n_features, std::size_t depth)
    : n_features_(n_features),
      depth_(depth),
      width_(1 + 2 * n_features),
      place_((depth + 1) * (n_features + 1), kNowhere) {}

void Tally::create(std::size_t key) {
  place_[key] = sums_.size();
  keys_.push_back(key);
  sums_.resize(sums_.size() + width_, 0);
}

void Tally::merge(const Tally& other) {
  for (const std::size_t key : other.keys_) {
    Sum* mine = find(key / (n_features_ + 1), key % (n_features_ + 1));
    const Sum* theirs = other.sums_.data() + other.place_[key];
    for (std::size_t i = 0; i < width_; ++i) mine[i] += theirs[i];
  }
}

std::vector<double> Tally::importances(double unit) const {
  const std::size_t p = n_features_;
  // 1 / (C(p, k) (p - k)), the weight of a set of k members (thesis, eq. 5.2).
  std::vector<long double> weight = binomials(p, depth_);
  for (std::size_t k = 0; k < depth_; ++k) {
    weight[k] = 1.0L / (weight[k] * static_cast<long double>(p - k) * unit);
  }
  std::vector<long double> total(p * depth_, 0.0L);
  // By increasing key, so that the order does not depend on the threads.
  for (std::size_t key = 0; key < place_.size(); ++key) {
    if (place_[key] == kNowhere) continue;
    const Sum* sums = sums_.data() + place_[key];
    const std::size_t b = key / (p + 1);
    const std::vector<long double> sets = binomials(key % (p + 1), depth_);
    for (std::size_t m = 0; m < p; ++m) {
      const auto made = static_cast<long double>(sums[1 + m]);
      const auto open = static_cast<long double>(sums[0] - sums[1 + m] - sums[1 + p + m]);
      for (std::size_t k = b == 0 ? 0 : b - 1; k < depth_; ++k) {
        if (k >= b) total[m * depth_ + k] += weight[k] * sets[k - b] * open;
        total[m * depth_ + k] -= weight[k] * sets[k + 1 - b] * made;
      }
    }
  }
  std::vector<double> values(total.size());
  // An importance is not negative; rounding may leave a last bit below 0.
  std::transform(total.begin(), total.end(), values.begin(),
                 [](long double sum) { return static_cast<double>(std::max(sum, 0.0L)); });
  return values;
}

}  // namespace duramen::lattice
