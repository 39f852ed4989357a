// Kinds of components, and vectors from and to a last axis.
#include "compiler/frontend/vec.h"

#include "compiler/frontend/apply.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {
namespace {

VecKind kind_of(DType dtype) {
    if (dtype.is_float()) return VecKind::Float;
    if (dtype.is_bool()) return VecKind::Bool;
    return dtype.is_signed() ? VecKind::Int : VecKind::Uint;
}

DType default_type(VecKind kind) {
    switch (kind) {
        case VecKind::Float: return f32;
        case VecKind::Int: return i32;
        case VecKind::Uint: return u32;
        case VecKind::Bool: return boolean;
    }
    return f32;
}

const char* name_of(VecKind kind) {
    switch (kind) {
        case VecKind::Float: return "floats";
        case VecKind::Int: return "signed integers";
        case VecKind::Uint: return "unsigned integers";
        case VecKind::Bool: return "bools";
    }
    return "";
}

}  // namespace

Tensor to_kind(const Arg& x, VecKind kind) {
    LineScope at(x.line());
    if (x.is_scalar()) return Tensor::from_node(x.node(default_type(kind)));
    Tensor own = x.tensor();
    return kind_of(x.node()->dtype) == kind ? own : own.as(default_type(kind));
}

Arg operand_of_kind(const Arg& x, VecKind kind) {
    if (x.is_scalar()) {
        VecKind own = kind_of(x.scalar().dtype);
        bool whole = own != VecKind::Float && own != VecKind::Bool;
        if (own == kind || (kind == VecKind::Float && whole)) return x;
        if (whole && kind != VecKind::Bool) return x;  // Int beside Uint: a weak number
    } else {
        VecKind own = kind_of(x.node()->dtype);
        if (own == kind) return x;
        if (kind == VecKind::Float && own != VecKind::Bool) return Arg(to_kind(x, kind), x.line());
    }
    LineScope at(x.line());
    std::string own =
        x.is_scalar() ? text(x.scalar()) : x.node()->dtype.name() + std::string(" tensor");
    refuse(
        "vector: a " + own + " meets a vector of " + name_of(kind) +
        ", which would change its kind; convert the vector, as in vec3(v), or the tensor by .as()");
}

Ref component_of_kind(const Ref& value, VecKind kind) {
    if (kind_of(value->dtype) == kind) return value;
    const Arg x(Tensor::from_node(value), first_line(value->lines));
    // A number of C++ without a fraction may have either sign.
    const bool whole = value->op == Op::Constant && value->dtype.is_integer() &&
                       (kind == VecKind::Int || kind == VecKind::Uint);
    return whole ? to_kind(x, kind).node() : operand_of_kind(x, kind).node();
}

void keep_kind(Tensor& component, VecKind kind) { component.slot()->kind = kind; }

std::vector<Tensor> components(const Operand& x, size_t count) {
    LineScope at(x.line());
    Shape shape = x.node()->shape;
    if (shape.empty() || !shape.back().is(static_cast<int64_t>(count)))
        refuse("vec_of: the tensor has shape " + text(shape) + " and a vector of " +
               std::to_string(count) +
               " needs a last axis of that size; slice, or permute its axes");
    std::vector<Tensor> parts;
    for (size_t k = 0; k < count; ++k) {
        SliceOptions one{.axis = -1, .begin = Size(k), .end = Size(k + 1)};
        parts.push_back(squeeze(slice(x, one), {.axis = -1}));
    }
    return parts;
}

Tensor stack_components(const std::vector<Tensor>& parts, SourceLine line) {
    LineScope at(line);
    Shape joined = parts[0].shape();
    bool equal = true;
    Builder b = builder_at(Arg(parts[0], line));
    for (const Tensor& part : parts) {
        Shape own = part.shape();
        equal = equal && own == joined;
        joined = broadcast_shapes(b, joined, own, "stack: two components of the vector");
    }
    if (equal) return stack(parts, {.axis = -1});
    std::vector<Tensor> whole;
    for (const Tensor& part : parts) whole.push_back(expand(part, joined));
    return stack(whole, {.axis = -1});
}

}  // namespace firn
