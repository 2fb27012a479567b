// Growth where a node is a set of rows, a bit each (bit_grower.hpp).
#pragma once

#include <cstdint>

#include "grow/problem.hpp"
#include "grow/tree_grower.hpp"
#include "grow/working.hpp"

namespace duramen {

// Whether it can grow these trees, which equal the trees of the other growers.
bool bits_suit(const Problem& problem);

Trees grow_bits(const GrowthOrder& order, const Working<std::uint8_t>& working);

}  // namespace duramen
