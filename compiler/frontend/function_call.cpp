// Calls traced functions.
#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/effect_report.h"
#include "compiler/frontend/function_state.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/nan_check.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/variants.h"

namespace firn {

Scalar checked_scalar(const Arg& arg, DType dtype, const std::string& what) {
    const Scalar& given = arg.scalar();
    if (loses_value(given, dtype))
        fail_at(arg.line(),
                what + " is given " + text(given) + ", which " + dtype.name() +
                    " cannot hold; give a number of the declared type, or declare another");
    return given.to(dtype);
}

namespace {

/// The arguments of one call: C++ numbers, or memory.
struct Given {
    Call call;
    std::vector<std::vector<int64_t>> shapes;
    std::string kinds;  // per rank-0 argument: s for a number, t for a tensor on the device
    /// by argument: a tensor that was moved in, and its slot
    std::vector<std::pair<std::shared_ptr<Slot>, Ref>> moved;
    std::vector<std::shared_ptr<const Past>> again;  // by argument: recomputes a moved one
    std::vector<PastArgument> past;                  // by argument; no node yet where it was moved
    std::vector<GivenSize> data_sizes;
};

void give_scalar(Given& given, const Scalar& value) {
    given.call.scalars.push_back(value);
    given.call.arguments.push_back(nullptr);
    given.moved.emplace_back();
    given.again.emplace_back();
    given.past.push_back({nullptr, nullptr, value});
    given.shapes.emplace_back();
    given.kinds += 's';
}

void give_tensor(Given& given, const FunctionState& state, size_t k, const Arg& arg) {
    const ArgSpec& spec = state.specs[k];
    Ref node = arg.node();
    std::string what = "call: " + argument_name(state, k);
    if (node->dtype != spec.dtype)
        fail_at(arg.line(), what + " is given " + node->dtype.name() + text(node->shape) +
                                "; convert it by .as(" + spec.dtype.name() +
                                "), or declare its type");
    if (node->shape.size() != spec.shape.size())
        fail_at(arg.line(), what + " is given a tensor of shape " + text(node->shape) +
                                "; the rank must be " + std::to_string(spec.shape.size()));
    const Ref recorded = node;
    node = realize_nodes(*state.session, {node}, arg.line())[0];
    if (arg.slot()) arg.slot()->node = node;
    keep_histories(*state.session, {{recorded, node}}, arg.line());
    std::vector<int64_t> shape;
    for (const Size& size : node->shape) {
        if (!data_symbols(size).empty()) given.data_sizes.push_back({k, shape.size(), size});
        shape.push_back(largest(size).constant());
    }
    given.call.scalars.push_back(Scalar{}.to(spec.dtype));
    given.call.arguments.push_back(node->as<BufferAttr>().storage);
    given.shapes.push_back(std::move(shape));
    given.moved.emplace_back();
    given.again.emplace_back();
    given.past.emplace_back();
    if (arg.is_donated()) {
        given.again.back() = computed_again(node, recorded);
        given.moved.back() = {arg.slot(), std::move(node)};
    } else {
        given.past.back().node = std::move(node);
    }
    if (spec.shape.empty()) given.kinds += 't';
}

void give(Given& given, const FunctionState& state, size_t k, const Arg& arg) {
    const ArgSpec& spec = state.specs[k];
    bool rank0 = spec.shape.empty();
    if (arg.is_scalar()) {
        if (!rank0)
            fail_at(arg.line(),
                    "call: " + argument_name(state, k) + " is given the number " +
                        text(arg.scalar()) +
                        "; it has a shape, so give a tensor, such as full(shape, value)");
        return give_scalar(given,
                           checked_scalar(arg, spec.dtype, "call: " + argument_name(state, k)));
    }
    const Node& node = *arg.node();
    // A constant is known on the host already.
    if (rank0 && node.op == Op::Constant && node.dtype == spec.dtype) {
        give_scalar(given, node.as<ConstantAttr>().value);
        given.past.back().node = arg.node();
        return;
    }
    give_tensor(given, state, k, arg);
}

void give_captured(Given& given, const FunctionState& state) {
    for (size_t k = state.specs.size(); k < state.graph.args.size(); ++k) {
        given.call.arguments.push_back(state.captured[k].storage);
        given.call.scalars.emplace_back();
        std::vector<int64_t> shape;
        for (const Size& size : state.graph.args[k]->shape)
            shape.push_back(largest(size).constant());
        given.shapes.push_back(std::move(shape));
    }
}

/// Empties the handles that were moved in; puts their values back where the call fails.
class MovedIn {
  public:
    MovedIn(Given& given, SourceLine line) : given_(given), line_(line) {
        for (auto& [slot, node] : given_.moved)
            if (slot) slot->node = nullptr, slot->given_away = line;
    }
    MovedIn(const MovedIn&) = delete;
    MovedIn& operator=(const MovedIn&) = delete;
    ~MovedIn() {
        if (done_) return;
        for (auto& [slot, node] : given_.moved)
            if (slot) slot->node = node, slot->given_away = {};
    }
    void done() { done_ = true; }

