// Combining stores to one element of memory as LLVM IR.
#include "compiler/target/native/atomics.h"

#include "compiler/target/native/access.h"
#include "compiler/target/native/elements.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

std::string atomic_operation(ScatterOp combine, DType type) {
    switch (combine) {
        case ScatterOp::Add: return type.is_float() ? "fadd" : "add";
        case ScatterOp::And: return "and";
        case ScatterOp::Or: return "or";
        case ScatterOp::Xor: return "xor";
        case ScatterOp::Min: return type.is_signed() ? "min" : "umin";
        case ScatterOp::Max: return type.is_signed() ? "max" : "umax";
        case ScatterOp::Last: return "xchg";
        case ScatterOp::Mul: return {};
    }
    return {};
}

/// An element combined with a value.
std::string combined(IrRun& run, const KernelNode& n, const std::string& old,
                     const std::string& value) {
    const ScatterOp combine = n.as<AccessAttr>().combine;
    const std::string type = memory_type(n.dtype), operands = type + " " + old + ", " + value;
    const bool is_float = n.dtype.is_float();
    if (combine == ScatterOp::Last) return value;
    if (combine == ScatterOp::Mul) return emit(run, (is_float ? "fmul " : "mul ") + operands);
    if (combine != ScatterOp::Min && combine != ScatterOp::Max)
        return emit(run, atomic_operation(combine, n.dtype) + " " + operands);
    const bool least = combine == ScatterOp::Min;
    std::string taken;
    if (is_float) {
        // The smaller (larger) of two floats: the number where one is nan.
        const std::string better = emit(run, std::string("fcmp ") + (least ? "olt" : "ogt") + " " +
                                                 type + " " + value + ", " + old),
                          nan = emit(run, "fcmp uno " + type + " " + old + ", " + old);
        taken = emit(run, "or i1 " + better + ", " + nan);
    } else {
        const std::string how =
            std::string(n.dtype.is_signed() ? "s" : "u") + (least ? "lt" : "gt");
        taken = emit(run, "icmp " + how + " " + type + " " + value + ", " + old);
    }
    return emit(run, "select i1 " + taken + ", " + type + " " + value + ", " + type + " " + old);
}

/// Combines one element with a value where no other thread does; returns the value before.
std::string combine_alone(IrRun& run, const KernelNode& n, const std::string& place,
                          const std::string& value) {
    const std::string type = memory_type(n.dtype),
                      old = emit(run, "load " + type + ", ptr " + place);
    emit_effect(run, "store " + type + " " + combined(run, n, old, value) + ", ptr " + place);
    return old;
}

/// Combines one element of memory with a value; returns the value before. Operations that no
/// instruction does are tried until no other thread was faster.
std::string combine_once(IrRun& run, const KernelNode& n, const std::string& place,
                         const std::string& value) {
    const DType type = n.dtype;
    const ScatterOp combine = n.as<AccessAttr>().combine;
    const std::string memory = memory_type(type);
    const std::string operation = atomic_operation(combine, type);
    // LLVM's own loop for floats does not ask on ARM whether its store succeeded, so that sums are
    // lost (19.1.7), and the thread sanitizer does not know it.
    const bool by_bits = type.is_float() && combine != ScatterOp::Last;
    if (!operation.empty() && !by_bits)
        return emit(run, "atomicrmw " + operation + " ptr " + place + ", " + memory + " " + value +
                             " monotonic");
    const std::string bits = memory == "float" || memory == "i32" ? "i32" : "i64",
                      again = new_label(run, "again"), done = new_label(run, "combined"),
                      before = emit(run, "load atomic " + bits + ", ptr " + place +
                                             " monotonic, align " + (bits == "i32" ? "4" : "8")),
                      from = run.block, seen = "%seen" + std::to_string(run.next++),
                      found = "%found" + std::to_string(run.next++);
    emit_effect(run, "br label %" + again);
    begin_block(run, again);
    run.text += "  " + seen + " = phi " + bits + " [" + before + ", %" + from + "], [" + found +
                ", %" + again + "]\n";
    const bool cast = memory != bits;
    const std::string old =
        cast ? emit(run, "bitcast " + bits + " " + seen + " to " + memory) : seen;
    std::string next = combined(run, n, old, value);
    if (cast) next = emit(run, "bitcast " + memory + " " + next + " to " + bits);
    const std::string pair = emit(run, "cmpxchg ptr " + place + ", " + bits + " " + seen + ", " +
                                           bits + " " + next + " monotonic monotonic");
    run.text += "  " + found + " = extractvalue {" + bits + ", i1} " + pair + ", 0\n";
    const std::string won = emit(run, "extractvalue {" + bits + ", i1} " + pair + ", 1");
    emit_effect(run, "br i1 " + won + ", label %" + done + ", label %" + again);
    begin_block(run, done);
    return old;
}

}  // namespace

void write_atomic(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const Access a = access_of(run, id, n.dtype);
    check_lanes(run, checked(run, a, a.index, 1), run.mask, false);
    const std::string type = memory_type(n.dtype), vector = vector_of(run, type);
    const auto one = [&](int lane) {
        const std::string value = to_memory(
            run, n.dtype, lane_of(run, value_of(run, n.args[1]), run.code[n.args[1]].dtype, lane),
            false);
        const std::string place = address(run, a, lane_of(run, a.index, i32, lane));
        // The invocations of a group run on one thread, one after the other here.
        const bool alone = a.buffer.space != MemorySpace::Bound;
        return alone ? combine_alone(run, n, place, value) : combine_once(run, n, place, value);
    };
    if (run.lanes == 1) {
        run.values[id] = {{from_memory(run, n.dtype, one(0), false), false}};
        return;
    }
    std::string all = emit(run, "freeze " + vector + " poison");
    for (int lane = 0; lane < run.lanes; ++lane) {
        const std::string at = ", i64 " + std::to_string(lane);
        if (run.mask.empty()) {
            all = emit(run,
                       "insertelement " + vector + " " + all + ", " + type + " " + one(lane) + at);
            continue;
        }
        const std::string on = emit(run,
                                    "extractelement " + vector_of(run, "i1") + " " + run.mask + at),
                          then = new_label(run, "atomic"), next = new_label(run, "next"),
                          before = run.block;
        emit_effect(run, "br i1 " + on + ", label %" + then + ", label %" + next);
        begin_block(run, then);
        const std::string old = one(lane),
                          with = emit(run, "insertelement " + vector + " " + all + ", " + type +
                                               " " + old + at),
                          last = run.block;
        emit_effect(run, "br label %" + next);
        begin_block(run, next);
        all = emit(run, "phi " + vector + " [" + all + ", %" + before + "], [" + with + ", %" +
                            last + "]");
    }
    run.values[id] = {{from_memory(run, n.dtype, all, true), true}};
}

}  // namespace firn::native
