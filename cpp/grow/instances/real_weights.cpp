#include "grow/instances/grow_with_definition.hpp"

namespace duramen {

template Trees grow_with<std::uint32_t, ClassNode<double>>(const GrowthOrder&);
template Trees grow_with<std::uint32_t, MomentNode<double>>(const GrowthOrder&);

}  // namespace duramen
