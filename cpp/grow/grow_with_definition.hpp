// The body of grow_with.hpp's template, for the files that compile it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "../bit_grower.hpp"
#include "../grower.hpp"
#include "../working.hpp"
#include "grow_with.hpp"
#include "parts.hpp"

namespace duramen {

template <class Grow, class T>
Trees grow_by(const GrowthOrder& order, const Working<T>& working) {
  return grow_on_threads(order, [&] { return std::make_unique<Grow>(order.problem, working); });
}

template <std::size_t kWords>
Trees grow_bits(const GrowthOrder& order, const Working<std::uint8_t>& working) {
  if (order.problem.settings.criterion == Criterion::gini) {
    return grow_by<BitGrower<kWords, GiniTerms<std::int32_t>>>(order, working);
  }
  return grow_by<BitGrower<kWords, EntropyTerms<std::int32_t>>>(order, working);
}

template <class T, class Node>
Trees grow_with(const GrowthOrder& order) {
  const Working<T> working(order.problem.table);
  if constexpr (std::is_same_v<T, std::uint8_t> && std::is_same_v<Node, ClassNode<std::int32_t>>) {
    if (bits_suit<2>(order.problem)) return grow_bits<2>(order, working);
    if (bits_suit<4>(order.problem)) return grow_bits<4>(order, working);
  }
  return grow_by<Grower<T, Node>>(order, working);
}

}  // namespace duramen
