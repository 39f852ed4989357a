// Hashes of vectors of integers, for shaders.
#pragma once
#include "compiler/frontend/vec.h"

namespace firn {

/// Hashes of u32 to u32, the same on every device; all words of the result depend on all words that
/// come in. For one word, see pcg. M. Jarzynski and M. Olano, "Hash Functions for GPU Rendering",
/// 2020.
///
/// Examples: `pcg2d(uvec2(1, 2))` is `{45825804, 214070181}`, `pcg3d(uvec3(1, 2, 3))` is
/// `{4204755366, 1223881804, 1500469937}`, `pcg4d(uvec4(1, 2, 3, 4))` is
/// `{908250390, 4044648920, 3775961919, 45698095}`.
/// @{
uvec2 pcg2d(const uvec2& v, SourceLine line = here());
uvec3 pcg3d(const uvec3& v, SourceLine line = here());
uvec4 pcg4d(const uvec4& v, SourceLine line = here());
/// @}

}  // namespace firn
