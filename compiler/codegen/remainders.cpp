// Remainders of floats: which of the functions in arithmetic.glsl takes one.
#include "compiler/codegen/remainders.h"

#include <algorithm>
#include <cmath>

#include "compiler/codegen/operations.h"
#include "compiler/kernel/float_bounds.h"

namespace firn {
namespace {

// As arithmetic.glsl has them.
constexpr int64_t kStepsOfF32 = 14, kStepsOfNear = 10, kStepsOfF64 = 88;
/// firn_mod_of_few_f32 takes quotients up to 2^11; bounds are known to a thousandth.
constexpr double kFew = 0x1p11 * 0.999;
/// The largest divisor that firn_mod_near_f32 and it take, and the reciprocal of the smallest.
constexpr double kLargestDivisor = 0x1p60;

bool is_remainder(const KernelNode& n) { return n.op == KernelOp::Mod && n.dtype.is_float(); }

/// A literal divisor of ordinary size: see arithmetic.glsl.
bool is_near(const KernelCode& code, const KernelNode& n) {
    const KernelNode& by = code.nodes[static_cast<size_t>(n.args[1])];
    return n.dtype != f64 && by.op == KernelOp::Constant && by.constant.f >= 1 / kLargestDivisor &&
           by.constant.f <= kLargestDivisor;
}

int64_t steps_of(const KernelCode& code, const KernelNode& n) {
    return n.dtype == f64 ? kStepsOfF64 : is_near(code, n) ? kStepsOfNear : kStepsOfF32;
}

/// Back edges of all remainders of a region, as one invocation may take them; -1 where only the
/// data knows.
int64_t steps_in(const KernelCode& code, int region) {
    constexpr int64_t kMany = int64_t{1} << 40;
    int64_t steps = 0;
    const auto add = [&](int id) {
        const KernelNode& n = code.nodes[static_cast<size_t>(id)];
        if (is_remainder(n)) steps += steps_of(code, n);
        if (n.op != KernelOp::For && n.op != KernelOp::Branch) return true;
        for (int part : {n.region, n.else_region}) {
            if (part < 0) continue;
            const int range = code.regions[static_cast<size_t>(part)].range;
            const int64_t inside = steps_in(code, part),
                          trips = range < 0 ? 1 : code.ranges[static_cast<size_t>(range)].max_trips;
            if (inside < 0 || (inside > 0 && trips < 0)) return false;
            steps = std::min(kMany, steps + inside * std::min(std::max<int64_t>(trips, 0), kMany));
        }
        return true;
    };
    const KernelRegion& body = code.regions[static_cast<size_t>(region)];
    for (const std::vector<int>& ids : {body.order, body.effects})
        for (int id : ids)
            if (!add(id)) return -1;
    return steps;
}

/// Loops one behind the other that a driver which bounds back edges compiles in time: lavapipe
/// takes 0.4 s for four, 2.6 s for eight and minutes for sixteen.
constexpr int64_t kMostLoops = 4;

/// The device lets an invocation take all the steps that its remainders may need, and compiles
/// them.
bool may_loop(const GlslRun& run) {
    const int64_t most = run.profile.max_back_edges;
    if (most == 0) return true;
    if (std::count_if(run.code.nodes.begin(), run.code.nodes.end(), is_remainder) > kMostLoops)
        return false;
    const int64_t steps = steps_in(run.code, 0);
    return steps >= 0 && run.code.back_edges >= 0 && run.code.back_edges + steps <= most;
}

/// Bounds tell that firn_mod_of_few_f32 takes the quotient, by a literal that is near.
bool has_small_quotient(const GlslRun& run, const KernelNode& n) {
    if (n.dtype != f32) return false;
    const FloatBounds x = FloatRanges(run.code).of(n.args[0]);
    const double y = run.code.nodes[static_cast<size_t>(n.args[1])].constant.f;
    return std::max(std::abs(x.lo), std::abs(x.hi)) <= kFew * y;
}

std::string remainder_function(const GlslRun& run, const KernelNode& n) {
    const bool near = is_near(run.code, n);
    if (near && has_small_quotient(run, n)) return "firn_mod_of_few_f32(";
    return std::string(near ? "firn_mod_near" : "firn_mod") + (may_loop(run) ? "" : "_in_steps") +
           (n.dtype == f64 ? "_f64(" : "_f32(");
}

}  // namespace

std::string remainder_text(const GlslRun& run, const KernelNode& node,
                           const std::vector<std::string>& operands) {
    std::string text =
        operation_glsl(run.profile, node.op, node.dtype, {node.dtype, node.dtype}, operands);
    const std::string name = node.dtype == f64 ? "firn_mod_f64(" : "firn_mod_f32(";
    const size_t at = text.find(name);
    if (at == std::string::npos) return text;  // by a power of two
    return text.replace(at, name.size(), remainder_function(run, node));
}

}  // namespace firn
