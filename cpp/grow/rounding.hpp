// How far apart the computed scores of two splits can be when their exact scores are equal: splits
// within this tolerance are ties. A criterion has the bound (grow/criteria), which adds up the
// roundings of the two scores, u = 2^-53 for every operation.
#pragma once

namespace duramen {

// Data of the current node for the bounds.
struct NodeSize {
  double n_rows = 0.0;
  double weight = 0.0;
  double n_groups = 1.0;    // classes
  double n_children = 2.0;  // at most
};

}  // namespace duramen
