// The limits of the 32-bit indices of kernels.
#pragma once
#include <cstdint>
#include <string_view>

#include "compiler/program/size.h"

namespace firn {

/// Indices along one axis, and positions in a block of axes that is counted through.
constexpr int64_t kMostIndices = INT32_MAX;
/// Most elements of a tensor in memory, and positions along one axis of a store: the last workgroup
/// may reach behind the end by as many as it has elements without a negative index.
constexpr int64_t kMostElements = INT32_MAX - (int64_t{1} << 20);

/// Returns the value of a size that a kernel gets as an i32; `what` begins the UserError if it does
/// not fit.
int32_t index_value(const Size& size, const SizeEnv& env, std::string_view what);

}  // namespace firn