    /// Returns, by argument, whether its memory has no other holder, neither as this tensor nor
    /// otherwise (such as a window that shows it).
    std::vector<bool> unshared(SessionState& session) const {
        std::vector<bool> out;
        auto alone = [](const Ref& node) {
            // The call holds the memory too.
            return node.use_count() == 1 && node->as<BufferAttr>().storage.use_count() == 2;
        };
        for (size_t k = 0; k < given_.moved.size(); ++k) {
            const Ref& node = given_.moved[k].second;
            if (node && !alone(node)) give_up_memory(session, node, given_.again[k].get(), line_);
            out.push_back(node && alone(node));
        }
        return out;
    }

  private:
    Given& given_;
    SourceLine line_;
    bool done_ = false;
};

SizeEnv bound_symbols(const FunctionState& state, const Given& given, SourceLine line) {
    SizeEnv env;
    try {
        env = bind_symbols(state.signature, given.shapes, given.call.scalars);
    } catch (const UserError& error) {
        fail_at(line, error.what());
    }
    // The value of a scalar on the device is nothing that the host knows.
    for (size_t k = 0; k < state.specs.size(); ++k)
        if (state.specs[k].shape.empty() && given.call.arguments[k])
            env.erase(scalar_symbol(static_cast<int>(k)));
    return env;
}

void give_host_bounds(Given& given, const CallGraph& graph) {
    for (int64_t value : host_bounds(graph, given.call, given.call.symbols)) {
        const auto argument = static_cast<int>(given.call.scalars.size());
        given.call.symbols[scalar_symbol(argument)] = value;
        given.call.scalars.push_back({.dtype = i32, .i = value});
        given.call.arguments.push_back(nullptr);
    }
}

/// Returns the symbols of the last call with the values of its data sizes, which are read back for
/// a report.
SizeEnv with_values(const FunctionState& state, const Variant& variant, const SizeMap& sizes) {
    SizeEnv known = state.last_symbols;
    for (const Size& size : variant.graph.data_sizes) {
        const std::string name = data_symbols(size).at(0).name;
        known[name] = read_size(*state.session, data_symbols(sizes.at(name)).at(0));
        if (const std::string declared = name.substr(1); known.contains(declared))
            known[declared] = known[name];
    }
    return known;
}

/// Checks the arguments and gathers the inputs of the executor.
CallKind gather(FunctionState& state, const std::vector<Arg>& args, SourceLine line, Given& given) {
    for (size_t k = 0; k < args.size(); ++k) give(given, state, k, args[k]);
    const std::map<std::string, Ref> counts = given_counts(state, given.data_sizes, line);
    give_captured(given, state);
    given.call.symbols = bound_symbols(state, given, line);
    give_host_bounds(given, graph_for(state, given.kinds));
    CallKind kind{given.kinds, {}};
    for (const auto& [symbol, count] : counts) {
        kind.data_sizes.push_back(symbol);
        given.call.arguments.push_back(count->as<BufferAttr>().storage);
        given.call.scalars.emplace_back();
    }
    executor_of(*state.session, line);
    return kind;
}

/// The line of a call, which is one that can be made.
SourceLine checked_call(const FunctionState& state, const std::vector<Arg>& args) {
    SourceLine line = args.empty() ? state.line : args[0].line();
    if (state.session != current_state())
        fail_at(line,
                "call: the function was compiled in another session; compile it where it is called "
                "(in a program with an App: inside app.run(...)), or make its session current");
    if (args.size() != state.specs.size())
        fail_at(line, "call: " + std::to_string(args.size()) +
                          " arguments are given, the function was compiled for " +
                          std::to_string(state.specs.size()) + "; give one per declared argument");
    builder(*state.session, line);
    return line;
}

/// Keeps the moved arguments after all.
void keep_moved(Given& given) {
    for (size_t k = 0; k < given.moved.size(); ++k)
        if (given.moved[k].second) given.past[k].node = given.moved[k].second;
    given.moved.clear();
}

/// Keeps the past of the results, after a call of `variant`.
void keep_past(FunctionState& state, const Variant& variant, Given& given,
               const std::vector<Ref>& results, SourceLine line) {
    std::vector<Ref> lost(given.past.size());
    for (size_t k = 0; k < given.moved.size(); ++k) {
        const Ref& node = given.moved[k].second;
        if (!node) continue;
        const bool written = variant.program && k < variant.donated.size() && variant.donated[k];
        if (written)
            given.past[k].past = given.again[k], lost[k] = node;
        else
            given.past[k].node = node;
    }
    keep_call(*state.session, state, std::move(given.past), lost, results, line);
}

/// Returns whether arguments must not be donated: a call that an assertion refuses must leave them
/// as they were.
bool keeps_arguments(const FunctionState& state) {
    return finds_nan(*state.session) || std::any_of(state.effects.begin(), state.effects.end(),
                                                    [](const Effect& e) { return !e.print; });
}

}  // namespace

GatheredCall gather_call(FunctionState& state, const std::vector<Arg>& args, const char* what) {
    const SourceLine line = checked_call(state, args);
    if (is_recording(*state.session))
        fail_at(line, std::string(what) + ": something is being recorded; do it before or after");
    const Inside inside(state.session->nodes.thread(), line);
    Given given;
    CallKind kind = gather(state, args, line, given);
    return {std::move(given.call), std::move(given.shapes), std::move(kind)};
}

Variant& variant_of_call(FunctionState& state, const std::vector<Arg>& args, Call& call) {
    GatheredCall given = gather_call(state, args, "tune");
    const Inside inside(state.session->nodes.thread(), args.empty() ? state.line : args[0].line());
    state.last = state.session->oracle
                     ? variant_without_program(state, given.kind, given.call.symbols)
                     : fitting_variant(state, given.kind, given.call.symbols);
    state.last_is_general = false;
    state.last_symbols = given.call.symbols;
    call = std::move(given.call);
    return *state.last;
}

FunctionState& Function::state() const {
    if (!state_)
        throw UserError(
            "a compiled function is called before it is assigned; assign the result of compile(..) "
            "to it first");
    return *state_;
}

std::vector<Tensor> Function::call(const std::vector<Arg>& args) const {
    FunctionState& state = this->state();
    const SourceLine line = checked_call(state, args);
    if (is_recording(*state.session)) return inline_call(state, args);
    const Inside inside(state.session->nodes.thread(), line);
    prune_histories(*state.session);
    Given given;
    const CallKind kind = gather(state, args, line, given);
    if (keeps_arguments(state)) keep_moved(given);
    MovedIn moved(given, line);
    state.last = state.session->oracle ? variant_without_program(state, kind, given.call.symbols)
                                       : serving_variant(state, kind, given.call.symbols,
                                                         moved.unshared(*state.session));
    state.last_symbols = given.call.symbols;
    state.last->used = state.session->calls;
    const Variant& variant = *state.last;
    SizeMap sizes;
    const std::optional<Call> kept = kept_for_nan(*state.session, given.call);
    ++state.calls;
    std::vector<Ref> results = run_graph(*state.session, variant.graph, variant.program,
                                         std::move(given.call), line, {}, &sizes);
    if (kept)
        refuse_nan(*state.session, variant.graph, *kept, results,
                   "find_nan: call " + std::to_string(state.calls) + " of the function at " +
                       text(state.line),
                   line);
    moved.done();
    state.last->job.reset();
    if (!state.effects.empty()) {
        const SizeEnv known = with_values(state, variant, sizes);
        size_t own = results.size();
        for (const Effect& effect : state.effects) own -= effect.results;
        report_effects(*state.session, state.effects, std::span(results).subspan(own), known);
        results.resize(own);
    }
    keep_past(state, variant, given, results, line);
    std::vector<Tensor> out;
    for (Ref& node : results) out.push_back(Tensor::from_node(std::move(node)));
    return out;
}

bool Function::is_ready(const std::vector<Arg>& args) const {
    FunctionState& state = this->state();
    const SourceLine line = checked_call(state, args);
    if (state.session->oracle || is_recording(*state.session)) return true;
    const Inside inside(state.session->nodes.thread(), line);
    Given given;
    const CallKind kind = gather(state, args, line, given);
    if (keeps_arguments(state)) keep_moved(given);
    const MovedIn moved(given, line);  // until the end of this question
    return is_compiled(state, kind, given.call.symbols, moved.unshared(*state.session));
}

}  // namespace firn
