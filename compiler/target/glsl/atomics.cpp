// Stores that combine with concurrent stores of other invocations.
#include "compiler/target/glsl/atomics.h"

#include "compiler/ir/builder.h"
#include "compiler/target/glsl/elements.h"
#include "compiler/target/glsl/expressions.h"
#include "compiler/target/glsl/memory.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/values.h"

namespace firn {
namespace {

struct Atomic {
    NodeId id;
    const KernelNode& n;
    const KernelBuffer& b;
    bool bits;   // the element is a float, held as its bits
    bool asked;  // the old value is used
};

std::string as_stored(const Atomic& a, const std::string& value) {
    return a.bits                ? bitcast_glsl(a.b.dtype, a.n.dtype, value)
           : a.n.dtype.is_bool() ? "(" + value + " ? 1u : 0u)"
                                 : value;
}

std::string as_used(const Atomic& a, const std::string& stored) {
    return a.bits                ? bitcast_glsl(a.n.dtype, a.b.dtype, stored)
           : a.n.dtype.is_bool() ? "(" + stored + " != 0u)"
                                 : stored;
}

/// Returns the text of the value that is stored in place of `old`.
std::string next_text(GlslRun& run, const Atomic& a, const std::string& old) {
    return as_stored(a, combined_text(run, kernel_op(combining_op(a.n.as<AccessAttr>().combine)),
                                      a.n.dtype, as_used(a, old), run.text[a.n.args[1]]));
}

/// Null where devices have no such operation.
const char* native_atomic(ScatterOp op) {
    switch (op) {
        case ScatterOp::Add: return "atomicAdd";
        case ScatterOp::Min: return "atomicMin";
        case ScatterOp::Max: return "atomicMax";
        case ScatterOp::And: return "atomicAnd";
        case ScatterOp::Or: return "atomicOr";
        case ScatterOp::Xor: return "atomicXor";
        case ScatterOp::Last: return "atomicExchange";
        case ScatterOp::Mul: break;
    }
    return nullptr;
}

void write_own(GlslRun& run, const Atomic& a, int indent) {
    const std::string at = "i" + std::to_string(a.id.number()),
                      own = "b" + std::to_string(a.n.as<AccessAttr>().buffer) + "[" + at + "]";
    line(run, indent) << "int " << at << " = " << place_text(run, a.n) << ";\n";
    line(run, indent) << own << " = " << next_text(run, a, own) << ";\n";
}

void write_native(GlslRun& run, const Atomic& a, const char* native, const std::string& target,
                  int indent) {
    run.float_atomics |= a.n.dtype.is_float() && !a.bits;
    const std::string call =
        std::string(native) + "(" + target + ", " + as_stored(a, run.text[a.n.args[1]]) + ")";
    if (a.asked)
        define_value(run, a.id, as_used(a, call), indent);
    else
        line(run, indent) << call << ";\n";
}

void write_exchange(GlslRun& run, const Atomic& a, const std::string& target, int indent) {
    const std::string id = std::to_string(a.id.number()), old = "o" + id, seen = "s" + id,
                      result = value_name(a.id), type = stored_type(a.b, 1, run.profile);
    if (a.asked) {
        run.text[a.id] = result;
        line(run, indent) << glsl_type(a.n.dtype) << " " << result << ";\n";
    }
    line(run, indent) << "for (" << type << " " << old << " = " << target << ";;) {\n";
    line(run, indent + 1) << type << " " << seen << " = atomicCompSwap(" << target << ", " << old
                          << ", " << next_text(run, a, old) << ");\n";
    line(run, indent + 1) << "if (" << seen << " == " << old << ") "
                          << (a.asked ? "{ " + result + " = " + as_used(a, old) + "; break; }"
                                      : "break;")
                          << "\n";
    line(run, indent + 1) << old << " = " << seen << ";\n";
    line(run, indent) << "}\n";
}

}  // namespace

void write_atomic(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    const auto& access = n.as<AccessAttr>();
    const KernelBuffer& b = run.code.buffers[access.buffer];
    const Atomic a{id, n, b, holds_bits(b, n.dtype), run.uses.count[id] > 0};
    if (b.space == MemorySpace::Private && !a.asked && access.combine != ScatterOp::Last)
        return write_own(run, a, indent);
    run.wide_atomics |= b.dtype.bytes() == 8;
    const std::string target = array_text(run.code, n) + "[" + place_text(run, n) + "]";
    const char* native =
        !a.bits || access.combine == ScatterOp::Last ? native_atomic(access.combine) : nullptr;
    if (native)
        write_native(run, a, native, target, indent);
    else
        write_exchange(run, a, target, indent);
}

}  // namespace firn
