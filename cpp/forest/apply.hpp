// The leaves that rows come to, and the predictions of a forest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forest/forest.hpp"
#include "forest/packed.hpp"
#include "grow/problem.hpp"

namespace duramen {

// Numbers of the leaf nodes, row by tree. With `out_of_bag`, entries of rows in the bag of a tree
// are left as they are.
template <class Rows>
void apply(const ForestView& forest, const Rows& rows, std::size_t n_rows, unsigned n_threads,
           const Monitor& monitor, const OutOfBagRows* out_of_bag, std::int32_t* leaves);

// Mean over the trees of the values of the leaves, row by value; summed in tree order.
template <class Rows>
void predict(const ForestView& forest, const Rows& rows, std::size_t n_rows, unsigned n_threads,
             const Monitor& monitor, double* out);

}  // namespace duramen
