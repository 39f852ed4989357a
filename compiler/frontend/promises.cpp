// Promises as assertions on the positions of a store or read: their shape meets every condition
// around it.
#include "compiler/frontend/promises.h"

#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/environment.h"

namespace firn {

bool wants_checks(SessionState& session) {
    if (!session.checks) session.checks = environment_number("FIRN_CHECK", 0) != 0;
    return *session.checks;
}

bool checks_promises(SessionState& session) {
    // Inside a kernel by hand nothing else runs, checks neither.
    return wants_checks(session) && !kernel_depth(session);
}

void check_store(SessionState& session, const Builder& b, const Shape& target,
                 std::vector<Ref> indices, const Ref& mask, const ScatterAttr& how) {
    Shape shape;
    for (const Ref& index : indices) shape = broadcast_shapes(b, shape, index->shape, "store");
    for (Ref& index : indices) index = expand(b, index, shape);
    const Shape places(target.begin(), target.begin() + static_cast<long>(indices.size()));
    // The last of the positions with one index owns the place.
    const Ref position = reshape(b, index(b, {element_count(shape)}, 0), shape),
              zero = constant_int(b, 0);
    const Ref owner =
        scatter(b, expand(b, constant_int(b, -1), places), position, indices, {ScatterOp::Max});
    const Ref owner_there = gather(
        b, owner, indices, std::vector<Bounds>(indices.size(), Bounds::Constant), scalar_int(-1));
    record_check(
        session, b,
        "store: it promises that no two positions have the same index, but later positions "
        "overwrite earlier ones",
        elementwise(b, Op::Or,
                    {elementwise(b, Op::Less, {owner_there, zero}),
                     elementwise(b, Op::Equal, {owner_there, position})}));
    if (!how.complete) return;
    Ref whole = reduce(b, ReduceOp::All, elementwise(b, Op::LessEqual, {zero, owner}), {}, false);
    // The promise of a whole permutation is the branch's where some positions do not take part.
    if (mask)
        whole = elementwise(
            b, Op::Or,
            {whole, reduce(b, ReduceOp::Any, elementwise(b, Op::Not, {mask}), {}, false)});
    record_check(session, b,
                 "store: it promises a permutation, and some elements are not stored to", whole);
}

void check_read(SessionState& session, const Builder& b, const Shape& source,
                const std::vector<Ref>& indices) {
    Ref inside;
    for (size_t k = 0; k < indices.size(); ++k) {
        const Ref in =
            elementwise(b, Op::And,
                        {elementwise(b, Op::LessEqual, {constant_int(b, 0), indices[k]}),
                         elementwise(b, Op::Less, {indices[k], size_value(b, source[k])})});
        inside = inside ? elementwise(b, Op::And, {inside, in}) : in;
    }
    if (inside)
        record_check(session, b, "unchecked: it promises that every index is inside", inside);
}

}  // namespace firn
