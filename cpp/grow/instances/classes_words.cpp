#include "grow/instances/grow_with_definition.hpp"

namespace duramen {

template Trees grow_with<std::uint16_t, ClassNode<std::int32_t>>(const GrowthOrder&);
template Trees grow_with<std::uint32_t, ClassNode<std::int32_t>>(const GrowthOrder&);

}  // namespace duramen
