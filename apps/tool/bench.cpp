// firn bench: medians of the times of calls and kernels.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/tool/commands.h"
#include "apps/tool/devices.h"
#include "apps/tool/values.h"
#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/program/make_call.h"

namespace firn::tool {
namespace {

constexpr int kWarmUps = 3;  // calls that make pipelines and plans, and fill caches

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string time_text(double milliseconds) {
    char out[64];
    std::snprintf(out, sizeof out, "%.4g ms", milliseconds);
    return out;
}

/// The times of one kernel in each of the rounds.
struct KernelRounds {
    std::vector<double> each, whole;
    int dispatches = 0;
};

struct Timed {
    std::vector<double> calls;  // milliseconds
    std::map<std::string, KernelRounds> kernels;
    std::vector<std::string> order;  // of kernels, as the program has them
};

Timed time_program(Executor& executor, const std::shared_ptr<const Program>& program,
                   const HostArguments& arguments, int rounds) {
    std::vector<std::shared_ptr<Memory>> memory(program->arguments.size());
    for (size_t k = 0; k < memory.size(); ++k)
        if (!program->arguments[k].scalar) memory[k] = upload(executor, arguments.tensors[k]);
    const Call call = make_call(executor, *program, memory, arguments.shapes, arguments.scalars);
    Timed out;
    LongWork work;
    const auto run = [&](int round, const char* what) {
        const auto begin = std::chrono::steady_clock::now();
        executor.run(program, call);
        executor.wait();
        const std::chrono::duration<double, std::milli> taken =
            std::chrono::steady_clock::now() - begin;
        work.tell({std::string(what) + " " + std::to_string(round + 1)});
        return taken.count();
    };
    for (int k = 0; k < kWarmUps; ++k) run(k, "warm-up");
    for (int k = 0; k < rounds; ++k) out.calls.push_back(run(k, "round"));
    executor.set_profiling(true);
    run(0, "warm-up");
    executor.take_kernel_times();
    for (int k = 0; k < rounds; ++k) {
        run(k, "round with times of kernels");
        for (const KernelTime& time : executor.take_kernel_times()) {
            KernelRounds& kernel = out.kernels[time.name];
            kernel.each.push_back(time.milliseconds);
            kernel.whole.push_back(time.milliseconds * time.dispatches);
            kernel.dispatches = time.dispatches;
        }
    }
    executor.set_profiling(false);
    for (const KernelInfo& kernel : program->kernels)
        if (out.kernels.count(kernel.name)) out.order.push_back(kernel.name);
    return out;
}

void print_times(const Timed& timed) {
    const auto [least, most] = std::minmax_element(timed.calls.begin(), timed.calls.end());
    std::printf("  a call: %s (%s to %s)\n", time_text(median(timed.calls)).c_str(),
                time_text(*least).c_str(), time_text(*most).c_str());
    size_t width = 0;
    for (const std::string& name : timed.order) width = std::max(width, name.size());
    for (const std::string& name : timed.order) {
        const KernelRounds& kernel = timed.kernels.at(name);
        std::printf("    %-*s  %s", static_cast<int>(width), name.c_str(),
                    time_text(median(kernel.whole)).c_str());
        if (kernel.dispatches > 1)
            std::printf(" in %d dispatches of %s", kernel.dispatches,
                        time_text(median(kernel.each)).c_str());
        std::printf("\n");
    }
    if (timed.order.empty()) std::printf("    the device measures no times of kernels\n");
}

/// The number by which `inspect` lists the program.
size_t number_of(const std::vector<Form>& forms, const Program* program) {
    for (size_t k = 0; k < forms.size(); ++k)
        if (forms[k].program.get() == program) return k;
    throw InternalError("internal error: a program is no form of its file");
}

}  // namespace

int bench_file(const ToolOptions& options) {
    const SavedProgram saved = read_program(options.file);
    std::vector<Named> sizes, args, sets;
    for (const std::string& text : options.sizes) sizes.push_back(named("--size", text));
    for (const std::string& text : options.args) args.push_back(named("--arg", text));
    for (const std::string& text : options.sets) sets.push_back(named("--set", text));
    const HostArguments arguments = read_arguments(saved, args, sets, shapes_at(saved, sizes));
    const SizeEnv symbols = bind_symbols(*saved.program, arguments.shapes, arguments.scalars);
    const std::string at = sizes_text(*saved.program, symbols);
    std::printf("%s%s%s, medians of %d rounds\n", saved.name.c_str(), at.empty() ? "" : " at ",
                at.c_str(), options.rounds);
    const std::vector<Form> forms = forms_of(saved);
    bool measured = false;
    for (const TriedDevice& device : try_devices(saved, options.device)) {
        std::string why = device.why_not;
        if (device.executor) {
            try {
                const auto program =
                    program_for(saved, *device.executor, arguments.shapes, arguments.scalars);
                std::printf("\n%s, form %zu (%s)\n", device_name(*device.executor).c_str(),
                            number_of(forms, program.get()),
                            facts_text(forms[number_of(forms, program.get())].facts).c_str());
                print_times(time_program(*device.executor, program, arguments, options.rounds));
                measured = true;
                continue;
            } catch (const UserError& error) {
                why = error.what();
            }
        }
        std::printf("\n%s: not measured: %s\n", device.kind.c_str(), why.c_str());
    }
    return measured ? 0 : 1;
}

}  // namespace firn::tool
