// Versions of tensors that are written by index.
#include "compiler/lower/written_values.h"

#include <algorithm>
#include <string>

#include "compiler/base/error.h"
#include "compiler/ir/accumulation.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/lower/value_kernels.h"

namespace firn {
namespace {

void check_atomics(const Node& scatter, const DeviceProfile& profile) {
    if (scatter.as<ScatterAttr>().op == ScatterOp::Last || scatter.dtype.bytes() == 4) return;
    if (scatter.dtype.bytes() == 8 && profile.wide_atomics) return;
    throw UserError(std::string("stores into ") + scatter.dtype.name() +
                    " that combine are not available on this device; say {.deterministic = true} "
                    "where they add or multiply, or cast the tensor to f32 or i32" +
                    at_line(scatter));
}

/// One of them is computed from another one: no kernel gives both.
bool meets(const std::vector<Ref>& values, const Ref& other) {
    const auto uses = [](const Ref& value, const Ref& used) {
        const std::vector<Ref> below = topological({value});
        return std::find(below.begin(), below.end(), used) != below.end();
    };
    return std::any_of(values.begin(), values.end(), [&](const Ref& value) {
        return value != other && (uses(value, other) || uses(other, value));
    });
}

/// Computed values of one shape that versions start as, and the versions' buffers.
struct Starts {
    std::vector<Ref> values;
    std::vector<int> buffers;
};

void add_start(std::vector<Starts>& all, const Ref& value, int buffer) {
    auto at = std::find_if(all.begin(), all.end(), [&](const Starts& starts) {
        return starts.values[0]->shape == value->shape && !meets(starts.values, value);
    });
    if (at == all.end()) at = all.emplace(all.end());
    at->values.push_back(value);
    at->buffers.push_back(buffer);
}

}  // namespace

void add_written(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out) {
    const auto& loops = run.schedule.host_loops;
    std::vector<int> targets;
    std::vector<Starts> all;
    Shape positions;
    for (const Ref& output : item.outputs) {
        const Written w = written(*output, loops);
        if (!w) {
            targets.push_back(computed_buffer(run, output));
            continue;
        }
        positions = w.positions();
        const Node& scatter = *w.scatters[0];
        check_atomics(scatter, run.profile);
        const auto from = run.context.buffers.find(w.target.get());
        const bool in_memory = from != run.context.buffers.end();
        if (!w.fills() && in_memory) {
            targets.push_back(version_buffer(run, *output, *w.target, from->second, out));
            continue;
        }
        targets.push_back(value_buffer(run, *output));
        if (!w.fills()) add_start(all, w.target, targets.back());
    }
    for (const Starts& starts : all)
        add_kernel(run, starts.values, starts.buffers, starts.values[0]->shape, out);
    add_kernel(run, item.outputs, targets, positions, out, item.again);
}

}  // namespace firn
