// Remainders of floats: which of the functions in arithmetic.glsl takes one.
#include "compiler/target/glsl/remainders.h"

#include <algorithm>

#include "compiler/kernel/long_divisions.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/glsl/operations.h"

namespace firn {
namespace {

// The steps of the loops of arithmetic.glsl, at the most. Its firn_mod_near_f32 takes divisors of
// ordinary size, and firn_mod_of_few_f32 small quotients by these.
constexpr int64_t kStepsOfF32 = 14, kStepsOfNear = 10, kStepsOfF64 = 88;

int64_t steps_of_division(const KernelNode& n, const KernelCode& code) {
    return n.dtype == f64 ? kStepsOfF64 : has_near_divisor(n, code) ? kStepsOfNear : kStepsOfF32;
}

/// Back edges of all long divisions of a region, as one invocation may take them; -1 where only the
/// data knows.
int64_t steps_in(const KernelCode& code, FloatRanges& ranges, RegionId region) {
    constexpr int64_t kMany = int64_t{1} << 40;
    int64_t steps = 0;
    const auto add = [&](NodeId id) {
        const KernelNode& n = code[id];
        if (is_long_division(n, ranges, code)) steps += steps_of_division(n, code);
        for (RegionId part : bodies(n)) {
            const RangeId range = code[part].range;
            const int64_t inside = steps_in(code, ranges, part),
                          trips = range ? code[range].max_trips : 1;
            if (inside < 0 || (inside > 0 && trips < 0)) return false;
            steps = std::min(kMany, steps + inside * std::min(std::max<int64_t>(trips, 0), kMany));
        }
        return true;
    };
    const KernelRegion& body = code[region];
    for (const std::vector<NodeId>& ids : {body.order, body.effects})
        for (NodeId id : ids)
            if (!add(id)) return -1;
    return steps;
}

/// The device lets an invocation take all the steps that its divisions may need, and compiles them.
bool may_loop(const GlslRun& run, FloatRanges& ranges) {
    const int64_t most = run.profile.max_back_edges;
    if (most == 0) return true;
    const auto is_long = [&](const KernelNode& n) { return is_long_division(n, ranges, run.code); };
    const int64_t most_divisions = rules_of(run.profile).most_long_divisions;
    if (most_divisions > 0 &&
        std::count_if(run.code.nodes.begin(), run.code.nodes.end(), is_long) > most_divisions)
        return false;
    const int64_t steps = steps_in(run.code, ranges, kRoot);
    return steps >= 0 && run.code.back_edges >= 0 && run.code.back_edges + steps <= most;
}

std::string remainder_function(const GlslRun& run, const KernelNode& n) {
    FloatRanges ranges(run.code);
    if (has_small_quotient(n, ranges, run.code)) return "firn_mod_of_few_f32(";
    return std::string(has_near_divisor(n, run.code) ? "firn_mod_near" : "firn_mod") +
           (may_loop(run, ranges) ? "" : "_in_steps") + (n.dtype == f64 ? "_f64(" : "_f32(");
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
