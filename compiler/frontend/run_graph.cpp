// Graphs as programs of the session: compiled, and run with memory for their results.
#include "compiler/frontend/run_graph.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/base/parallel.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/program_cache.h"
#include "compiler/driver/program_source.h"
#include "compiler/frontend/data_size.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/history.h"
#include "compiler/frontend/oracle.h"
#include "compiler/frontend/promises.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/report.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/text.h"
#include "compiler/ir/too_large.h"
#include "compiler/kernel/accesses.h"
#include "compiler/program/index_limits.h"
#include "compiler/program/make_call.h"
#include "compiler/program/outside_access.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

/// Notes in `sizes` the name that a data size of the running graph has outside: that of the size
/// while it was recorded (`symbol`), or one of its own.
void name_size(SessionState& session, const Size& size, const Ref& count, const SizeAtom* symbol,
               SizeMap& sizes, SourceLine line) {
    const SizeAtom own = data_symbols(size).at(0);
    if (symbol) set_count(session, *symbol, count);
    sizes[own.name] = symbol ? Size::data(symbol->name, symbol->args[0], symbol->source)
                             : data_size(session, count, own.args[0].substitute(sizes), line);
}

/// Refuses more elements than kernels can index before any memory is allocated.
void check_room(const Node& result, const Shape& shape) {
    std::vector<int64_t> sizes;
    for (const Size& size : largest(shape)) sizes.push_back(size.constant());
    if (count_elements(sizes) > static_cast<double>(kMostElements))
        throw UserError(too_large(result, sizes, counted_limit()));
}

/// Adds the line of the request to out-of-memory and other device errors.
template <class F>
void with_place(SourceLine line, const F& asked) {
    try {
        asked();
    } catch (const DeviceError& error) {
        if (!line.line) throw;
        throw DeviceError(error.what() + (" (" + text(line) + ")"));
    }
}

bool reads_unchecked(const std::vector<Ref>& results, std::set<const Region*>& seen) {
    for (const Ref& node : topological(results)) {
        if (node->op == Op::Gather) {
            const std::vector<Bounds>& modes = node->as<GatherAttr>().modes;
            if (std::find(modes.begin(), modes.end(), Bounds::Unchecked) != modes.end())
                return true;
        }
        for (const Region* region : regions_of(*node))
            if (seen.insert(region).second && reads_unchecked(region->results, seen)) return true;
    }
    return false;
}

/// The user's lines of an access of a kernel, or of the whole kernel.
std::string lines_of(const KernelInfo& kernel, int32_t access) {
    if (kernel.code && access >= 0) {
        const std::vector<NodeId> all = accesses_of(*kernel.code);
        if (static_cast<size_t>(access) < all.size()) {
            const KernelNode& node = (*kernel.code)[all[static_cast<size_t>(access)]];
            if (!node.lines.empty()) return " (" + text(node.lines[0]) + ")";
        }
    }
    return kernel.lines.empty() ? "" : " (" + kernel.lines[0] + ")";
}

/// Runs a program. A kernel that reaches outside its memory is the user's fault where the graph
/// promises that an index is inside, else one of Firn.
void run_checked(const Graph& graph, const std::shared_ptr<const Program>& program,
                 const Call& call, Executor& executor) {
    try {
        executor.run(program, call);
    } catch (const OutsideAccess& fault) {
        const std::string what =
            fault.what() + lines_of(program->kernels[fault.kernel], fault.access);
        std::set<const Region*> seen;
        if (reads_unchecked(graph.results, seen))
            throw UserError("unchecked: it promises that every index is inside, but " + what);
        throw OutsideAccess("internal error: " + what, fault.kernel, fault.access);
    }
}

