// Loops of a kernel and the values that they carry.
#include "compiler/target/glsl/loops.h"

#include <algorithm>

#include "compiler/target/class_rules.h"
#include "compiler/target/glsl/statements.h"
#include "compiler/target/glsl/values.h"

namespace firn {
namespace {

/// The next value of carried value k.
struct CarriedStep {
    size_t k;
    NodeId value;
};

/// Returns the steps of the carried values that are used.
std::vector<CarriedStep> carried_steps(const GlslRun& run, NodeId id, const KernelRegion& body) {
    std::vector<bool> asked(body.args.size());
    for (size_t k = 0; k < asked.size(); ++k) asked[k] = run.uses.count[body.args[k]] > 0;
    for (NodeId other : run.code.nodes.ids()) {
        const KernelNode& n = run.code[other];
        if (n.op == KernelOp::Result && n.args[0] == id && run.uses.count[other] > 0)
            asked[static_cast<size_t>(n.as<PositionAttr>().position)] = true;
    }
    std::vector<CarriedStep> steps;
    for (size_t k = 0; k < asked.size(); ++k)
        if (asked[k] && body.yields[k] != body.args[k]) steps.push_back({k, body.yields[k]});
    return steps;
}

/// An iteration that is the last leaves the value as it was.
bool is_kept(const KernelCode& code, const CarriedStep& step, const KernelRegion& body) {
    const KernelNode& n = code[step.value];
    return n.op == KernelOp::Select && n.args[0] == body.alive && n.args[2] == body.args[step.k];
}

/// Every carried value takes its next value at once.
void assign(GlslRun& run, NodeId id, const KernelRegion& body,
            const std::vector<CarriedStep>& steps, int indent) {
    auto next = [&](size_t k) {
        return "n" + std::to_string(id.number()) + "_" + std::to_string(k);
    };
    const bool one = steps.size() == 1;
    for (const CarriedStep& step : steps)
        line(run, indent) << (one ? run.text[body.args[step.k]]
                                  : value_type(run.code[step.value]) + " " + next(step.k))
                          << " = " << run.text[step.value] << ";\n";
    for (const CarriedStep& step : steps)
        if (!one)
            line(run, indent) << run.text[body.args[step.k]] << " = " << next(step.k) << ";\n";
}

/// Writes the carried values for the next iteration, and the condition for one.
void end_iteration(GlslRun& run, NodeId id, const KernelRegion& body, int indent) {
    std::vector<CarriedStep> steps = carried_steps(run, id, body);
    if (!body.alive) return assign(run, id, body, steps, indent);
    auto kept = [&](const CarriedStep& step) { return is_kept(run.code, step, body); };
    if (std::all_of(steps.begin(), steps.end(), kept)) {
        // The last iteration leaves all values unchanged, so the others need no select.
        line(run, indent) << "if (!" << run.text[body.alive] << ") break;\n";
        for (CarriedStep& step : steps) step.value = run.code[step.value].args[1];
        return assign(run, id, body, steps, indent);
    }
    const std::string alive = "alive" + std::to_string(id.number());
    line(run, indent) << "bool " << alive << " = " << run.text[body.alive] << ";\n";
    assign(run, id, body, steps, indent);
    line(run, indent) << "if (!" << alive << ") break;\n";
}

/// Returns the trip count in a form that drivers recognise as invariant: an expression is computed
/// once.
std::string trips_text(GlslRun& run, NodeId id, NodeId trips, int indent) {
    const std::string& text = run.text[trips];
    if (text.front() != '(' && text.back() != ')') return text;
    const std::string name = "trips" + std::to_string(id.number());
    line(run, indent) << "int " << name << " = " << text << ";\n";
    return name;
}

/// The loop itself, after the variables that it carries.
void write_iterations(GlslRun& run, NodeId id, const std::string& end, int indent) {
    const RegionId region = run.code[id].as<BodyAttr>().region;
    const KernelRegion& body = run.code[region];
    const NodeId trips = run.code[body.range].extent_node;
    // The mapping has chosen how far to unroll; CPU drivers would unroll further, and spill.
    if (rules_of(run.profile).unrolls_on && run.code[trips].op == KernelOp::Constant) {
        run.loop_attributes = true;
        const bool written_out = run.code[body.range].written_out;
        line(run, indent) << (written_out ? "[[unroll]]\n" : "[[dont_unroll]]\n");
    }
    const std::string r = "r" + std::to_string(body.range.number());
    line(run, indent) << "for (int " << r << " = 0; " << r << " < " << end << "; ++" << r
                      << ") {\n";
    write_region(run, region, indent + 1);
    end_iteration(run, id, body, indent + 1);
    line(run, indent) << "}\n";
}

}  // namespace

void write_for(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    const KernelRegion& body = run.code[n.as<BodyAttr>().region];
    const NodeId trips = run.code[body.range].extent_node;
    run.loads.erase(trips);
    for (size_t k = 0; k < n.args.size(); ++k)
        line(run, indent) << value_type(run.code[n.args[k]]) << " " << run.text[body.args[k]]
                          << " = " << run.text[n.args[k]] << ";\n";
    const std::string end = trips_text(run, id, trips, indent);
    if (!run.apart.contains(id)) return write_iterations(run, id, end, indent);
    run.loop_attributes = true;
    const std::string once = "once" + std::to_string(id.number());
    line(run, indent) << "[[dont_unroll]]\n";
    line(run, indent) << "for (int " << once << " = 0; " << once << " < 1; ++" << once << ") {\n";
    write_iterations(run, id, end, indent + 1);
    line(run, indent) << "}\n";
}

}  // namespace firn
