// Values that are parts side by side along an axis, as concat and stack make them.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// Parts of one shape that follow one another along `axis`, and fill it.
struct JoinedParts {
    int axis = 0;
    Size extent;                     // of each along the axis
    std::vector<const Node*> sides;  // by part: a value of the whole shape that is the part in its
                                     // place
};

/// Returns the parts of a select between several sides by the own index along one axis.
std::optional<JoinedParts> joined_parts(const Node& node);

/// Returns part k of a value whose sides are `sides`: [.., extent, ..].
Ref part_of(const Builder& b, const JoinedParts& joined, size_t k, const Ref& side);

/// A part of a value that is joined along several axes, and where it begins along each axis.
struct PlacedPart {
    std::vector<Size> begin;
    Ref value;
};

/// Parts of one shape that fill a value; parts that are joined alike are divided further.
struct PlacedParts {
    Shape extents;          // of each part
    std::vector<int> axes;  // along which there are several, in order
    std::vector<PlacedPart> parts;

    bool along(int axis) const;  // there are several along this axis
};

/// Returns the innermost parts, or those around them if they are more than `most`; nothing if x is
/// not joined.
std::optional<PlacedParts> placed_parts(const Builder& b, const Ref& x, size_t most);

}  // namespace firn
