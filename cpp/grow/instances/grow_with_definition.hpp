// The body of grow_with.hpp's template, for the files that compile it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "grow/bits.hpp"
#include "grow/grower.hpp"
#include "grow/instances/grow_with.hpp"
#include "grow/parts.hpp"
#include "grow/split/entry_bits.hpp"
#include "grow/working.hpp"

namespace duramen {

template <class T, class Node>
Trees grow_with(const GrowthOrder& order) {
  const Working<T> working(order.problem.table, subtrees_pay(order.problem));
  if constexpr (std::is_same_v<T, std::uint8_t> && std::is_same_v<Node, ClassNode<std::int32_t>>) {
    if (bits_suit(order.problem)) return grow_bits(order, working);
  }
  return grow_by<Grower<T, Node>>(order, working);
}

}  // namespace duramen
