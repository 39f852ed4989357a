// The programs of a function, and which of them serves a call.
#include "compiler/frontend/variants.h"

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/report.h"
#include "compiler/frontend/run_graph.h"

namespace firn {
namespace {

/// Trip counts up to this are assumed exactly: loops that short are unrolled. For longer ones the
/// exact count has no use.
constexpr int64_t kShortLoop = 64;

/// Calls with the same trip count until a program is made for it: a slider that is being dragged
/// leaves each value sooner than that.
constexpr int kSteadyCalls = 16;

bool specialises(SessionState& session) {
    if (!session.specialises) session.specialises = environment_number("FIRN_SPECIALISE", 1) != 0;
    return *session.specialises;
}

/// Returns true for a size, or the trip count of a short loop, that was the same lately: a
/// recurring value has a program of its own, values that change from call to call share one.
bool is_exact(FunctionState& state, const CallKind& kind, const std::string& symbol,
              int64_t value) {
    const bool scalar = symbol[0] == '$';
    // An empty tensor says nothing of the next one.
    if (!specialises(*state.session) || value <= 0 || (scalar && value > kShortLoop)) return false;
    if (std::count(kind.data_sizes.begin(), kind.data_sizes.end(), symbol) > 0) return false;
    auto& values = state.recent_values.try_emplace(symbol, kRecentValues).first->second;
    int64_t* calls = values.find(value);
    // The first call compiles in any case: its values count as steady.
    if (!calls) calls = &values.put(value, state.last ? 0 : kSteadyCalls);
    return (*calls)++ >= (scalar ? kSteadyCalls : 1);
}

/// Returns the assumptions of a variant at these sizes: recurring values exactly, all others
/// coarsely, so that few variants serve all calls.
SymbolFacts facts_of(FunctionState& state, const CallKind& kind, const SizeEnv& symbols) {
    const CallGraph& graph = graph_for(state, kind.scalars);
    SymbolFacts facts;
    for (const auto& [symbol, value] : symbols) {
        const bool scalar = symbol[0] == '$';
        if (scalar && (value < 0 || !graph.trip_symbols.contains(symbol))) continue;
        if (is_exact(state, kind, symbol, value)) {
            facts.exact[symbol] = value;
            continue;
        }
        // Everything divides 0, and the next call has elements.
        for (int64_t divisor : {65536, 64, 16, 4})
            if (!scalar && value != 0 && value % divisor == 0 && !facts.divisors.contains(symbol))
                facts.divisors[symbol] = divisor;
        int64_t most = scalar ? 16 : 64;
        while (most < value) most *= scalar ? 16 : 4;
        facts.largest[symbol] = std::min<int64_t>(most, INT32_MAX);
    }
    return facts;
}

/// Returns the assumptions for a call that exceeds the limits of the fastest bindings: the sizes
/// themselves, which tell what each tensor needs.
SymbolFacts exact_facts(const SymbolFacts& coarse, const SizeEnv& symbols) {
    SymbolFacts facts = coarse;
    facts.bindable = false;
    for (auto& [symbol, most] : facts.largest)
        most = std::min<int64_t>(symbols.at(symbol), INT32_MAX);
    return facts;
}

/// Returns whether the values that it assumes are among the recent ones: others do not recur, such
/// as the sizes of a window that was resized.
bool may_come_again(const FunctionState& state, const SymbolFacts& facts) {
    return std::all_of(facts.exact.begin(), facts.exact.end(), [&](const auto& assumed) {
        const auto values = state.recent_values.find(assumed.first);
        return values == state.recent_values.end() ||
               std::any_of(values->second.begin(), values->second.end(),
                           [&](const auto& recent) { return recent.first == assumed.second; });
    });
}

std::string key_of(const CallKind& kind, const SymbolFacts& facts) {
    std::string key = kind.scalars + ":";
    for (const std::string& symbol : kind.data_sizes) key += "?" + symbol + ",";
    return key + text(facts);
}

std::string donation_key(const std::vector<bool>& donated) {
    std::string key;
    for (size_t k = 0; k < donated.size(); ++k)
        if (donated[k]) key += " " + std::to_string(k);
    return key;
}

std::shared_ptr<Variant> variant_for(FunctionState& state, const CallKind& kind,
                                     const SymbolFacts& facts,
                                     const std::vector<bool>& donated = {}) {
    std::string key = key_of(kind, facts);
    const bool useful = !state.in_vain.find(key_of(kind, {}) + donation_key(donated));
    if (useful) key += donation_key(donated);
    if (const auto* known = state.variants.find(key)) return *known;
    const int64_t now = state.session->calls;
    state.variants.erase_if([&](const auto& entry) {  // one without assumptions serves all
        const Variant& other = *entry.second;
        return (other.used + kForgotten < now || !may_come_again(state, other.facts)) &&
               !assumes_nothing(other.facts) && entry.second != state.last;
    });
    auto variant = std::make_shared<Variant>();
    variant->used = now;
    NodeTable& table = state.session->nodes;
    variant->graph = with_data_sizes(table, graph_for(state, kind.scalars).graph, kind.data_sizes);
    variant->facts = facts;
    variant->kind = key_of(kind, {});
    if (useful) {
        variant->donated = donated;
        variant->kind += donation_key(donated);
    }
    return state.variants.put(std::move(key), std::move(variant));
}

CompileOptions options_of(const FunctionState& state, const Variant& variant) {
    return {.name = text(state.line), .facts = variant.facts, .donated = variant.donated};
}

void need_program(FunctionState& state, Variant& variant) {
    if (variant.job && !variant.program) state.session->background->wait_or_give_up(*variant.job);
    adopt(state, variant);
    if (!variant.program)
        variant.program = compile_for(*state.session, variant.graph, options_of(state, variant));
}

/// Returns whether the variant's assumptions about sizes, and its program's about bindings, hold.
bool serves(const Variant& variant, const SizeEnv& symbols) {
    return hold(variant.facts, symbols) && binds(*variant.program, symbols);
}

/// Returns the variant once it has its program; a program that cannot be used is not requested
/// again.
std::shared_ptr<Variant> settled(FunctionState& state, const CallKind& kind, const SizeEnv& symbols,
                                 std::shared_ptr<Variant> variant) {
    if (donation_key(variant->donated).empty() || reuses_arguments(*variant->program))
        return variant;
    const std::string plain = key_of(kind, variant->facts);
    state.in_vain.put(variant->kind, true);
    state.variants.erase(plain + donation_key(variant->donated));
    variant->donated.clear();
    variant->kind = key_of(kind, {});
    const auto* known = state.variants.find(plain);
    if (known && (*known)->program && serves(**known, symbols)) return *known;
    return state.variants.put(plain, std::move(variant));
}

/// A variant of the kind that has its program and serves these sizes: the newest that assumes
/// something, else the one that assumes least; null where there is none.
std::shared_ptr<Variant> ready_variant(FunctionState& state, const std::string& kind,
                                       const SizeEnv& symbols) {
    std::shared_ptr<Variant> found;
    for (const auto& [key, variant] : state.variants) {
        if (variant->kind != kind) continue;
        adopt(state, *variant);
        if (!variant->program || !serves(*variant, symbols)) continue;
        if (!assumes_nothing(variant->facts)) return variant;
        if (!found || variant->facts.bindable) found = variant;
    }
    return found;
}

/// Returns the assumptions if nothing is known of sizes.
SymbolFacts general_facts(const SymbolFacts& facts) {
    SymbolFacts general;
    general.bindable = facts.bindable;
    return general;
}

/// The variant of the kind that assumes nothing of sizes while it is being compiled; null where it
/// is not.
std::shared_ptr<Variant> general_in_work(FunctionState& state, const std::string& kind,
                                         bool bindable) {
    for (const auto& [key, variant] : state.variants)
        if (variant->kind == kind && assumes_nothing(variant->facts) &&
            variant->facts.bindable == bindable && variant->job)
            return variant;
    return nullptr;
}

bool compiles_in_background(const SessionState& session) {
    return session.compiles_in_background.value_or(session.emission == Emission::Binary);
}

void compile_in_background(FunctionState& state, Variant& variant) {
    if (variant.program || variant.job || variant.refused) return;
    SessionState& session = *state.session;
    if (!session.background) session.background.reset(new BackgroundCompiler, DeleteInOwnProcess());
    variant.job = std::make_shared<CompileJob>(
        variant.graph, compile_options(session, options_of(state, variant)), session.executor);
    session.background->start(variant.job);
}

/// A variant with its program: the one with these facts, or, while that is being compiled, one that
/// assumes less.
std::shared_ptr<Variant> compiled_with(FunctionState& state, const CallKind& kind,
                                       const SymbolFacts& facts, const SizeEnv& symbols,
                                       const std::vector<bool>& donated) {
    const std::shared_ptr<Variant> fits = variant_for(state, kind, facts, donated);
    adopt(state, *fits);
    const bool background = compiles_in_background(*state.session);
    state.last_is_general = false;
    if (fits->program || !background || assumes_nothing(facts)) {
        need_program(state, *fits);
        return settled(state, kind, symbols, fits);
    }
    std::shared_ptr<Variant> other = ready_variant(state, fits->kind, symbols);
    if (const auto general = other ? nullptr : general_in_work(state, fits->kind, facts.bindable)) {
        state.session->background->wait_or_give_up(*general->job);
        other = ready_variant(state, fits->kind, symbols);
    }
    if (other) {
        compile_in_background(state, *fits);
        state.last_is_general = true;
        return settled(state, kind, symbols, other);
    }
    need_program(state, *fits);
    const std::shared_ptr<Variant> used = settled(state, kind, symbols, fits);
    compile_in_background(state, *variant_for(state, kind, general_facts(facts), used->donated));
    return used;
}

}  // namespace

const CallGraph& graph_for(FunctionState& state, const std::string& kinds) {
    const auto known = state.call_graphs.find(kinds);
    if (known != state.call_graphs.end()) return known->second;
    return state.call_graphs.emplace(kinds, call_graph(state.session->nodes, state.graph, kinds))
        .first->second;
}

void adopt(FunctionState& state, Variant& variant) {
    if (!variant.job || !variant.job->done || variant.program) return;
    variant.program = variant.job->program;
    variant.refused = variant.job->refused;
    if (!variant.program) return variant.job.reset();
    report_program(*state.session, variant.graph, *variant.program,
                   variant.job->options.trace.get());
    variant.job->options.trace.reset();
}

std::shared_ptr<Variant> variant_without_program(FunctionState& state, const CallKind& kind,
                                                 const SizeEnv& symbols) {
    return variant_for(state, kind, facts_of(state, kind, symbols));
}

std::shared_ptr<Variant> serving_variant(FunctionState& state, const CallKind& kind,
                                         const SizeEnv& symbols, const std::vector<bool>& donated) {
    const SymbolFacts facts = facts_of(state, kind, symbols);
    const std::shared_ptr<Variant> variant = compiled_with(state, kind, facts, symbols, donated);
    if (binds(*variant->program, symbols)) return variant;
    return compiled_with(state, kind, exact_facts(facts, symbols), symbols, donated);
}

bool is_compiled(FunctionState& state, const CallKind& kind, const SizeEnv& symbols,
                 const std::vector<bool>& donated) {
    if (!compiles_in_background(*state.session)) return true;
    Variant& variant = *variant_for(state, kind, facts_of(state, kind, symbols), donated);
    adopt(state, variant);
    if (variant.program || variant.refused) return true;
    compile_in_background(state, variant);
    return false;
}

std::shared_ptr<Variant> fitting_variant(FunctionState& state, const CallKind& kind,
                                         const SizeEnv& symbols) {
    const SymbolFacts facts = facts_of(state, kind, symbols);
    std::shared_ptr<Variant> variant = variant_for(state, kind, facts);
    need_program(state, *variant);
    if (binds(*variant->program, symbols)) return variant;
    variant = variant_for(state, kind, exact_facts(facts, symbols));
    need_program(state, *variant);
    return variant;
}

Variant& last_variant(FunctionState& state) {
    if (!state.last) {
        size_t scalars = 0;
        for (const ArgSpec& spec : state.specs) scalars += spec.shape.empty();
        state.last = variant_for(state, {std::string(scalars, 's'), {}}, {});
    }
    need_program(state, *state.last);
    return *state.last;
}

std::string kernel_after(FunctionState& state, const Variant& variant, const std::string& kernel,
                         const std::string& pass) {
    SessionState& session = *state.session;
    CompileOptions options = compile_options(session, options_of(state, variant));
    options.emission = Emission::Text;
    options.trace = std::make_shared<CompileTrace>();
    compile_graph(session.nodes, variant.graph, executor_of(session).profile(), options);
    std::string known, out;
    const auto is = [&](const std::string& name) {
        known += (known.empty() ? "" : ", ") + name;
        return name.rfind(kernel, 0) == 0 &&
               (name.size() == kernel.size() || name[kernel.size()] == ' ');
    };
    const auto found =
        std::find_if(options.trace->kernels.begin(), options.trace->kernels.end(),
                     [&](const CompileTrace::Kernel& each) { return is(each.name); });
    if (found == options.trace->kernels.end())
        fail_at(state.line,
                "explain_kernel: there is no kernel '" + kernel + "'; there are " + known);
    known.clear();
    for (const CompileTrace::Pass& each : found->passes) {
        known += (known.empty() ? "" : ", ") + each.name;
        if (pass.empty()) out += "after " + each.name + ":\n" + each.text + "\n";
        if (each.name == pass) out = each.text;
    }
    if (out.empty())
        fail_at(state.line, "explain_kernel: no pass '" + pass + "' ran over " + found->name +
                                "; there were " + known);
    return out;
}

}  // namespace firn
