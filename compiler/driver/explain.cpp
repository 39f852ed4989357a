// Reports the verdict on each value with its reason, and the properties of each kernel.
#include "compiler/driver/explain.h"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

#include "compiler/program/step_counts.h"
#include "compiler/schedule/schedule.h"

namespace firn {
namespace {

std::string microseconds(double seconds) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(1) << seconds * 1e6 << " us";
    return out.str();
}

void print_verdict(std::ostringstream& out, const VerdictInfo& v) {
    out << "  " << v.verdict << ": " << v.reason << "  " << v.value;
    if (v.inline_seconds > 0 || v.materialise_seconds > 0)
        out << "  inline " << microseconds(v.inline_seconds) << ", "
            << (v.stage_seconds > 0 ? "stage " + microseconds(v.stage_seconds) + ", "
                                    : std::string())
            << "materialise " << microseconds(v.materialise_seconds);
    if (!v.lines.empty()) out << "  (" << v.lines << ")";
    out << "\n";
}

void print_kernel(std::ostringstream& out, const KernelInfo& k, const KernelReport* report) {
    out << "  kernel " << k.name << ": group " << k.group_size[0] << "x" << k.group_size[1] << "x"
        << k.group_size[2] << ", " << k.bindings.size() << " bindings, back edges "
        << (k.back_edges < 0 ? "unknown" : std::to_string(k.back_edges));
    if (k.shared_bytes > 0) out << ", " << k.shared_bytes << " bytes shared";
    if (!k.mapping.empty()) out << (k.tuned ? ", tuned to " : ", ") << k.mapping;
    out << "\n";
    if (!k.unordered.empty())
        out << "    the device decides in which order floats are combined, so their last bits may "
               "differ from run to run  ("
            << k.unordered << ")\n";
    if (!report) return;
    if (!report->ranges.empty()) out << "    over " << report->ranges << "\n";
    out << "    " << report->dispatches
        << (report->dispatches == 1 ? " dispatch, " : " dispatches, ") << report->operations
        << " operations, " << report->bytes_read << " bytes read, " << report->bytes_written
        << " written; predicted " << std::setprecision(3) << report->predicted_ms << " ms";
    if (report->measured_ms >= 0) out << ", measured " << report->measured_ms << " ms";
    out << std::setprecision(1) << "\n";
}

/// True if `env` gives every size and trip count, including those that integer arguments give.
bool sizes_known(const Program& program, const SizeEnv& env) {
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& argument = program.arguments[k];
        if (argument.scalar && argument.dtype == i32 &&
            !env.contains(scalar_symbol(static_cast<int>(k))))
            return false;
        for (const Size& size : argument.shape)
            for (const std::string& symbol : size.symbols())
                if (!env.contains(symbol)) return false;
    }
    return true;
}

/// A step of the body of a loop touches the buffer, or the step itself.
bool touches(const Step& step, int buffer) {
    if (const auto* dispatch = std::get_if<DispatchStep>(&step.step))
        return std::find(dispatch->buffers.begin(), dispatch->buffers.end(), buffer) !=
               dispatch->buffers.end();
    if (const auto* copy = std::get_if<CopyStep>(&step.step))
        return copy->source == buffer || copy->target == buffer;
    if (const auto* call = std::get_if<CallStep>(&step.step))
        return call->input == buffer || call->output == buffer;
    const auto& body = std::get<RepeatStep>(step.step).body;
    return std::any_of(body.begin(), body.end(),
                       [&](const Step& inner) { return touches(inner, buffer); });
}

/// Prints the loops of kernels whose end depends on data, with the way to avoid them.
void print_open_loops(std::ostringstream& out, const std::vector<Step>& steps) {
    for (const Step& step : steps) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        if (!repeat) continue;
        if (repeat->alive >= 0 && repeat->never_ended.empty())
            out << "  the data decides when the loop ends, so each iteration launches kernels "
                   "and keeps its values in memory; with a bound, as in loop(min(count, 8)), the "
                   "loop may be part of a kernel  ("
                << repeat->line << ")\n";
        print_open_loops(out, repeat->body);
    }
}

