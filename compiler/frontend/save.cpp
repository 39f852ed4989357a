// Makes the program of a call as one that needs no compiler.
#include <algorithm>
#include <string>
#include <utility>

#include "compiler/driver/compile.h"
#include "compiler/frontend/report.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/variants.h"
#include "compiler/host/processor.h"
#include "compiler/program/saved_program.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

/// Refuses prints and assertions: the host evaluates them with data that only the function has.
void refuse_effects(const FunctionState& state, const std::string& what) {
    if (state.effects.empty()) return;
    const Effect& effect = state.effects[0];
    fail_at(
        effect.line,
        what + ": the function " + (effect.print ? "prints a value" : "checks a condition") +
            ", which a saved program cannot do; save a function without it, or return the value");
}

/// Returns the profiles of the devices that a file is for, each once.
std::vector<DeviceProfile> profiles_of_file(SessionState& session,
                                            std::vector<std::string> devices) {
    const DeviceProfile& own = executor_of(session).profile();
    if (devices.empty()) devices = default_devices(own);
    std::vector<DeviceProfile> profiles;
    for (const std::string& device : devices) {
        const DeviceProfile profile = device_named(device, own);
        const auto same = [&](const DeviceProfile& other) { return other.name == profile.name; };
        if (std::none_of(profiles.begin(), profiles.end(), same)) profiles.push_back(profile);
    }
    // The first form that runs on a processor is the one of its highest level.
    std::stable_sort(profiles.begin(), profiles.end(), [](const auto& a, const auto& b) {
        return a.processor != b.processor && !a.processor.empty() && !b.processor.empty() &&
               runs_code_of(b.processor, a.processor);
    });
    return profiles;
}

/// The most that a size is in programs for multiples: products of two are indices of 32 bits.
constexpr int64_t kMostOfMultiples = 16384;

/// Returns what the programs for multiples assume, the largest multiple first.
std::vector<SymbolFacts> facts_of_multiples(const FunctionState& state, const SizeEnv& symbols,
                                            std::vector<int64_t> multiples) {
    std::sort(multiples.rbegin(), multiples.rend());
    std::vector<SymbolFacts> facts;
    for (const int64_t multiple : multiples) {
        if (multiple < 2 || multiple > kMostOfMultiples)
            fail_at(state.line, "save_program: the options have programs for multiples of " +
                                    std::to_string(multiple) + "; give numbers from 2 to " +
                                    std::to_string(kMostOfMultiples));
        SymbolFacts assumed;
        for (const auto& [symbol, value] : symbols) {
            if (symbol[0] == '$') continue;
            assumed.divisors[symbol] = multiple;
            assumed.largest[symbol] = kMostOfMultiples;
        }
        if (!assumes_nothing(assumed)) facts.push_back(std::move(assumed));
    }
    return facts;
}

/// Returns what the programs for certain sizes assume: each one is for sizes that have elements.
std::vector<SymbolFacts> facts_of_file(const FunctionState& state, const SizeEnv& symbols,
                                       const SaveOptions& options) {
    std::vector<SizeEnv> wanted;
    for (const auto& sizes : options.sizes) wanted.emplace_back(sizes.begin(), sizes.end());
    if (wanted.empty())
        for (SizeEnv& sizes = wanted.emplace_back(); const auto& [symbol, value] : symbols)
            if (symbol[0] != '$' && value > 0) sizes[symbol] = value;
    std::vector<SymbolFacts> facts;
    for (const SizeEnv& sizes : wanted) {
        for (const auto& [symbol, value] : sizes) {
            const std::string subject = "save_program: the size '" + symbol + "' of the options ";
            if (symbol[0] == '$' || !symbols.contains(symbol)) {
                std::string names;
                for (const auto& [name, of_call] : symbols)
                    if (name[0] != '$') names += (names.empty() ? "" : ", ") + name;
                fail_at(state.line, subject + "is none that the function declares; it declares " +
                                        (names.empty() ? "none" : names));
            }
            if (value < 1 || value > INT32_MAX)
                fail_at(state.line, subject + "is " + std::to_string(value) +
                                        "; give one from 1 to 2147483647");
        }
        if (!sizes.empty()) facts.emplace_back().exact = sizes;
    }
    return facts;
}

