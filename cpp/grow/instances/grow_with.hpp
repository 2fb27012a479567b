// Growth for one type of codes and one kind of node. It takes long to compile, so that each
// combination is compiled once, in a file beside this one that includes grow_with_definition.hpp.
#pragma once

#include "grow/tree_grower.hpp"

namespace duramen {

// T: the codes, or float for values in single precision. Node: a TargetNode (node.hpp).
template <class T, class Node>
Trees grow_with(const GrowthOrder& order);

}  // namespace duramen