/// Prints the calls of the host, with the steps that may run while each is under way.
void print_calls(std::ostringstream& out, const Program& program, const std::vector<Step>& steps) {
    for (size_t k = 0; k < steps.size(); ++k) {
        if (const auto* repeat = std::get_if<RepeatStep>(&steps[k].step))
            print_calls(out, program, repeat->body);
        const auto* call = std::get_if<CallStep>(&steps[k].step);
        if (!call) continue;
        size_t beside = 0;
        while (k + beside + 1 < steps.size() && !touches(steps[k + beside + 1], call->output))
            ++beside;
        out << "  the host runs " << call->operation->name() << ": " << text(call->input_shape)
            << " to " << text(call->output_shape) << "; " << beside
            << (beside == 1 ? " step runs" : " steps run") << " meanwhile"
            << (call->line.empty() ? "" : "  (" + call->line + ")") << "\n";
    }
}

/// Prints the stores that may hit one element twice as far as the compiler can tell, with the way
/// to avoid that.
void print_meeting_stores(std::ostringstream& out, const std::vector<VerdictInfo>& verdicts) {
    std::set<std::string> lines;
    for (const VerdictInfo& v : verdicts)
        if (v.reason == kReasonLast) lines.insert(v.lines);
    for (const std::string& line : lines)
        out << "  the indices do not show that the store is unique, so a kernel searches for "
               "the last position that stores to each element; if no two positions store to one "
               "element, promise it, as in store(x(i), v, {.unique = true})  ("
            << line << ")\n";
}

}  // namespace

std::vector<KernelReport> kernel_reports(const Program& program, const SizeEnv& env,
                                         const std::map<std::string, double>& milliseconds) {
    std::vector<KernelReport> out;
    for (const KernelInfo& k : program.kernels) {
        KernelReport row;
        row.name = k.name, row.mapping = k.mapping, row.ranges = k.ranges, row.tuned = k.tuned;
        row.shared_bytes = k.shared_bytes, row.back_edges = k.back_edges;
        if (const auto at = milliseconds.find(k.name); at != milliseconds.end())
            row.measured_ms = at->second;
        out.push_back(std::move(row));
    }
    count_steps(program, env, [&](const FlatStep& step, int64_t times) {
        if (!step.dispatch) return;
        KernelReport& row = out[static_cast<size_t>(step.dispatch->kernel)];
        const Work& work = step.dispatch->work;
        const int64_t operations = work.operations.evaluate(step.env),
                      read = work.bytes_read.evaluate(step.env),
                      written = work.bytes_written.evaluate(step.env);
        row.dispatches += times;
        row.operations = add_times(row.operations, times, operations);
        row.bytes_read = add_times(row.bytes_read, times, read);
        row.bytes_written = add_times(row.bytes_written, times, written);
        row.predicted_ms +=
            1e3 * static_cast<double>(times) * predicted_seconds(work, step.env, program.profile);
    });
    return out;
}

std::string explain(const Program& program, const SizeEnv& env,
                    const std::map<std::string, double>& milliseconds) {
    std::ostringstream out;
    out << "program " << program.name << " for " << program.profile.name << ": "
        << program.kernels.size() << " kernels\n"
        << "  rates " << rates_text(program.profile) << "\n";
    for (const std::string& line : program.rounds) out << "  " << line << "\n";
    if (!program.cuts.empty())
        out << "  cuts are tuned, their costs are multiplied by: " << program.cuts << "\n";
    out << std::fixed << std::setprecision(1);
    for (const VerdictInfo& v : program.verdicts) print_verdict(out, v);
    print_open_loops(out, program.steps);
    print_meeting_stores(out, program.verdicts);
    print_calls(out, program, program.steps);
    const bool known = sizes_known(program, env);
    const std::vector<KernelReport> reports =
        known ? kernel_reports(program, env, milliseconds) : std::vector<KernelReport>();
    for (size_t k = 0; k < program.kernels.size(); ++k)
        print_kernel(out, program.kernels[k], known ? &reports[k] : nullptr);
    for (size_t k = 0; k < program.results.size(); ++k)
        for (const ArgumentInfo& argument : program.arguments)
            if (!argument.scalar && argument.buffer == program.results[k].buffer)
                out << "  result " << k << " is written over " << argument.name
                    << ", which was donated\n";
    if (known) {
        const ProgramStats s = stats(program, env);
        out << "  " << s.dispatches << " dispatches";
        if (s.calls)
            out << ", " << s.calls << (s.calls == 1 ? " call" : " calls") << " of the host";
        if (s.indirect_dispatches) out << " (" << s.indirect_dispatches << " of them indirect)";
        out << ", " << s.operations << " operations, " << s.bytes_read << " bytes read, "
            << s.bytes_written << " written, " << s.barriers << " barriers, " << s.peak_bytes
            << " bytes of temporaries\n";
    }
    return out.str();
}

}  // namespace firn
