// Values of f16 and bf16, which kernels hold as f32, as LLVM IR.
#include "compiler/target/native/halves.h"

namespace firn::native {

const char* half_type(DType half) { return half == f16 ? "half" : "i16"; }

std::string widened_half(IrRun& run, DType half, const std::string& value, bool varying) {
    const auto of = [&](const char* scalar) {
        return varying ? vector_of(run, scalar) : std::string(scalar);
    };
    if (half == f16) return emit(run, "fpext " + of("half") + " " + value + " to " + of("float"));
    const std::string wide = emit(run, "zext " + of("i16") + " " + value + " to " + of("i32")),
                      sixteen = varying ? splat(run, "16", "i32") : "16",
                      bits = emit(run, "shl " + of("i32") + " " + wide + ", " + sixteen);
    return emit(run, "bitcast " + of("i32") + " " + bits + " to " + of("float"));
}

std::string narrowed_half(IrRun& run, DType half, const std::string& value, bool varying) {
    const auto of = [&](const char* scalar) {
        return varying ? vector_of(run, scalar) : std::string(scalar);
    };
    if (half == f16) return emit(run, "fptrunc " + of("float") + " " + value + " to " + of("half"));
    const std::string bits = emit(run, "bitcast " + of("float") + " " + value + " to " + of("i32")),
                      sixteen = varying ? splat(run, "16", "i32") : "16",
                      high = emit(run, "lshr " + of("i32") + " " + bits + ", " + sixteen);
    return emit(run, "trunc " + of("i32") + " " + high + " to " + of("i16"));
}

std::string rounded_to_half(IrRun& run, const std::string& value, DType half, bool varying) {
    if (half == f16)
        return widened_half(run, half, narrowed_half(run, half, value, varying), varying);
    const auto of = [&](const char* scalar) {
        return varying ? vector_of(run, scalar) : std::string(scalar);
    };
    // bf16: half of the last kept place is added, less one where that place is even; nan is kept.
    const auto number = [&](const char* text) {
        return varying ? splat(run, text, "i32") : std::string(text);
    };
    const std::string words = of("i32"),
                      bits = emit(run, "bitcast " + of("float") + " " + value + " to " + words),
                      last = emit(
                          run, "and " + words + " " +
                                   emit(run, "lshr " + words + " " + bits + ", " + number("16")) +
                                   ", " + number("1")),
                      more = emit(run, "add " + words + " " + last + ", " + number("32767")),
                      sum = emit(run, "add " + words + " " + bits + ", " + more),
                      nan = emit(run, "fcmp uno " + of("float") + " " + value + ", " + value),
                      quiet = emit(run, "or " + words + " " + bits + ", " + number("4194304")),
                      chosen = emit(run, "select " + of("i1") + " " + nan + ", " + words + " " +
                                             quiet + ", " + words + " " + sum),
                      kept = emit(run, "and " + words + " " + chosen + ", " + number("-65536"));
    return emit(run, "bitcast " + words + " " + kept + " to " + of("float"));
}

}  // namespace firn::native
