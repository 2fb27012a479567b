#include "grow/instances/grow_with_definition.hpp"

namespace duramen {

template Trees grow_with<std::uint8_t, MomentNode<std::int32_t>>(const GrowthOrder&);
template Trees grow_with<std::uint16_t, MomentNode<std::int32_t>>(const GrowthOrder&);

}  // namespace duramen
