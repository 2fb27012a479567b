#include "grow/instances/grow_with_definition.hpp"
#include "grow/survival_node.hpp"

namespace duramen {

template Trees grow_with<std::uint16_t, SurvivalNode>(const GrowthOrder&);
template Trees grow_with<std::uint32_t, SurvivalNode>(const GrowthOrder&);

}  // namespace duramen