/// Compiles for a device: on a thread of its own if a progress callback is set, which may cancel by
/// throwing.
std::shared_ptr<const Program> compile_watched(const Graph& graph, const Executor& executor,
                                               CompileOptions options) {
    const std::shared_ptr<ProgramSource> source = source_of(graph, options);
    const CompileWatch watch = with_line(executor.compile_watch());
    if (!watch) return compile_source(source, executor.profile(), options);
    std::atomic<size_t> done{0}, kernels{0};
    std::atomic<bool> stop{false};
    options.stop = &stop;
    options.watch = [&](const CompileProgress& now) { done = now.done, kernels = now.kernels; };
    std::shared_ptr<const Program> program;
    for_each_in_parallel(
        1,
        [&](size_t) {
            const CancelScope ends([&] { return stop.load(); });  // walks over large graphs
            program = compile_source(source, executor.profile(), options);
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

}  // namespace

uint64_t padded_bytes(uint64_t bytes) { return std::max<uint64_t>(16, (bytes + 15) / 16 * 16); }

uint64_t storage_bytes(DType dtype, const Shape& shape) {
    return static_cast<uint64_t>(std::max<int64_t>(0, element_count(largest(shape)).constant())) *
           static_cast<uint64_t>(dtype.bytes());
}

std::shared_ptr<Memory> allocate_memory(SessionState& session, Executor& executor, uint64_t bytes,
                                        const std::string& name) {
    try {
        return executor.allocate(bytes, name);
    } catch (const DeviceError&) {
        if (!forget_histories(session, "its memory was needed")) throw;
    }
    return executor.allocate(bytes, name);
}

Ref buffer_node(SessionState& session, std::shared_ptr<Memory> memory, DType dtype,
                const Shape& shape, SourceLine line, uint64_t value) {
    return session.nodes.intern(Op::Buffer, dtype, shape, {}, BufferAttr{std::move(memory), value},
                                line);
}

const Ref& known_buffer(const Ref& node) { return node->op == Op::Buffer ? node : node->computed; }

std::shared_ptr<const Program> compile_for(SessionState& session, const Graph& graph,
                                           CompileOptions options) {
    const Inside inside(session.nodes.thread(), {});
    Executor& executor = executor_of(session);
    options = compile_options(session, std::move(options));
    std::shared_ptr<const Program> program;
    try {
        program = session.emission == Emission::Binary
                      ? compile_watched(graph, executor, options)
                      : compile_graph(session.nodes, graph, executor.profile(), options);
    } catch (...) {
        report_trace(session, options.trace.get());  // how far it came
        throw;
    }
    report_program(session, graph, *program, options.trace.get());
    return program;
}

EmitOptions emit_options(SessionState& session) {
    const Target& target = target_of(executor_of(session).profile());
    return {.checks_accesses = target.can_check_accesses && wants_checks(session)};
}

CompileOptions compile_options(SessionState& session, CompileOptions options) {
    const bool shown = session.debug >= 2 || environment("FIRN_DUMP_DIR");
    options.emission = shown ? std::max(session.emission, Emission::Text) : session.emission;
    options.verify |=
        session.emission != Emission::Binary;  // the interpreter is there to find faults
    options.cache_directory = default_cache_directory();
    options.emit = emit_options(session);
    // Kernels from disk do not know the lines of their accesses.
    options.reuse = !executor_of(session).needs_kernel_code() && !options.emit.checks_accesses;
    options.tuned = &session.tuned;
    options.skipped = session.skipped;
    options.trace = trace_for(session);
    options.excess_log = environment("FIRN_EXCESS").value_or("");
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
        // A shared value is equal, but may have other derivatives.
        const bool shared = memory && result.dtype.is_float();
        if (!memory && k < counts && result.op == Op::Input)
            memory = call.arguments[static_cast<size_t>(result.as<InputAttr>().index)];
        if (!memory) check_room(result, shape);
        if (!memory)
            with_place(result.lines.empty() ? line : result.lines[0], [&] {
                memory = allocate_memory(session, executor,
                                         padded_bytes(storage_bytes(result.dtype, shape)),
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
        with_place(line, [&] { run_checked(graph, program, call, executor); });
    else
        run_oracle(executor, graph, call);
    report_run(session, program.get(), call.symbols);
    return out;
}

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
