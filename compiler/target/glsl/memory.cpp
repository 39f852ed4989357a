// Declares and names the memory that a kernel loads from and stores to.
#include "compiler/target/glsl/memory.h"

#include <ostream>

#include "compiler/target/glsl/operations.h"

namespace firn {
namespace {

std::string image_prefix(DType dtype) { return dtype == f32 ? "" : dtype == i32 ? "i" : "u"; }

std::string texel_format(DType dtype, int width) {
    return (width == 4 ? "rgba32" : "r32") + std::string(dtype == f32   ? "f"
                                                         : dtype == i32 ? "i"
                                                                        : "ui");
}

/// A word of such elements, and the bit at which one begins.
struct InWord {
    std::string word, shift;
};
InWord in_word(DType dtype, const std::string& index) {
    if (dtype.bytes() == 2) return {index + " >> 1", "(" + index + " & 1) * 16"};
    return {index + " >> 2", "(" + index + " & 3) * 8"};
}

}  // namespace

std::string element_type(DType dtype) {
    switch (dtype.type) {
        case Type::F16: return "float16_t";
        case Type::BF16:
        case Type::U16: return "uint16_t";
        case Type::I16: return "int16_t";
        case Type::I8: return "int8_t";
        case Type::U8: return "uint8_t";
        case Type::Bool: return "uint";
        default: return glsl_type(dtype);
    }
}

std::string from_element(DType dtype, const std::string& element) {
    if (dtype.is_bool()) return "(" + element + " != 0u)";
    if (dtype == bf16) return "uintBitsToFloat(uint(" + element + ") << 16)";
    const std::string type = glsl_type(dtype);
    return element_type(dtype) == type ? element : type + "(" + element + ")";
}

std::string to_element(DType dtype, const std::string& value) {
    if (dtype.is_bool()) return "(" + value + " ? 1u : 0u)";
    const std::string type = element_type(dtype);
    if (dtype == bf16) return type + "(floatBitsToUint(" + value + ") >> 16)";
    return type == glsl_type(dtype) ? value : type + "(" + value + ")";
}

bool is_packed(DType dtype, const DeviceProfile& profile) {
    return (dtype.bytes() == 2 && !profile.storage_16bit) ||
           (dtype.bytes() == 1 && !profile.storage_8bit);
}

std::string stored_type(const KernelBuffer& buffer, int width, const DeviceProfile& profile) {
    const DType dtype = buffer.dtype;
    if (width == 4) {
        if (dtype == f32) return "vec4";
        return dtype == i32 ? "ivec4" : "uvec4";
    }
    if (dtype == boolean) return "uint";
    // Storage alone has types of less than 32 bits.
    if (buffer.space != MemorySpace::Bound) return glsl_type(dtype);
    return is_packed(dtype, profile) ? "uint" : element_type(dtype);
}

std::string memory_name(const KernelCode& code, size_t k) {
    return "b" + std::to_string(k) + (is_addressed(code.buffers[k]) ? ".e" : "");
}

void declare_memory(std::ostream& out, const KernelCode& code, size_t k,
                    const DeviceProfile& profile) {
    const KernelBuffer& b = code.buffers[k];
    const std::string type = stored_type(b, b.width, profile);
    if (b.space != MemorySpace::Bound) {
        out << (b.space == MemorySpace::Shared ? "shared " : "") << type << " b" << k << "["
            << floor_div(b.elements, Size(b.width)).text() << "];\n";
        return;
    }
    const std::string access =
        std::string(b.coherent ? "coherent " : "") + (b.written ? "" : "readonly ");
    switch (b.form) {
        case BindingForm::View:
            out << "layout(set = 0, binding = " << k << ", " << texel_format(b.dtype, b.width)
                << ") " << access << "uniform " << image_prefix(b.dtype) << "imageBuffer b" << k
                << ";\n";
            return;
        case BindingForm::Storage:
            out << "layout(set = 0, binding = " << k << ", std430) " << access << "buffer B" << k
                << " { " << type << " b" << k << "[]; };\n";
            return;
        case BindingForm::Address:
            out << "layout(buffer_reference, std430, buffer_reference_align = 16) " << access
                << "buffer B" << k << " { " << type << " e[]; };\n";
            return;
    }
}

void declare_addressed(std::ostream& out, const KernelCode& code) {
    for (size_t k = 0; k < code.buffers.size(); ++k)
        if (is_addressed(code.buffers[k]))
            out << "    B" << k << " b" << k << " = B" << k << "(a" << k << ");\n";
}

std::string packed_load(DType dtype, const std::string& memory, const std::string& index) {
    const InWord at = in_word(dtype, index);
    const std::string word = memory + "[" + at.word + "]";
    if (dtype == f16) return "unpackHalf2x16(" + word + ")[" + index + " & 1]";
    const std::string bits =
        "bitfieldExtract(" +
        std::string(dtype.is_signed() && !dtype.is_float() ? "int(" + word + ")" : word) + ", " +
        at.shift + ", " + std::to_string(8 * dtype.bytes()) + ")";
    return dtype == bf16 ? from_element(dtype, bits) : bits;
}

std::string packed_store(DType dtype, const std::string& memory, const std::string& index,
                         const std::string& value) {
    const InWord at = in_word(dtype, "at");
    const std::string word = memory + "[" + at.word + "]",
                      mask = dtype.bytes() == 2 ? "0xffffu" : "0xffu";
    // A value beyond the largest half is infinite, and a nan has 16 bits: packHalf2x16 may turn
    // either into anything.
    const std::string bits = dtype == f16
                                 ? "abs(wide) >= 65520.0 ? 0x7c00u | floatBitsToUint(wide) >> 16 & "
                                   "0x8000u : packHalf2x16(vec2(wide, 0.0)) & 0xffffu"
                             : dtype == bf16 ? "floatBitsToUint(" + value + ") >> 16"
                                             : "uint(" + value + ") & " + mask;
    const std::string wide = dtype == f16 ? "float wide = " + value + "; " : "";
    // Each leaves the other bits of the word as they are, even if other invocations store those
    // meanwhile.
    return "{ int at = " + index + "; " + wide + "uint bits = " + bits + "; atomicAnd(" + word +
           ", ~(" + mask + " << (" + at.shift + "))); atomicOr(" + word + ", bits << (" + at.shift +
           ")); }";
}

}  // namespace firn
