// Makes the program of a call as one that needs no compiler.
#include <algorithm>
#include <string>
#include <utility>

#include "compiler/driver/compile.h"
#include "compiler/frontend/report.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/variants.h"
#include "compiler/program/saved_program.h"

namespace firn {
namespace {

/// Bytes: offsets that are multiples of it can be bound on every device (Vulkan's table of required
/// limits).
constexpr uint32_t kAlignmentOfAll = 256;

/// Refuses prints and assertions: the host evaluates them with data that only the function has.
void refuse_effects(const FunctionState& state, const std::string& what) {
    if (state.effects.empty()) return;
    const Effect& effect = state.effects[0];
    fail_at(
        effect.line,
        what + ": the function " + (effect.print ? "prints a value" : "checks a condition") +
            ", which a saved program cannot do; save a function without it, or return the value");
}

/// Returns the device that a file is for: the session's, or a Vulkan driver for the CPU where the
/// session runs native code, which is of one processor alone.
DeviceProfile profile_of_file(SessionState& session) {
    const DeviceProfile& profile = executor_of(session).profile();
    return profile.device_class == DeviceClass::Native ? cpu_profile() : profile;
}

/// Returns the program that assumes nothing about its sizes but the size of its bindings, if that
/// fits the call.
std::shared_ptr<const Program> general_program(FunctionState& state, const Graph& graph,
                                               const SizeEnv& symbols, const DeviceProfile& profile,
                                               Emission emission) {
    SessionState& session = *state.session;
    const auto compiled = [&](bool bindable) {
        CompileOptions options = compile_options(session, {.name = text(state.line)});
        options.facts.bindable = bindable;
        options.emission = emission;
        options.trace.reset();
        return compile_graph(session.nodes, graph, profile, options);
    };
    auto program = compiled(true);
    return binds(*program, symbols) ? program : compiled(false);
}

/// Captured tensors, which are the last arguments, as constants.
void keep_captured(Program& program, const FunctionState& state) {
    const size_t declared = state.specs.size(), before = program.arguments.size();
    for (size_t k = declared; k < before; ++k) {
        if (program.arguments[k].buffer < 0) continue;
        BufferInfo& buffer = program.buffers[static_cast<size_t>(program.arguments[k].buffer)];
        buffer.role = BufferRole::Constant;
        buffer.data.resize(static_cast<size_t>(buffer.elements.constant()) *
                           static_cast<size_t>(buffer.dtype.bytes()));
        if (!buffer.data.empty())
            executor_of(*state.session).read(*state.captured[k].storage, 0, buffer.data);
    }
    program.arguments.resize(declared);
    // Numbers that the host computes are counted from behind the arguments.
    const auto gone = static_cast<int>(before - declared);
    for_dispatches(program.steps, [&](DispatchStep& step) {
        for (ParamInfo& param : step.params)
            if (param.scalar >= static_cast<int>(before)) param.scalar -= gone;
    });
}

}  // namespace

SavedProgram Function::saved_for(const std::vector<Arg>& args, const DeviceProfile& profile,
                                 bool builds_kernels, const char* what) const {
    FunctionState& state = this->state();
    const GatheredCall given = gather_call(state, args, what);
    const SourceLine line = args.empty() ? state.line : args[0].line();
    const Inside inside(state.session->nodes.thread(), line);
    refuse_effects(state, what);
    if (!given.kind.data_sizes.empty())
        fail_at(line, std::string(what) + ": only the device knows the size '" +
                          given.kind.data_sizes[0] +
                          "' of an argument; give a tensor of a known size, such as zeros({100})");
    // Bounds that the host would compute from the function's recording are computed by the kernels.
    const Graph graph = with_kinds(state.session->nodes, state.graph, given.kind.scalars);
    Program program = *general_program(state, graph, given.call.symbols, profile,
                                       builds_kernels ? Emission::Binary : Emission::Text);
    keep_captured(program, state);
    program.profile.buffer_alignment = std::max(program.profile.buffer_alignment, kAlignmentOfAll);
    SavedProgram out;
    out.name = program.name;
    out.scalars = given.call.scalars;
    out.scalars.resize(state.specs.size());
    out.shapes = given.shapes;
    out.shapes.resize(state.specs.size());
    out.program = std::make_shared<const Program>(std::move(program));
    return out;
}

SavedProgram Function::saved(const std::vector<Arg>& args) const {
    return saved_for(args, profile_of_file(*state().session), true, "save_program");
}

SavedProgram Function::saved_as_texts(const std::vector<Arg>& args,
                                      const DeviceProfile& profile) const {
    return saved_for(args, profile, false, "save_native");
}

}  // namespace firn
