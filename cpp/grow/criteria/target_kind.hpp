// Kinds of target.
#pragma once

namespace duramen {

enum class TargetKind { classes, numbers, survival };

}  // namespace duramen
