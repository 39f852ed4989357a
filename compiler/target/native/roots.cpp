// Estimates register by register, and a step of Newton's kind that refines them.
#include "compiler/target/native/roots.h"

#include <algorithm>

#include "compiler/host/processor.h"
#include "compiler/program/dtype.h"

namespace firn::native {
namespace {

/// An instruction that estimates reciprocals of roots, of one register.
struct Estimate {
    RootEstimate kind;
    int lanes;
    const char* name;
    const char* more_types;     // operands behind the first
    const char* more_operands;  // these with their values
    bool coarse;                // 12 bits are right, else 14
};
constexpr Estimate kEstimates[]{
    {RootEstimate::Avx512, 16, "@llvm.x86.avx512.rsqrt14.ps.512", ", <16 x float>, i16",
     ", <16 x float> zeroinitializer, i16 -1", false},
    {RootEstimate::Avx, 8, "@llvm.x86.avx.rsqrt.ps.256", "", "", true},
};

/// The lanes first to first + count - 1 of a vector, or of two that follow one another.
std::string lanes_of(IrRun& run, const std::string& type, const std::string& a,
                     const std::string& b, int first, int count) {
    std::string order;
    for (int k = 0; k < count; ++k) order += (k ? ", i32 " : "i32 ") + std::to_string(first + k);
    return emit(run, "shufflevector " + type + " " + a + ", " + type + " " + b + ", <" +
                         std::to_string(count) + " x i32> <" + order + ">");
}

std::string floats(int lanes) { return "<" + std::to_string(lanes) + " x float>"; }

/// The estimates of all lanes, register by register. The number of registers is a power of two.
std::string estimated(IrRun& run, const Estimate& by, const std::string& x, int lanes) {
    const std::string type = floats(lanes);
    if (lanes > by.lanes) {
        const int half = lanes / 2;
        const std::string low = estimated(run, by, lanes_of(run, type, x, "poison", 0, half), half),
                          high = estimated(run, by, lanes_of(run, type, x, "poison", half, half),
                                           half);
        return lanes_of(run, floats(half), low, high, 0, lanes);
    }
    run.declared.insert("declare " + type + " " + by.name + "(" + type + by.more_types + ")");
    return emit(run,
                "call " + type + " " + by.name + "(" + type + " " + x + by.more_operands + ")");
}

}  // namespace

std::string inverse_root(IrRun& run, const std::string& x) {
    const auto by = std::find_if(std::begin(kEstimates), std::end(kEstimates), [&](const auto& e) {
        return e.kind == vector_facts(run.profile).root_estimate;
    });
    const int registers = by == std::end(kEstimates) ? 0 : run.lanes / by->lanes;
    if (registers < 1 || registers * by->lanes != run.lanes || (registers & (registers - 1)))
        return {};
    const std::string type = vector_of(run, "float");
    const auto number = [&](double value) {
        return splat(run, constant_text(scalar_float(value, f32)), "float");
    };
    const auto fma = [&](const std::string& a, const std::string& b, const std::string& c) {
        return intrinsic(run, "fma", type, {a, b, c});
    };
    const auto product = [&](const std::string& a, const std::string& b) {
        return emit(run, "fmul " + type + " " + a + ", " + b);
    };
    // With e = 1 - x r r, the root is r (1 + e / 2 + 3/8 e e + ...).
    const std::string r = estimated(run, *by, x, run.lanes),
                      e = fma(emit(run, "fneg " + type + " " + product(x, r)), r, number(1)),
                      factor = by->coarse ? fma(e, number(0.375), number(0.5)) : number(0.5),
                      better = fma(product(r, e), factor, r);
    // Zeros and infinities have no e; their estimate is the result, as that of nan is.
    const std::string known = emit(run, "fcmp ord " + type + " " + e + ", " + e);
    return emit(run, "select " + vector_of(run, "i1") + " " + known + ", " + type + " " + better +
                         ", " + type + " " + r);
}

}  // namespace firn::native
