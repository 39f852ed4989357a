// The kernels of a program in their order, before they have places in it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

/// A kernel that is run once, of the stage that its list has come to.
struct ListedKernel {
    KernelCode code;
    Work work;                       // once it is Ready
    std::vector<std::string> lines;  // the user's
    bool by_hand = false;            // its user has mapped its ranges
    bool apart = false;  // starts versions of tensors: small kernels before it do not wait for
                         // those behind it
    const Node* row_root = nullptr;  // of a kernel whose invocations or groups walk whole rows: its
                                     // first output
    /// The kernel before mapping, Ready, if it may be mapped otherwise; and its mapping.
    std::shared_ptr<const KernelCode> ready;
    std::string mapping, tuning_key;
    bool tuned = false;
    std::shared_ptr<const KernelInfo> emitted;  // shared by equal kernels; not the program's data
    int64_t group_counts = -1;  // their place in its buffer of sizes, if the device computes them
    std::vector<const Node*> values;        // of the Graph, that it leaves in memory
    std::vector<CompileTrace::Pass> trail;  // the kernel behind each pass, if a trace is kept
};

/// A size that is known on the device from this step on: its value lies in a buffer.
struct ListedSize {
    std::string symbol;
    int buffer = -1;
};

struct ListedStep;
/// A loop of kernels. `loop` has no body of its own.
struct ListedLoop {
    RepeatStep loop;
    std::vector<ListedStep> body;
    const Node* node = nullptr;  // the Loop; null for one of kernels that take several iterations
};
struct ListedStep {
    std::variant<CopyStep, ListedKernel, ListedLoop, ListedSize, CallStep> step;
};

/// A program in the making. Kernels, copies and loops name the program's buffers.
struct KernelList {
    std::shared_ptr<Program> program;  // without kernels and steps
    std::vector<ListedStep> steps;
};

/// Every kernel of `steps`, those of loops too, in order: `visit(ListedKernel&)`.
template <class Steps, class Visit>
void for_kernels(Steps& steps, const Visit& visit) {
    for (auto& step : steps) {
        if (auto* kernel = std::get_if<ListedKernel>(&step.step)) visit(*kernel);
        if (auto* loop = std::get_if<ListedLoop>(&step.step)) for_kernels(loop->body, visit);
    }
}

/// Every loop of `steps`, the outer one first: `visit(const ListedLoop&)`.
template <class Visit>
void for_loops(const std::vector<ListedStep>& steps, const Visit& visit) {
    for (const ListedStep& step : steps)
        if (const auto* loop = std::get_if<ListedLoop>(&step.step)) {
            visit(*loop);
            for_loops(loop->body, visit);
        }
}

/// Adds the lines that are not in `lines` yet; a kernel keeps the first eight.
void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more);

}  // namespace firn
