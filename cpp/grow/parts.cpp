#define DURAMEN_PARTS
#include "parts.hpp"
