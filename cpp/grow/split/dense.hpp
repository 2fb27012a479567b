// Small tables with one-byte codes: a node is a mask over all the rows, and a column is read whole,
// lane by lane, instead of row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/working.hpp"
#include "lanes.hpp"

namespace duramen {

class DenseRows {
 public:
  // Prepares a node, for scores too where they are asked for; false when a weight does not fit one
  // byte.
  template <class Node>
  bool start_node(const Node& node, const std::uint32_t* rows, std::size_t stride, bool scoring) {
    stride_ = stride;
    const std::size_t n_groups = node.n_groups();
    mask_.assign(stride, 0);
    if (!scoring) {
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) mask_[rows[i]] = 0xFF;
      return true;
    }
    counts_.assign(stride * n_groups, 0);
    for (std::size_t k = 0; k < n_groups; ++k) {
      std::uint8_t* counts = counts_.data() + k * stride;
      for (std::uint32_t i = node.starts()[k]; i < node.starts()[k + 1]; ++i) {
        const auto weight = node.weights()[i];
        if (weight > 255) return false;
        mask_[rows[i]] = 0xFF;
        counts[rows[i]] = static_cast<std::uint8_t>(weight);
      }
    }
    return true;
  }

  // Least and largest code at the node.
  std::pair<std::uint8_t, std::uint8_t> range(const std::uint8_t* column) const {
    return masked_range(column, mask_.data(), stride_);
  }

  // The score of the split that sends codes up to `limit` to child 0.
  template <class Node>
  double score(const Node& node, const std::uint8_t* column, std::uint8_t limit) const {
    using Weight = typename Node::Weight;
    return node.with_terms([&](auto terms) {
      double first_terms = 0.0;
      double second_terms = 0.0;
      Weight first{0};
      for (std::size_t k = 0; k < node.n_groups(); ++k) {
        const Weight count =
            static_cast<Weight>(sum_up_to(column, limit, counts_.data() + k * stride_, stride_));
        first += count;
        first_terms += terms.term(count);
        second_terms += terms.term(node.totals()[k] - count);
      }
      return terms.join(first_terms, first) + terms.join(second_terms, node.whole() - first);
    });
  }

 private:
  std::size_t stride_ = 0;
  std::vector<std::uint8_t> mask_, counts_;
};

// Whether nodes can be scanned as masks over all rows.
template <class T, class Node>
constexpr bool kDensePossible = std::is_same_v<T, std::uint8_t> && Node::kClasses && Node::kWhole;

}  // namespace duramen
