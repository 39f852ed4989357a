// The places of a program's buffers in the workspace of a call.
#pragma once
#include <vector>

#include "compiler/program/program.h"

namespace firn::ahead {

/// A part of the workspace.
struct Place {
    std::vector<int> buffers;  // one after the other
};

struct Places {
    std::vector<Place> all;
    // By buffer, the index of its place; -1: none.
    std::vector<int> of;
    /// By result, the place for its value while results exchange memory; -1: none.
    std::vector<int> exchange;
};

/// Temporaries that live at different times share a place, as far as they do so with the sizes
/// `env`. An argument or result has one, for a call whose array has no padding, unless all sizes
/// are such that it needs none.
Places find_places(const Program& program, const SizeEnv& env);

/// The bytes of a buffer's elements.
Size element_bytes(const BufferInfo& buffer);

}  // namespace firn::ahead
