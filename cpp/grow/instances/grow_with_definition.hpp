// The body of grow_with.hpp's template, for the files that compile it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "grow/bits.hpp"
#include "grow/grower.hpp"
#include "grow/instances/grow_with.hpp"
#include "grow/parts.hpp"
#include "grow/split/ordered_entries.hpp"
#include "grow/working.hpp"

namespace duramen {

template <class T, class Node>
Trees grow_with(const GrowthOrder& order) {
  EntryOrders<T> orders;
  if constexpr (std::is_integral_v<T>) {
    if (orders_pay(order.problem, order.n_trees, kFewCodes)) {
      orders = EntryOrders<T>(order.problem);
    }
  }
  const Working<T> working(order.problem, std::move(orders));
  if constexpr (std::is_same_v<T, std::uint8_t> && std::is_same_v<Node, ClassNode<std::int32_t>>) {
    if (bits_suit(order.problem)) return grow_bits(order, working);
  }
  return grow_by<Grower<T, Node>>(order, working);
}

}  // namespace duramen
