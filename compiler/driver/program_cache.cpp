// Compiled programs on disk: their keys, and the checks that they are still valid in this run.
#include "compiler/driver/program_cache.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "compiler/base/disk_cache.h"
#include "compiler/base/error.h"
#include "compiler/base/stage_timer.h"
#include "compiler/driver/compile.h"
#include "compiler/ir/substitute.h"
#include "compiler/ir/text.h"
#include "compiler/mapping/mapping.h"
#include "compiler/plan/tuned.h"
#include "compiler/program/check_program.h"
#include "compiler/program/saved_body.h"
#include "compiler/program/saved_program.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

constexpr const char* kKind = "program";  // of entries in the cache

/// Milliseconds of the compiling thread from Graph to the texts of kernels (built ones have entries
/// of their own). A program that takes less is not kept: a person does not notice the compile, and
/// the many small programs of tests and lazy values would fill the folder. Chosen, not measured.
constexpr double kWorthKeeping = 20;

bool is_kept(const CompileOptions& options) {
    return options.reuse && options.emission == Emission::Binary &&
           !options.cache_directory.empty() && !options.trace && !options.times;
}

/// The user's lines of the arguments of the graph and of its regions, which its text leaves out.
std::string lines_of_arguments(const Graph& graph) {
    std::string out;
    const auto add = [&](const std::vector<Ref>& args) {
        for (const Ref& arg : args) {
            for (const SourceLine& line : arg->lines) out += text(line) + ' ';
            out += ';';
        }
    };
    add(graph.args);
    for (const Ref& node : topological(graph.results))
        if (node->op == Op::Loop) add(node->as<LoopAttr>().body->args);
    return out + '\n';
}

/// Returns the key of an entry: two hashes of 128 bits over everything that a program depends on
/// except for tuning's results. A graph's text takes megabytes, and is not kept.
std::string key_of(const ProgramSource& source, const DeviceProfile& profile,
                   const CompileOptions& options) {
    std::string key = std::string(compiler_fingerprint()) + '\n' + target_of(profile).version() +
                      '\n' + profile.name + '\n' + profile.driver + '\n' + cache_key(profile) +
                      '\n' + options.name + "\ndonated ";
    for (const bool donated : options.donated) key += donated ? '1' : '0';
    for (const std::string& pass : options.skipped) key += "\nwithout " + pass;
    key += options.verify ? "\nverified" : "";
    key += options.validate ? "\nvalidated" : "";
    if (options.cuts) key += "\ncuts " + text(*options.cuts);
    key += '\n' + text(options.facts) + '\n' + lines_of_arguments(source.graph);
    key += print(source.graph, {.lines = true});
    return cache_hash(key) + cache_hash(key + '.');
}

/// Returns whether the program was made with the mappings and cuts that tuning knows now.
bool is_tuned_as_now(const Program& program, const CompileOptions& options) {
    const auto as_now = [&](const KernelInfo& kernel) {
        if (kernel.tuning_key.empty()) return true;
        const auto found = find_tuned(kernel.tuning_key, options);
        return found ? kernel.tuned && text(*found) == kernel.mapping : !kernel.tuned;
    };
    return std::all_of(program.kernels.begin(), program.kernels.end(), as_now) &&
           (options.cuts || !find_tuned_cuts(cuts_key(program, options), options));
}

/// Reads a kept program, with its kernels from their own entries; null where the bytes are none.
std::shared_ptr<Program> read(std::span<const std::byte> bytes, const CompileOptions& options) {
    try {
        SavedProgram saved = read_body(bytes);
        auto program = std::make_shared<Program>(*saved.program);
        compile_kernels(*program, options);
        saved.program = program;
        check_saved(saved);
        return program;
    } catch (const UserError&) {
        return nullptr;  // it is compiled and stored anew
    }
}

std::shared_ptr<const Program> find(const std::string& key, const DeviceProfile& profile,
                                    const CompileOptions& options) {
    double milliseconds = 0;
    std::shared_ptr<Program> program;
    {
        const StageTimer timer(milliseconds);
        const auto kept = cache_find_text(options.cache_directory, kKind, key);
        if (kept) program = read(std::as_bytes(std::span(*kept)), options);
        if (!program || !is_tuned_as_now(*program, options)) return nullptr;
    }
    program->profile = profile;
    program->source = options.source;
    program->compile_milliseconds = milliseconds, program->build_milliseconds = 0;
    return program;
}

/// Stores a program without the words of its kernels, which have entries of their own.
void keep(const std::string& key, const Program& program, const CompileOptions& options) {
    if (!program.cuts.empty() && !options.cuts) return;
    auto bare = std::make_shared<Program>(program);
    for (KernelInfo& kernel : bare->kernels) kernel.artefact.words.clear();
    SavedProgram saved;
    saved.name = bare->name, saved.program = bare;
    for (const ArgumentInfo& argument : bare->arguments) {
        saved.scalars.push_back({.dtype = argument.dtype});
        saved.shapes.emplace_back(argument.shape.size());
    }
    const std::vector<uint8_t> bytes = write_body(saved);
    cache_put_text(options.cache_directory, kKind, key,
                   {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::shared_ptr<const Program> compile_source(const std::shared_ptr<ProgramSource>& source,
                                              const DeviceProfile& profile,
                                              CompileOptions options) {
    options.source = source;
    const auto compiled = [&] {
        return compile_graph(source->table, source->graph, profile, options);
    };
    if (!is_kept(options)) return compiled();
    const std::string key = key_of(*source, profile, options);
    if (auto program = find(key, profile, options)) return program;
    CompileTimes times;
    options.times = &times;
    auto program = compiled();
    const double milliseconds =
        times.passes + times.schedule + times.lower + times.map + times.emit + times.plan;
    // No file can hold a call of the host.
    if (milliseconds >= kWorthKeeping && !has_calls(program->steps)) keep(key, *program, options);
    return program;
}

std::shared_ptr<const Program> compile_again(const Program& program, Emission emission,
                                             std::shared_ptr<CompileTrace> trace) {
    if (!program.source)
        throw UserError(
            "program '" + program.name +
            "' was saved without the graph that it was compiled from, so its passes cannot be "
            "run again; compile it in this process");
    const ProgramSource& source = *program.source;
    std::map<std::string, std::string> tuned;
    for (const KernelInfo& kernel : program.kernels)
        if (kernel.tuned) tuned[kernel.tuning_key] = kernel.mapping;
    CompileOptions options;
    options.name = program.name;
    options.facts = source.facts, options.donated = source.donated;
    options.skipped = source.skipped;
    options.tuned = &tuned;
    options.cuts = parse_cut_weights(program.cuts).value_or(CutWeights{});
    options.emission = emission;
    options.trace = std::move(trace);
    options.source = program.source;
    NodeTable table;
    return compile_graph(table, copied_graph(table, source.graph), program.profile, options);
}

std::shared_ptr<const Program> with_code(std::shared_ptr<const Program> program) {
    const auto has_code = [](const KernelInfo& kernel) { return kernel.code != nullptr; };
    if (std::all_of(program->kernels.begin(), program->kernels.end(), has_code)) return program;
    return compile_again(*program, Emission::Binary);
}

}  // namespace firn
