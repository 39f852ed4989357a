// Tensors [length, ...] that keep a value in each slot.
#include "compiler/ir/tape.h"

namespace firn {
namespace {

std::vector<Ref> places(const Builder& b, const Shape& shape, const Ref& slot) {
    std::vector<Ref> at{expand(b, slot, shape)};
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        at.push_back(index(b, shape, axis));
    return at;
}

}  // namespace

Ref state_at(const Builder& b, const Ref& tape, const Ref& slot) {
    const Shape shape(tape->shape.begin() + 1, tape->shape.end());
    return gather(b, tape, places(b, shape, slot),
                  std::vector<Bounds>(tape->shape.size(), Bounds::Unchecked),
                  scalar_int(0).to(tape->dtype));
}

Ref with_state(const Builder& b, const Ref& tape, const Ref& value, const Ref& slot, bool alone) {
    return scatter(b, tape, value, places(b, value->shape, slot),
                   {.op = ScatterOp::Last, .unique = true, .part = alone});
}

}  // namespace firn
