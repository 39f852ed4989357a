// A mapping as text: printed by explain, replayed from the tuning cache.
#pragma once
#include <optional>
#include <string>

#include "compiler/mapping/map.h"

namespace firn {

/// `tile 4x8 strides 1 group 64x4 unroll 8 whole 3 lanes 1 dealt 8`, then where nests are `joined`,
/// with copies of targets `near private turns 64x2`.
std::string text(const Mapping& mapping);
/// Nothing where `words` is not what text() writes.
std::optional<Mapping> parse_mapping(const std::string& words);

}  // namespace firn
