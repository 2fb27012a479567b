// Information of rows in the splits of trees, in excess of its expectation by chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"

namespace duramen {

// `counts` are the rows of each class at each leaf, leaf by class. Per node: n (I - E[I]) in bits,
// where I is the information between the children that n rows go to and their classes, and E[I] its
// mean over all permutations of the classes; 0 at leaves.
std::vector<double> excess_information(const ForestView& forest, const std::int64_t* counts,
                                       std::size_t n_classes);

}  // namespace duramen
