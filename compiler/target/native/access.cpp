// The places that a load, store or atomic accesses, as LLVM IR.
#include "compiler/target/native/access.h"

#include "compiler/host/processor.h"
#include "compiler/target/native/elements.h"

namespace firn::native {
namespace {

/// Takes a constant out of the index, so that neighbours share the rest of their addresses.
void split_index(IrRun& run, const KernelNode& index, Access& a) {
    if (index.op != KernelOp::Add || index.dtype != i32) return;
    for (size_t k = 0; k < 2; ++k) {
        const auto* constant = run.code[index.args[k]].get_if<Scalar>();
        if (!constant || constant->i <= 0 || constant->i > kLargestOffset) continue;
        const IrValue rest = value_of(run, index.args[1 - k]);
        if (rest.is_vector() || rest.text == "poison") return;
        a.index = rest;
        a.behind = constant->i;
        return;
    }
}

/// Checks the index of a private array before it is spread over lanes, which may not fit an i32.
void check_row_of_lanes(IrRun& run, const Access& a) {
    if (!run.checks) return;
    const CheckedAccess access = checked(run, a, a.index, a.width);
    std::string& elements = run.elements[static_cast<size_t>(access.buffer)];
    const std::string of_all_lanes = elements;
    elements = std::to_string(a.buffer.elements.constant());
    check_lanes(run, access, run.mask, false);
    elements = of_all_lanes;
}

}  // namespace

CheckedAccess checked(const IrRun& run, const Access& a, const IrValue& index, int width) {
    return {a.node, run.code[a.node].as<AccessAttr>().buffer, index, a.behind, width};
}

Access access_of(IrRun& run, NodeId id, DType used) {
    const KernelNode& n = run.code[id];
    const auto& attr = n.as<AccessAttr>();
    const KernelBuffer& buffer = run.code.buffers[attr.buffer];
    Access out{buffer,
               run.memory[attr.buffer],
               holds_bits(buffer, used) ? used : buffer.dtype,
               value_of(run, n.args[0]),
               attr.width,
               0,
               id};
    if (buffer.space != MemorySpace::Private || run.lanes == 1) {
        split_index(run, run.code[n.args[0]], out);
        return out;
    }
    out.index.first.clear();
    check_row_of_lanes(run, out);
    // Element k of lane l is at k * lanes + l.
    const std::string lanes = std::to_string(run.lanes);
    if (out.index.is_vector()) {
        const std::string words = vector_of(run, "i32");
        const std::string scaled =
            emit(run, "mul " + words + " " + out.index.text + ", " + splat(run, lanes, "i32"));
        out.index.text = emit(
            run, "add " + words + " " + scaled + ", " + as_vector(run, {"0", true, true, 1}, i32));
        return out;
    }
    out.index.text = emit(run, "mul i32 " + out.index.text + ", " + lanes);
    out.index.stride = out.index.stride * run.lanes + 1;
    out.index.varying = out.index.linear = true;
    return out;
}

std::string address(IrRun& run, const Access& a, const std::string& index, int64_t more) {
    std::string place = emit(run, "sext i32 " + index + " to i64");
    more += a.behind;
    if (more) place = emit(run, "add i64 " + place + ", " + std::to_string(more));
    return emit(run,
                "getelementptr " + memory_type(a.dtype) + ", ptr " + a.pointer + ", i64 " + place);
}

std::string alignment(const Access& a) {
    return ", align " + std::to_string(element_bytes(a.buffer));
}

IrValue safe_index(IrRun& run, const Access& a) {
    if (run.mask.empty()) return a.index;
    const std::string words = vector_of(run, "i32"),
                      zero = splat(run, std::to_string(-a.behind), "i32"),
                      chosen = emit(run, "select " + vector_of(run, "i1") + " " + run.mask + ", " +
                                             words + " " + as_vector(run, a.index, i32) + ", " +
                                             words + " " + zero);
    return {chosen, true, false, 0};
}

bool gathers(const IrRun& run, const Access& a) {
    return vector_facts(run.profile).gathers && run.lanes > 1 && element_bytes(a.buffer) >= 4;
}

std::string base_behind(IrRun& run, const Access& a, int k) {
    if (k + a.behind == 0) return a.pointer;
    return emit(run, "getelementptr " + memory_type(a.dtype) + ", ptr " + a.pointer + ", i64 " +
                         std::to_string(k + a.behind));
}

std::string places(IrRun& run, const Access& a, int k) {
    const std::string base = base_behind(run, a, k);
    return emit(run, "getelementptr " + memory_type(a.dtype) + ", ptr " + base + ", " +
                         vector_of(run, "i32") + " " + as_vector(run, a.index, i32));
}

std::string running(IrRun& run) { return run.mask.empty() ? splat(run, "true", "i1") : run.mask; }

}  // namespace firn::native
