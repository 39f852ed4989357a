// Sizes that must be equal; internal.
#pragma once
#include <string>

#include "compiler/program/size.h"

namespace firn {

/// UserError with the message where the sizes differ: now where that is known, else at the call
/// that binds their symbols. Also where one of them is known to the device alone.
void require_equal_sizes(const Size& left, const Size& right, const std::string& message);

}  // namespace firn
