// The memory that a kernel has for itself, as LLVM IR.
#include "compiler/target/native/own_memory.h"

#include "compiler/target/native/elements.h"
#include "compiler/target/native/regions.h"

namespace firn::native {

OwnMemory own_memory(const KernelCode& code, int lanes) {
    OwnMemory out;
    for (const KernelBuffer& b : code.buffers) {
        out.offsets.push_back(out.bytes);
        if (b.space == MemorySpace::Bound) continue;
        const auto copies = static_cast<uint64_t>(b.space == MemorySpace::Private ? lanes : 1);
        const uint64_t bytes = static_cast<uint64_t>(b.elements.constant()) * copies *
                               static_cast<uint64_t>(element_bytes(b));
        out.bytes += (bytes + 63) / 64 * 64;
    }
    return out;
}

void write_array(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const int buffer = n.as<AccessAttr>().buffer;
    const KernelBuffer& b = run.code.buffers[buffer];
    const bool shared = b.space == MemorySpace::Shared;
    const int64_t elements = b.elements.constant() * (shared ? 1 : run.lanes);
    const std::string type = memory_type(b.dtype);
    std::string value = "0";
    if (type == "float" || type == "double" || type == "half") value = "0.0";
    if (!n.args.empty())
        value = to_memory(run, b.dtype, constant_text(run.code[n.args[0]].as<Scalar>().to(b.dtype)),
                          false);
    std::string from = "0", to = std::to_string(elements);
    if (shared && run.turns > 1) {  // each subgroup clears a part; a barrier follows
        const int64_t part = (elements + run.turns - 1) / run.turns;
        const std::string turn = emit(run, "zext i32 " + run.turn + " to i64");
        from = emit(run, "mul i64 " + turn + ", " + std::to_string(part));
        to = intrinsic(run, "umin", "i64",
                       {emit(run, "add i64 " + from + ", " + std::to_string(part)), to});
    }
    counted_loop(
        run, "i64", "%k" + std::to_string(run.next++), from, to, [&](const std::string& k) {
            const std::string place =
                emit(run, "getelementptr " + type + ", ptr " + run.memory[buffer] + ", i64 " + k);
            emit_effect(run, "store " + type + " " + value + ", ptr " + place);
        });
}

}  // namespace firn::native
