// The parts of growth that several of its files use are compiled once, in parts.cpp.
#pragma once

#include <cstdint>

#include "../node.hpp"
#include "../split/gathered.hpp"
#include "../split/grouped.hpp"
#include "../split/sorting.hpp"
#include "../tree_rows.hpp"
#include "../working.hpp"

namespace duramen {

#ifndef DURAMEN_PARTS
#define DURAMEN_PARTS extern
#endif

DURAMEN_PARTS template class Working<std::uint8_t>;
DURAMEN_PARTS template class Working<std::uint16_t>;
DURAMEN_PARTS template class Working<std::uint32_t>;
DURAMEN_PARTS template class Working<float>;
DURAMEN_PARTS template class Gathered<std::uint8_t>;
DURAMEN_PARTS template class Gathered<std::uint16_t>;
DURAMEN_PARTS template class Gathered<std::uint32_t>;
DURAMEN_PARTS template class Gathered<float>;
DURAMEN_PARTS template class Sorter<std::uint8_t>;
DURAMEN_PARTS template class Sorter<std::uint16_t>;
DURAMEN_PARTS template class Sorter<std::uint32_t>;
DURAMEN_PARTS template class TreeRows<std::int32_t>;
DURAMEN_PARTS template class TreeRows<double>;
DURAMEN_PARTS template class ClassNode<std::int32_t>;
DURAMEN_PARTS template class ClassNode<double>;
DURAMEN_PARTS template class MomentNode<std::int32_t>;
DURAMEN_PARTS template class MomentNode<double>;
DURAMEN_PARTS template class GroupedSplits<ClassNode<std::int32_t>>;
DURAMEN_PARTS template class GroupedSplits<ClassNode<double>>;
DURAMEN_PARTS template class GroupedSplits<MomentNode<std::int32_t>>;
DURAMEN_PARTS template class GroupedSplits<MomentNode<double>>;

}  // namespace duramen
