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
    /// The index in `all` of each buffer's place; -1: it has none.
    std::vector<int> of;
    /// The index of the place that holds each result while results exchange memory; -1: it needs
    /// none.
    std::vector<int> exchange;
};

/// Temporaries that live at different times share a place, as far as they do so with the sizes
/// `env`. An argument or result has one, for a call whose array has no padding, unless all sizes
/// are such that it needs none.
Places find_places(const Program& program, const SizeEnv& env);

/// The bytes of a buffer's elements.
Size element_bytes(const BufferInfo& buffer);

}  // namespace firn::ahead
