// Two rows of a node of different classes that a column tells apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "random.hpp"

namespace duramen {

// Two rows of different classes and different codes, each ordered pair of such rows as likely as
// the others. `group` has the number of the code of each row, `sizes` the rows with each; the
// column is not constant, so that there are such rows.
template <class Node>
[[gnu::noinline]] std::pair<std::uint32_t, std::uint32_t> pair_apart(
    const Node& node, const std::vector<std::uint32_t>& group,
    const std::vector<std::uint32_t>& sizes, Random& random) {
  const std::vector<std::uint32_t>& starts = node.starts();
  const std::uint32_t n = node.n_rows();
  // partners[i + 1] - partners[i] rows are of another class and another code than row i.
  std::vector<std::uint64_t> partners(n + 1, 0);
  std::vector<std::uint32_t> inside(sizes.size());  // rows of a class, by code
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
    std::fill(inside.begin(), inside.end(), 0U);
    for (std::uint32_t i = starts[k]; i < starts[k + 1]; ++i) ++inside[group[i]];
    const std::uint32_t outside = n - (starts[k + 1] - starts[k]);
    for (std::uint32_t i = starts[k]; i < starts[k + 1]; ++i) {
      const std::uint32_t same_code = sizes[group[i]] - inside[group[i]];
      partners[i + 1] = partners[i] + outside - same_code;
    }
  }
  const std::uint64_t at =
      std::min(partners[n] - 1,
               static_cast<std::uint64_t>(random.uniform() * static_cast<double>(partners[n])));
  const std::uint32_t first = static_cast<std::uint32_t>(
      std::upper_bound(partners.begin(), partners.end(), at) - partners.begin() - 1);
  std::uint64_t left = at - partners[first];
  const std::uint32_t k = node.groups()[first];
  std::uint32_t other = 0;
  for (;; ++other) {
    if (other == starts[k]) other = starts[k + 1];
    if (group[other] != group[first] && left-- == 0) return {first, other};
  }
}

}  // namespace duramen