/// Returns the program that assumes these sizes, and of its bindings' sizes what is fastest if that
/// fits them.
std::shared_ptr<const Program> program_assuming(FunctionState& state, const Graph& graph,
                                                const SymbolFacts& facts, const SizeEnv& symbols,
                                                const DeviceProfile& profile, Emission emission) {
    SessionState& session = *state.session;
    const auto compiled = [&](bool bindable) {
        CompileOptions options = compile_options(session, {.name = text(state.line)});
        options.facts = facts;
        options.facts.bindable = bindable;
        options.emission = emission;
        options.emit = {};  // a file is for executors of any version
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

/// The form without what only people read: the file's first program has that.
std::shared_ptr<const Program> for_machines(const Program& program) {
    Program out = program;
    out.verdicts.clear();
    out.rounds.clear();
    for (KernelInfo& kernel : out.kernels) kernel.artefact.text.clear();
    return std::make_shared<const Program>(std::move(out));
}

/// A call whose program is saved: its graph, and all that a file has of it but programs.
struct CallToSave {
    SizeEnv symbols;
    Graph graph;
    SavedProgram saved;
};

CallToSave call_to_save(FunctionState& state, const GatheredCall& given, SourceLine line,
                        const char* what) {
    refuse_effects(state, what);
    if (!given.kind.data_sizes.empty())
        fail_at(line, std::string(what) + ": only the device knows the size '" +
                          given.kind.data_sizes[0] +
                          "' of an argument; give a tensor of a known size, such as zeros({100})");
    // Bounds that the host would compute from the function's recording are computed by the kernels.
    CallToSave out{
        given.call.symbols, with_kinds(state.session->nodes, state.graph, given.kind.scalars), {}};
    out.saved.scalars = given.call.scalars;
    out.saved.scalars.resize(state.specs.size());
    out.saved.shapes = given.shapes;
    out.saved.shapes.resize(state.specs.size());
    return out;
}

/// Returns the program of such a call for one device, with all that a file needs.
std::shared_ptr<const Program> program_of(FunctionState& state, const CallToSave& call,
                                          const SymbolFacts& facts, const DeviceProfile& profile,
                                          Emission emission) {
    SizeEnv symbols = call.symbols;
    for (const auto& [symbol, value] : facts.exact) symbols[symbol] = value;
    Program program = *program_assuming(state, call.graph, facts, symbols, profile, emission);
    keep_captured(program, state);
    program.profile.buffer_alignment = std::max(program.profile.buffer_alignment, most_alignment());
    return std::make_shared<const Program>(std::move(program));
}

}  // namespace

SavedProgram Function::saved(const std::vector<Arg>& args, const SaveOptions& options) const {
    FunctionState& state = this->state();
    const GatheredCall given = gather_call(state, args, "save_program");
    const SourceLine line = args.empty() ? state.line : args[0].line();
    const Inside inside(state.session->nodes.thread(), line);
    CallToSave call = call_to_save(state, given, line, "save_program");
    const std::vector<SymbolFacts> sized = facts_of_file(state, call.symbols, options);
    const std::vector<SymbolFacts> coarse =
        facts_of_multiples(state, call.symbols, options.multiples);
    for (const DeviceProfile& profile : profiles_of_file(*state.session, options.devices)) {
        const auto made_for = [&](const SymbolFacts& facts) {
            return program_of(state, call, facts, profile, Emission::Binary);
        };
        for (const SymbolFacts& facts : sized)
            call.saved.variants.push_back({facts, for_machines(*made_for(facts))});
        if (target_of(profile).gains_by_multiples)
            for (const SymbolFacts& facts : coarse)
                call.saved.variants.push_back({facts, for_machines(*made_for(facts))});
        if (call.saved.program)
            call.saved.variants.push_back({{}, for_machines(*made_for({}))});
        else
            call.saved.program = made_for({});
    }
    call.saved.name = call.saved.program->name;
    return call.saved;
}

SavedProgram Function::saved_as_texts(const std::vector<Arg>& args,
                                      const DeviceProfile& profile) const {
    FunctionState& state = this->state();
    const GatheredCall given = gather_call(state, args, "save_native");
    const SourceLine line = args.empty() ? state.line : args[0].line();
    const Inside inside(state.session->nodes.thread(), line);
    CallToSave call = call_to_save(state, given, line, "save_native");
    call.saved.program = program_of(state, call, {}, profile, Emission::Text);
    call.saved.name = call.saved.program->name;
    return call.saved;
}

}  // namespace firn
