// Lazy evaluation: the graph is cut at buffers and constants, so that the next frame finds its plan
// again.
#include "compiler/frontend/realize.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <unordered_set>

#include "compiler/driver/compile.h"
#include "compiler/driver/program_source.h"
#include "compiler/frontend/cut.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/nan_check.h"
#include "compiler/frontend/oracle.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/report.h"
#include "compiler/frontend/run_graph.h"
#include "compiler/ir/text.h"
#include "compiler/ir/too_large.h"
#include "compiler/program/disk_cache.h"
#include "compiler/program/error.h"
#include "compiler/program/index_limits.h"
#include "compiler/program/long_work.h"
#include "compiler/program/make_call.h"
#include "compiler/program/parallel.h"

namespace firn {
namespace {

Ref buffer_node(SessionState& session, std::shared_ptr<Memory> memory, DType dtype,
                const Shape& shape, SourceLine line, uint64_t value = 0) {
    return session.nodes.intern(Op::Buffer, dtype, shape, {}, BufferAttr{std::move(memory), value},
                                line);
}

uint64_t storage_bytes(DType dtype, const Shape& shape) {
    return static_cast<uint64_t>(std::max<int64_t>(0, element_count(largest(shape)).constant())) *
           static_cast<uint64_t>(dtype.bytes());
}

void check_not_recording(const SessionState& session, SourceLine line) {
    if (!is_recording(session)) return;
    const Scope& scope = session.scopes.back();
    fail_at(line,
            "a tensor's data is asked for inside the " +
                std::string(scope.kind == ScopeKind::Function ? "function" : "loop or branch") +
                " that is being recorded at " + text(scope.line) +
                ", where it has no value yet; return it, or ask after the end");
}

/// A value that costs nothing to have twice.
bool is_trivial(const Node& node) {
    const Node* base = &node;
    while (is_movement(base->op)) base = base->inputs[0].get();
    return base->inputs.empty();
}

/// Tensors that somebody assigns again and again, and whose computation shares something with that
/// of `results`: they are computed with it, else their graphs would grow from frame to frame.
std::vector<std::shared_ptr<Slot>> pending_state(const SessionState& session,
                                                 const std::vector<Ref>& results) {
    std::vector<std::shared_ptr<Slot>> out, assigned;
    std::vector<Ref> candidates;
    for (const auto& [id, weak] : session.assigned)
        if (auto slot = weak.lock(); slot && slot->node && !is_trivial(*slot->node)) {
            candidates.push_back(slot->node);
            assigned.push_back(std::move(slot));
        }
    if (candidates.empty()) return out;
    // Whether a node shares something: in one walk over all of them, operands first.
    std::unordered_set<const Node*> sharing;
    for (const Ref& node : topological(results))
        if (!is_trivial(*node)) sharing.insert(node.get());
    auto shares = [&](const Ref& node) { return sharing.contains(node.get()); };
    auto any_shares = [&](const std::vector<Ref>& nodes) {
        return std::any_of(nodes.begin(), nodes.end(), shares);
    };
    for (const Ref& node : topological(candidates)) {
        bool found = any_shares(node->inputs);
        if (node->op == Op::Loop) found |= any_shares(node->as<LoopAttr>().body->results);
        if (node->op == Op::If)
            for (const auto& body : {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                found |= any_shares(body->results);
        if (found) sharing.insert(node.get());
    }
    for (auto& slot : assigned)
        if (shares(slot->node)) out.push_back(std::move(slot));
    return out;
}

/// Outside of a compiled function nobody gives a symbol its value.
void refuse_symbols(const Size& size, SourceLine line) {
    if (size.is_constant()) return;
    for (const std::string& symbol : size.symbols())
        if (symbol[0] != '?')
            fail_at(line, "size '" + symbol +
                              "' has no value here; symbols stand for sizes of the arguments of "
                              "compile, so give a "
                              "number, or take the size of a tensor");
}

std::shared_ptr<const Program> plan_of(SessionState& session, const Graph& graph, SourceLine line) {
    executor_of(session, line);
    std::string key = session.oracle ? "" : print(graph);
    if (LazyPlan* known = session.plans.find(key)) {
        known->used = session.calls;
        return known->program;
    }
    for (const Ref& node : topological(graph.results))
        for_sizes(*node, [&](const Size& size) {
            refuse_symbols(size, node->lines.empty() ? line : node->lines[0]);
        });
    if (session.oracle) return nullptr;
    session.plans.erase_if(
        [&](const auto& entry) { return entry.second.used + kForgotten < session.calls; });
    LazyPlan made{compile_for(session, graph, {.name = "lazy"}), session.calls};
    return session.plans.put(std::move(key), std::move(made)).program;
}

/// Programs of one form that have its numbers folded, before those that change are arguments.
constexpr int kMostFolded = 2;

/// A number that is worth folding is, until it turns out to be another one each time: a frame loop
/// that counts compiles a few plans, and not one for each number.
Cut cut_for_plans(SessionState& session, const std::vector<Ref>& wanted,
                  const std::unordered_map<const Node*, Ref>& computed) {
    std::vector<double> numbers;
    Cut cut = cut_graph(session.nodes, wanted, computed, {}, &numbers);
    if (numbers.empty() || session.oracle || session.plans.find(print(cut.graph))) return cut;
    const UnfoldedNumbers all(numbers.size(), true);
    std::string form = print(cut_graph(session.nodes, wanted, computed, all).graph);
    ChangingNumbers* known = session.changing.find(form);
    if (!known)
        known =
            &session.changing.put(std::move(form), {numbers, std::vector<bool>(numbers.size()), 0});
    for (size_t k = 0; k < numbers.size(); ++k)
        if (numbers[k] != known->first[k]) known->changes[k] = true;
    if (known->programs++ < kMostFolded) return cut;
    return cut_graph(session.nodes, wanted, computed, known->changes);
}

/// Says in `sizes` what a data size of a graph that runs is called outside: the size that it was
/// while recording
/// (`symbol`), or one of its own.
void name_size(SessionState& session, const Size& size, const Ref& count, const SizeAtom* symbol,
               SizeMap& sizes, SourceLine line) {
    const SizeAtom own = data_symbols(size).at(0);
    if (symbol) set_count(session, *symbol, count);
    sizes[own.name] = symbol ? Size::data(symbol->name, symbol->args[0], symbol->source)
                             : data_size(session, count, own.args[0].substitute(sizes), line);
}

/// More elements than kernels count are refused before any memory is asked for.
void check_room(const Node& result, const Shape& shape) {
    std::vector<int64_t> sizes;
    for (const Size& size : largest(shape)) sizes.push_back(size.constant());
    if (count_elements(sizes) > static_cast<double>(kMostElements))
        throw UserError(too_large(result, sizes, counted_limit()));
}

/// Out of memory, and what else a device says, with the line that asked.
template <class F>
void with_place(SourceLine line, const F& asked) {
    try {
        asked();
    } catch (const DeviceError& error) {
        if (!line.line) throw;
        throw DeviceError(error.what() + (" (" + text(line) + ")"));
    }
}

/// Compiles for a device: on a thread of its own, where somebody watches how far it is, who may end
/// it by what he throws.
std::shared_ptr<const Program> compile_watched(const Graph& graph, const Executor& executor,
                                               CompileOptions options) {
    const std::shared_ptr<ProgramSource> source = source_of(graph, options);
    options.source = source;
    const CompileWatch watch = with_line(executor.compile_watch());
    if (!watch) return compile_graph(source->table, source->graph, executor.profile(), options);
    std::atomic<size_t> done{0}, kernels{0};
    std::atomic<bool> stop{false};
    options.stop = &stop;
    options.watch = [&](const CompileProgress& now) { done = now.done, kernels = now.kernels; };
    std::shared_ptr<const Program> program;
    for_each_in_parallel(
        1,
        [&](size_t) {
            program = compile_graph(source->table, source->graph, executor.profile(), options);
        },
        [&](size_t) {
            try {
                watch({options.name, done, kernels});
            } catch (...) {
                stop = true;
                throw;
            }
        });
    return program;
}

/// Memory of the executor; where there is none left, also what histories hold.
std::shared_ptr<Memory> allocate(SessionState& session, uint64_t bytes, const std::string& name) {
    Executor& executor = executor_of(session);
    try {
        return executor.allocate(bytes, name);
    } catch (const DeviceError&) {
        if (!forget_histories(session, "its memory was needed")) throw;
        forget_dead(session);
    }
    return executor.allocate(bytes, name);
}

}  // namespace

Ref known_buffer(const SessionState& session, const Ref& node) {
    if (node->op == Op::Buffer) return node;
    auto at = session.realized.find(node.get());
    return at != session.realized.end() && at->second.node.lock() == node ? at->second.buffer
                                                                          : nullptr;
}

void forget_dead(SessionState& session) {
    std::erase_if(session.realized, [](const auto& entry) { return entry.second.node.expired(); });
}

std::shared_ptr<const Program> compile_for(SessionState& session, const Graph& graph,
                                           CompileOptions options) {
    const Inside inside(session.nodes.thread(), {});
    Executor& executor = executor_of(session);
    options = compile_options(session, std::move(options));
    std::shared_ptr<const Program> program;
    try {
        program = session.needs_spirv
                      ? compile_watched(graph, executor, options)
                      : compile_graph(session.nodes, graph, executor.profile(), options);
    } catch (...) {
        report_trace(session, options.trace.get());  // how far it came
        throw;
    }
    report_program(session, graph, *program, options.trace.get());
    return program;
}

CompileOptions compile_options(SessionState& session, CompileOptions options) {
    options.spirv = session.needs_spirv;
    options.verify |= !session.needs_spirv;  // the interpreter is there to find faults
    options.cache_directory = default_cache_directory();
    options.tuned = &session.tuned;
    options.trace = trace_for(session);
    return options;
}

std::vector<Ref> run_graph(SessionState& session, const Graph& graph,
                           const std::shared_ptr<const Program>& program, Call call,
                           SourceLine line, const std::vector<SizeAtom>& symbols,
                           SizeMap* all_sizes) {
    const Inside inside(session.nodes.thread(), line);
    ++session.calls;
    Executor& executor = executor_of(session, line);
    SizeMap own_sizes;
    SizeMap& sizes = all_sizes ? *all_sizes : own_sizes;
    for (const auto& [name, value] : call.symbols) sizes.emplace(name, Size(value));
    std::vector<Ref> out;
    const size_t counts = graph.data_sizes.size();
    for (size_t k = 0; k < graph.results.size(); ++k) {
        const Node& result = *graph.results[k];
        Shape shape = substituted(result.shape, sizes);
        std::shared_ptr<Memory> memory = program ? shared_memory(*program, call, k) : nullptr;
        // Of an equal value, which may have other derivatives.
        const bool shared = memory && result.dtype.is_float();
        if (!memory && k < counts && result.op == Op::Input)
            memory = call.arguments[static_cast<size_t>(result.as<InputAttr>().index)];
        if (!memory) check_room(result, shape);
        if (!memory)
            with_place(result.lines.empty() ? line : result.lines[0], [&] {
                memory = allocate(session, padded_bytes(storage_bytes(result.dtype, shape)),
                                  "result " + std::to_string(k));
            });
        call.results.push_back(memory);
        Ref made = buffer_node(session, std::move(memory), result.dtype, shape, line,
                               shared ? ++session.last_id : 0);
        if (k < counts)
            name_size(session, graph.data_sizes[k], made, symbols.empty() ? nullptr : &symbols[k],
                      sizes, line);
        else
            out.push_back(std::move(made));
    }
    if (program)
        with_place(line, [&] { executor.run(program, call); });
    else
        run_oracle(executor, graph, call);
    report_run(session, program.get(), call.symbols);
    return out;
}

std::vector<Ref> realize_nodes(SessionState& session, const std::vector<Ref>& nodes,
                               SourceLine line) {
    const Inside inside(session.nodes.thread(), line);
    std::vector<Ref> wanted;
    for (const Ref& node : nodes)
        if (!known_buffer(session, node) &&
            std::find(wanted.begin(), wanted.end(), node) == wanted.end())
            wanted.push_back(node);
    if (!wanted.empty()) {
        prune_histories(session);
        forget_dead(session);
        const auto state = pending_state(session, wanted);
        for (const auto& slot : state)
            if (!known_buffer(session, slot->node) &&
                std::find(wanted.begin(), wanted.end(), slot->node.ref()) == wanted.end())
                wanted.push_back(slot->node);
        std::unordered_map<const Node*, Ref> computed;
        // Numbers stay numbers: a loop's bound must not become a load because somebody looked at
        // a 3.
        for (const auto& [node, entry] : session.realized)
            if (!is_trivial(*node)) computed.emplace(node, entry.buffer);
        Cut cut = cut_for_plans(session, wanted, computed);
        const std::optional<Call> kept = kept_for_nan(session, cut.call);
        std::vector<Ref> buffers = run_graph(session, cut.graph, plan_of(session, cut.graph, line),
                                             std::move(cut.call), line, cut.symbols);
        if (kept) refuse_nan(session, cut.graph, *kept, buffers, "find_nan: computed here", line);
        for (size_t k = 0; k < wanted.size(); ++k)
            session.realized[wanted[k].get()] = {wanted[k], buffers[k]};
        std::vector<Computed> taken;
        for (const auto& slot : state) {
            taken.push_back({slot->node, known_buffer(session, slot->node)});
            slot->node = taken.back().buffer;
        }
        keep_histories(session, taken, line);
    }
    std::vector<Ref> out;
    for (const Ref& node : nodes) out.push_back(known_buffer(session, node));
    return out;
}

void realize_leaves(const std::vector<Tensor*>& values, const std::vector<Tensor*>& leaves,
                    SourceLine line) {
    SessionState& session = *current_state();
    const Inside inside(session.nodes.thread(), line);
    builder(session, line);
    check_not_recording(session, line);
    std::vector<Tensor*> tensors = values;
    tensors.insert(tensors.end(), leaves.begin(), leaves.end());
    std::vector<Ref> nodes;
    for (Tensor* tensor : tensors) nodes.push_back(tensor->node(line));
    const std::vector<Ref> buffers = realize_nodes(session, nodes, line);
    std::vector<Computed> taken;
    for (size_t k = 0; k < tensors.size(); ++k) {
        if (k < values.size()) taken.push_back({tensors[k]->slot()->node, buffers[k]});
        tensors[k]->slot()->node = buffers[k];
    }
    keep_histories(session, taken, line);
    for (size_t k = values.size(); k < tensors.size(); ++k) make_leaf(session, buffers[k]);
}

void realize(const std::vector<Tensor*>& tensors, SourceLine line) {
    realize_leaves(tensors, {}, line);
}

void realize(std::vector<Tensor>& tensors, SourceLine line) {
    std::vector<Tensor*> all;
    for (Tensor& tensor : tensors) all.push_back(&tensor);
    realize(all, line);
}

namespace {

/// The node of a tensor whose data is asked for.
Ref checked_node(const Tensor& x, SourceLine line) {
    SessionState& session = *x.slot()->session;
    builder(session, line);
    Ref node = read_slot(x.slot(), line);
    check_not_recording(session, line);
    for (const Size& size : node->shape) refuse_symbols(size, line);
    return node;
}

}  // namespace

TensorMemory memory_of(const Tensor& x, SourceLine line) {
    SessionState& session = *x.slot()->session;
    const Inside inside(session.nodes.thread(), line);
    const Ref asked = with_known_sizes(session, checked_node(x, line), line);
    Ref node = realize_nodes(session, {asked}, line)[0];
    take_buffer(session, x.slot(), node, line);
    TensorMemory out{node->as<BufferAttr>().storage, node->dtype, {}};
    for (const Size& size : node->shape) out.shape.push_back(size.constant());
    return out;
}

Tensor tensor_over(SharedPtr<Memory> memory, DType dtype, const Shape& shape, SourceLine line) {
    SessionState& session = *current_state();
    builder(session, line);
    for (const Size& size : shape)
        if (!size.is_constant() || size.constant() < 0)
            fail_at(line, "tensor_over: memory cannot have shape " + text(shape) +
                              "; give sizes that are numbers from 0 up");
    if (memory->bytes() < padded_bytes(storage_bytes(dtype, shape)))
        fail_at(line, "tensor_over: shape " + text(shape) + " of " + dtype.name() + " needs " +
                          std::to_string(padded_bytes(storage_bytes(dtype, shape))) +
                          " bytes (a multiple of 16), the memory has " +
                          std::to_string(memory->bytes()) + "; allocate that much");
    // A value of its own, whatever else has this memory.
    return Tensor::from_node(
        buffer_node(session, std::move(memory), dtype, shape, line, ++session.last_id));
}

std::vector<std::byte> read_tensor(const Tensor& x, SourceLine line) {
    const std::shared_ptr<Slot>& slot = x.slot();
    SessionState& session = *slot->session;
    const Inside inside(session.nodes.thread(), line);
    Ref node = with_known_sizes(session, checked_node(x, line), line);
    std::vector<std::byte> data;
    const bool constant = node->op == Op::Constant;
    if (!constant) take_buffer(session, slot, realize_nodes(session, {node}, line)[0], line);
    data.resize(storage_bytes(node->dtype, node->shape));
    if (constant) {
        store_scalar(node->as<ConstantAttr>().value, data.data());
        return data;
    }
    if (!data.empty())
        executor_of(session, line).read(*slot->node->as<BufferAttr>().storage, 0, data);
    return data;
}

uint64_t padded_bytes(uint64_t bytes) { return std::max<uint64_t>(16, (bytes + 15) / 16 * 16); }

std::vector<std::byte> bytes_of(const Tensor& x, SourceLine line) { return read_tensor(x, line); }

Ref upload(SessionState& session, std::span<const std::byte> data, DType dtype, const Shape& shape,
           SourceLine line) {
    const Inside inside(session.nodes.thread(), line);
    Executor& executor = executor_of(session, line);
    std::shared_ptr<Memory> memory =
        executor.allocate(padded_bytes(data.size()), "tensor " + text(line));
    if (!data.empty()) executor.write(*memory, 0, data);
    return buffer_node(session, std::move(memory), dtype, shape, line);
}

}  // namespace firn
