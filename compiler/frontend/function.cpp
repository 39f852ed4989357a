// Traces functions, and answers questions about them.
#include "compiler/frontend/function.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/base/recent.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/explain.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/report.h"
#include "compiler/frontend/variants.h"
#include "compiler/ir/substitute.h"

namespace firn {

// --- tracing -------------------------------------------------------------------------------------

Trace::Trace(const std::vector<ArgSpec>& specs, SourceLine line)
    : state_(std::make_shared<FunctionState>()) {
    state_->session = current_state();
    state_->line = line;
    state_->specs = specs;
    SessionState& session = *state_->session;
    Builder b = builder(session, line);
    push_scope(session, ScopeKind::Function, line);
    scope_ = session.scopes.back().id;
    for (size_t k = 0; k < specs.size(); ++k) {
        bool scalar = specs[k].shape.empty();
        state_->graph.args.push_back(
            input(b, static_cast<int>(k), specs[k].dtype, specs[k].shape, scalar));
        arguments_.push_back(Tensor::from_node(state_->graph.args.back()));
    }
}

Trace::~Trace() {
    if (!scope_) return;
    SessionState& session = *state_->session;
    while (session.scopes.back().id >= scope_) pop_scope(session);
}

namespace {

ArgumentInfo argument_info(const FunctionState& state, size_t k) {
    const Node& node = *state.graph.args[k];
    return {"", node.dtype, largest(node.shape), node.as<InputAttr>().scalar, static_cast<int>(k)};
}

}  // namespace

Function Trace::finish(const FlatValue& results) {
    SessionState& session = *state_->session;
    std::vector<Ref> nodes;
    for (const Tensor& result : results.tensors) nodes.push_back(result.node(state_->line));
    state_->result_lengths = results.lengths;
    builder(session, state_->line);
    ensure(session.scopes.back().id == scope_, "scopes close in the order they were opened");
    EffectNodes effects = finish_effects(session, session.scopes.back().effects);
    Scope scope = pop_scope(session);
    scope_ = 0;
    if (nodes.empty())
        fail_at(state_->line, "compile: the function gives no tensor; return at least one");
    nodes.insert(nodes.end(), effects.results.begin(), effects.results.end());
    const size_t first_source = nodes.size();
    nodes.insert(nodes.end(), effects.sources.begin(), effects.sources.end());
    Cut cut = cut_buffers(session.nodes, nodes, state_->graph.args);
    state_->nested = scope.nested;
    state_->effects = std::move(scope.effects);
    auto& all = cut.graph.results;
    const size_t counts = cut.graph.data_sizes.size();
    state_->sources.assign(all.begin() + static_cast<long>(counts + first_source), all.end());
    all.resize(counts + first_source);
    SizeMap names;
    for (size_t k = 0; k < counts; ++k) names.emplace(cut.symbols[k].name, cut.graph.data_sizes[k]);
    for (Effect& effect : state_->effects) effect.shape = substituted(effect.shape, names);
    state_->graph = std::move(cut.graph);
    state_->graph.guards = std::move(scope.guards);
    state_->captured = std::move(cut.buffers);
    for (size_t k = 0; k < state_->graph.args.size(); ++k)
        state_->signature.arguments.push_back(argument_info(*state_, k));
    state_->signature.name = "call";
    state_->signature.guards = state_->graph.guards;
    return Function(state_);
}

std::string argument_name(const RecordedFunction& function, size_t k) {
    const Node& node = *function.graph.args[k];
    std::string kind = k < function.specs.size() ? "argument " : "captured tensor ";
    return kind + std::to_string(k < function.specs.size() ? k : k - function.specs.size()) + " (" +
           node.dtype.name() + text(node.shape) + ")";
}

// --- asking --------------------------------------------------------------------------------------

SharedPtr<const Program> Function::program() const { return last_variant(state()).program; }

ProgramStats Function::stats() const {
    const Program& program = *last_variant(state()).program;
    SizeEnv env = state().last_symbols;
    for (const ArgumentInfo& argument : program.arguments)
        for (const Size& size : argument.shape)
            for (const std::string& symbol : size.symbols())
                if (!env.contains(symbol))
                    fail_at(state().line, "stats: the size " + symbol +
                                              " has no value yet; call the function first");
    ProgramStats out = firn::stats(program, env);
    out.better_is_compiling = state().last_is_general;
    return out;
}

std::string Function::explain() const {
    const Program& program = *last_variant(state()).program;
    const std::string report = firn::explain(program, state().last_symbols);
    if (!state().last_is_general) return report;
    return "this program assumes less of the sizes than it could; the one that fits them is being "
           "compiled in the background, and takes over when it is ready\n" +
           report;
}

std::string Function::explain_kernel(const std::string& kernel, const std::string& pass) const {
    const Inside inside(state().session->nodes.thread(), state().line);
    return kernel_after(state(), last_variant(state()), kernel, pass);
}

void Function::finish_compiling() const {
    const Inside inside(state().session->nodes.thread(), state().line);
    if (!state().session->background) return;
    state().session->background->finish();
    for (const auto& [key, variant] : state().variants) adopt(state(), *variant);
}

const Graph& Function::graph() const { return state().graph; }
size_t Function::variant_count() const { return state().variants.size(); }

// --- jit -----------------------------------------------------------------------------------------

std::vector<ArgSpec> specs_of(const std::vector<Arg>& args) {
    std::vector<ArgSpec> specs;
    std::vector<Size> data_sizes;
    for (const Arg& arg : args) {
        const Ref node = arg.node();
        specs.push_back({node->dtype, node->shape});
        for (Size& size : specs.back().shape) {
            if (data_symbols(size).empty()) continue;
            const auto at = std::find(data_sizes.begin(), data_sizes.end(), size);
            const std::string name = "count" + std::to_string(at - data_sizes.begin());
            if (at == data_sizes.end()) data_sizes.push_back(size);
            size = Size::symbol(name);
        }
    }
    return specs;
}

struct JitPrograms::State {
    Recent<std::string, std::shared_ptr<Function>> functions{kMostShapes};
};

JitPrograms::JitPrograms() : state_(std::make_shared<State>()) {}

const std::vector<size_t>& Function::result_lengths() const { return state().result_lengths; }

SharedPtr<Function> JitPrograms::get(const std::vector<ArgSpec>& specs,
                                     const std::vector<size_t>& lengths,
                                     const Callback<Function()>& make) {
    std::string key;
    for (size_t length : lengths) key += std::to_string(length) + " ";
    for (const ArgSpec& spec : specs) key += spec.dtype.name() + text(spec.shape) + " ";
    if (const auto* known = state_->functions.find(key)) return *known;
    return state_->functions.put(std::move(key), std::make_shared<Function>(make()));
}

size_t JitPrograms::size() const { return state_->functions.size(); }

bool recording_now() { return is_recording(*current_state()); }

}  // namespace firn
