// The body of grow_with.hpp's template, for the files that compile it.
#pragma once

#include <memory>
#include <type_traits>

#include "../bit_grower.hpp"
#include "../grower.hpp"
#include "../working.hpp"
#include "grow_with.hpp"
#include "parts.hpp"

namespace duramen {

template <class T, class Node>
Trees grow_with(const GrowthOrder& order) {
  const Problem& problem = order.problem;
  const Working<T> working(problem.table);
  const auto grow = [&]<class Grow>(std::type_identity<Grow>) {
    return grow_on_threads(order, [&] { return std::make_unique<Grow>(problem, working); });
  };
  if constexpr (std::is_same_v<T, std::uint8_t> && std::is_same_v<Node, BitGrower<2>::Node>) {
    if (BitGrower<2>::suits(problem)) return grow(std::type_identity<BitGrower<2>>{});
    if (BitGrower<4>::suits(problem)) return grow(std::type_identity<BitGrower<4>>{});
  }
  return grow(std::type_identity<Grower<T, Node>>{});
}

}  // namespace duramen
