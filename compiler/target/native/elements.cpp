// Elements of memory, and their values as kernels use them, as LLVM IR.
#include "compiler/target/native/elements.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/target/native/halves.h"

namespace firn::native {
namespace {

std::string of_lanes(const IrRun& run, const std::string& scalar, bool varying) {
    return varying ? vector_of(run, scalar) : scalar;
}

}  // namespace

int element_bytes(const KernelBuffer& buffer) { return std::max(1, buffer.dtype.bytes()); }

std::string memory_type(DType dtype) {
    switch (dtype.type) {
        case Type::F32: return "float";
        case Type::F64: return "double";
        case Type::F16:
        case Type::BF16: return half_type(dtype);
        case Type::I16:
        case Type::U16: return "i16";
        case Type::I8:
        case Type::U8: return "i8";
        case Type::I32:
        case Type::U32:
        case Type::Bool: return "i32";
        case Type::I64:
        case Type::U64: return "i64";
    }
    throw InternalError("internal error: a type without LLVM IR");
}

std::string from_memory(IrRun& run, DType dtype, const std::string& raw, bool varying) {
    const std::string from = of_lanes(run, memory_type(dtype), varying),
                      to = type_of(run, dtype, varying);
    switch (dtype.type) {
        case Type::F16:
        case Type::BF16: return widened_half(run, dtype, raw, varying);
        case Type::I16:
        case Type::I8: return emit(run, "sext " + from + " " + raw + " to " + to);
        case Type::U16:
        case Type::U8: return emit(run, "zext " + from + " " + raw + " to " + to);
        case Type::Bool: {
            const std::string zero = varying ? splat(run, "0", "i32") : "0";
            return emit(run, "icmp ne " + from + " " + raw + ", " + zero);
        }
        default: return raw;
    }
}

std::string to_memory(IrRun& run, DType dtype, const std::string& value, bool varying) {
    const std::string to = of_lanes(run, memory_type(dtype), varying),
                      from = type_of(run, dtype, varying);
    switch (dtype.type) {
        case Type::F16:
        case Type::BF16: return narrowed_half(run, dtype, value, varying);
        case Type::I16:
        case Type::I8:
        case Type::U16:
        case Type::U8: return emit(run, "trunc " + from + " " + value + " to " + to);
        case Type::Bool: return emit(run, "zext " + from + " " + value + " to " + to);
        default: return value;
    }
}

DType element_of(const KernelCode& code, const KernelNode& n) {
    return n.op == KernelOp::Load ? n.dtype : code[n.args[1]].dtype;
}

bool has_words_in_common(const IrRun& run, const KernelNode& n) {
    const KernelBuffer& buffer = run.code.buffers[n.as<AccessAttr>().buffer];
    const DType dtype = element_of(run.code, n);
    return buffer.space == MemorySpace::Bound && element_bytes(buffer) == 4 &&
           (dtype == f32 || dtype == i32 || dtype == u32) &&
           (buffer.dtype == dtype || holds_bits(buffer, dtype));
}

}  // namespace firn::native
