// Hashes of vectors of integers, for shaders.
#pragma once
#include "compiler/frontend/vec.h"

namespace firn {

// M. Jarzynski and M. Olano, "Hash Functions for GPU Rendering", 2020: u32 to u32, the same on
// every device. All words of the result depend on all words that come in. For one word, see pcg.

uvec2 pcg2d(const uvec2& v, SourceLine line = here());
uvec3 pcg3d(const uvec3& v, SourceLine line = here());
uvec4 pcg4d(const uvec4& v, SourceLine line = here());

}  // namespace firn
