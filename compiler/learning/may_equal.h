// Checks that layers and losses make on shapes; internal.
#pragma once
#include "compiler/frontend/dimension.h"

namespace firn {

/// False where two shapes can never be equal; symbolic sizes may be equal to any.
bool may_equal(const Shape& a, const Shape& b);

}  // namespace firn
