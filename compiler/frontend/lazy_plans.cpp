// The programs of lazy evaluation that a session keeps.
#include "compiler/frontend/lazy_plans.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/frontend/variants.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// Programs of one form that have its numbers folded, before those that change are arguments.
constexpr int kMostFolded = 2;
/// Sizes of one form that have programs of their own, before one serves all.
constexpr size_t kMostExact = 2;
/// Examples of sizes from which such a program is made; one that does not serve new sizes is made
/// anew, because sizes that are equal in a few examples may differ in more.
constexpr size_t kMostExamples = 6;
/// Calls with the same sizes until these have a program of their own nevertheless: a loop over
/// sizes leaves each of them sooner.
constexpr int64_t kSteadyCalls = 4;

std::optional<SizeEnv> served(const KnownForm& form, const std::vector<int64_t>& numbers) {
    if (!form.program) return std::nullopt;
    std::optional<SizeEnv> symbols = form.sized.fit(numbers);
    if (symbols && !binds(*form.program, *symbols)) symbols.reset();
    return symbols;
}

/// The graph with symbols that all examples have; none where the operations do not take sizes that
/// are so little known of.
std::optional<Graph> graph_for_all(NodeTable& table, const Graph& graph,
                                   const SizedNumbers& sized) {
    try {
        return with_sizes(table, graph, sized);
    } catch (const UserError&) {
    } catch (const InternalError&) {
    }
    return std::nullopt;
}

/// Makes the one program of all examples, or leaves it at programs for each of them.
void compile_for_all(SessionState& session, KnownForm& form, const Graph& graph) {
    const std::optional<SizedNumbers> sized = sized_numbers(graph, form.examples);
    std::optional<Graph> made;
    if (sized) made = graph_for_all(session.nodes, graph, *sized);
    form.refused = !made || form.examples.size() >= kMostExamples;
    if (!made) return;
    try {
        form.program = compile_for(session, *made, {.name = "lazy"});
        form.graph = std::move(*made), form.sized = *sized;
    } catch (const UserError&) {  // such as a loop whose bounds must be numbers
        form.refused = true;
    }
}

/// The program that the graph shares with others of its form, if there is one for its sizes.
std::optional<PlannedGraph> plan_of_form(SessionState& session, const Graph& graph) {
    std::optional<SizeForm> form = form_of(graph);
    if (!form) return std::nullopt;
    const auto* found = session.forms.find(form->text);
    const std::shared_ptr<KnownForm> known =
        found ? *found : session.forms.put(std::move(form->text), std::make_shared<KnownForm>());
    known->used = session.calls;
    std::optional<SizeEnv> symbols = served(*known, form->numbers);
    if (!symbols) {
        if (known->refused ||
            std::count(known->examples.begin(), known->examples.end(), form->numbers) > 0)
            return std::nullopt;
        known->examples.push_back(form->numbers);
        if (known->examples.size() <= kMostExact) return std::nullopt;
        compile_for_all(session, *known, graph);
        symbols = served(*known, form->numbers);
        if (!symbols) return std::nullopt;
    }
    int64_t* calls = known->calls.find(form->numbers);
    if (!calls) calls = &known->calls.put(std::move(form->numbers), 0);
    if (++*calls > kSteadyCalls) return std::nullopt;
    return PlannedGraph{known->program, known->graph, std::move(*symbols)};
}

/// Drops plans that have not been used for long.
void forget_plans(SessionState& session) {
    const auto is_over = [&](int64_t used) { return used + kForgotten < session.calls; };
    session.plans.erase_if([&](const auto& entry) { return is_over(entry.second.used); });
    session.forms.erase_if([&](const auto& entry) { return is_over(entry.second->used); });
}

}  // namespace

void refuse_symbols(const Size& size, SourceLine line) {
    if (size.is_constant()) return;
    for (const std::string& symbol : size.symbols())
        if (symbol[0] != '?')
            fail_at(line, "size '" + symbol +
                              "' has no value here; symbols stand for sizes of the arguments of "
                              "compile, so give a "
                              "number, or take the size of a tensor");
}

KeyedCut cut_for_plans(SessionState& session, const std::vector<Ref>& wanted) {
    if (session.oracle) return {cut_as_recorded(session.nodes, wanted), ""};
    std::vector<double> numbers;
    Cut cut = cut_graph(session.nodes, wanted, {}, &numbers);
    std::string key = print(cut.graph);
    if (numbers.empty() || session.plans.find(key)) return {std::move(cut), std::move(key)};
    const UnfoldedNumbers all(numbers.size(), true);
    std::string form = print(cut_graph(session.nodes, wanted, all).graph, {.numbers = false});
    ChangingNumbers* known = session.changing.find(form);
    if (!known)
        known =
            &session.changing.put(std::move(form), {numbers, std::vector<bool>(numbers.size()), 0});
    for (size_t k = 0; k < numbers.size(); ++k)
        if (numbers[k] != known->first[k]) known->changes[k] = true;
    if (known->programs++ < kMostFolded) return {std::move(cut), std::move(key)};
    cut = cut_graph(session.nodes, wanted, known->changes);
    key = print(cut.graph);
    return {std::move(cut), std::move(key)};
}

PlannedGraph plan_of(SessionState& session, const Graph& graph, std::string key, SourceLine line) {
    executor_of(session, line);
    if (LazyPlan* known = session.plans.find(key)) {
        known->used = session.calls;
        return {known->program, graph, {}};
    }
    for (const Ref& node : topological(graph.results))
        for_sizes(*node, [&](const Size& size) {
            refuse_symbols(size, node->lines.empty() ? line : node->lines[0]);
        });
    if (session.oracle) return {nullptr, graph, {}};
    forget_plans(session);
    if (std::optional<PlannedGraph> planned = plan_of_form(session, graph)) return *planned;
    LazyPlan made{compile_for(session, graph, {.name = "lazy"}), session.calls};
    return {session.plans.put(std::move(key), std::move(made)).program, graph, {}};
}

void forget_all_plans(SessionState& session) {
    session.plans.clear();
    session.forms.clear();
}

size_t count_plans(const SessionState& session) {
    size_t count = session.plans.size();
    for (const auto& [text, form] : session.forms) count += form->program != nullptr;
    return count;
}

}  // namespace firn
