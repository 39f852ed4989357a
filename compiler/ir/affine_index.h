// Index tensors of the form offset + position, and the stores that they make.
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/program/affine.h"

namespace firn {

/// An index tensor that is a sum of multiples of the indices along axes.
using AffineForm = Affine<int, int64_t, Size>;
std::optional<AffineForm> affine_form(const Node& node);

/// The dependence of an index tensor on the position, if it has this form: offset + index along
/// `axis` (-1: a constant).
struct AffineIndex {
    int axis = -1;
    Size offset;
};
std::optional<AffineIndex> affine_index(const Node& node);

/// False where a constant or a factor of the size is beyond i32, so that the arithmetic which made
/// it wraps around.
bool has_i32_factors(const Size& size);

/// Returns the node below its Expands, or the node itself.
const Node& without_expand(const Node& node);

/// An index that is nowhere inside any tensor: a negative constant, of any shape.
bool is_outside(const Node& index);
/// A condition around a store sends some positions of this index outside.
bool leaves_some_out(const Node& index);
/// The index of a store: affine where `guard` holds, outside elsewhere. The guard is a bool that
/// broadcasts to the index; null: everywhere.
struct StoreIndex {
    AffineIndex index;
    const Node* guard = nullptr;
};
std::optional<StoreIndex> store_index(const Node& node);

/// A Scatter that can be read as a function of its result's index: it replaces, and its indices are
/// affine.
bool is_invertible_store(const Node& node);
/// A Scatter that is written by position: every position stores or combines at its own index.
bool is_scattering(const Node& node);

}  // namespace firn
