// Loops of kernels as steps of a program.
#include "compiler/lower/loop_steps.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/lower/lower_steps.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/lower/value_kernels.h"

namespace firn {
namespace {

Size host_bound(const LowerRun& run, const Node& loop, size_t k) {
    const auto size = host_size(*loop.inputs[k], run.context.host_values);
    if (!size)
        throw UserError(
            "the bounds of this loop are computed from tensors, and its body needs several "
            "kernels; give it bounds that are numbers, sizes or integer arguments" +
            at_line(loop));
    return *size;
}

Size trip_count(const Node& loop, const Size& begin, const Size& end, const Size& step) {
    if (!step.is_constant() || step.is(0))
        throw UserError("the step of this loop is " + step.text() +
                        "; a loop of kernels needs a constant step other than 0" + at_line(loop));
    const Size distance = step.constant() > 0 ? end - begin : begin - end;
    const Size stride(std::abs(step.constant()));
    return max(stride.is(1) ? distance : floor_div(distance + stride - Size(1), stride), Size(0));
}

int copied(LowerRun& run, const Node& loop, const Node& value, int from,
           std::vector<ListedStep>& out) {
    const int to = add_buffer(run, "carried " + first_line(loop), value.dtype, value.shape);
    out.emplace_back().step = CopyStep{from, to};
    return to;
}

/// Adds memory for a carried value that the iterations store before they read it.
int opened(LowerRun& run, const Node& loop, const Node& value, std::vector<ListedStep>& out) {
    const int to = add_buffer(run, "carried " + first_line(loop), value.dtype, value.shape);
    add_opening(run, value, to, out);
    return to;
}

/// Returns the buffer of carried value k: that of its initial value if it has no other use.
int start_buffer(LowerRun& run, const Node& loop, size_t k, std::vector<ListedStep>& out) {
    const Node& init = *loop.inputs[k + 3];
    if (init.op == Op::Empty) return opened(run, loop, init, out);
    const int from = run.context.buffers.at(&init);
    return may_write_over(run, init, loop) ? from : copied(run, loop, init, from, out);
}

/// Returns the buffers of the values that the next iteration begins with, each one different.
std::vector<int> next_buffers(LowerRun& run, const Node& loop, const std::vector<int>& current,
                              std::vector<ListedStep>& steps) {
    std::vector<int> source;
    std::set<int> taken;
    for (size_t k = 0; k < current.size(); ++k) {
        const Node& next = *loop.as<LoopAttr>().body->results[k];
        int from = run.context.buffers.at(&next);
        const bool carried = std::find(current.begin(), current.end(), from) != current.end();
        const bool own = run.schedule.materialised.contains(&next) || run.uses[&next] == 1;
        if ((!carried && !(own && made_in(run, next, &loop))) || !taken.insert(from).second) {
            from = copied(run, loop, next, from, steps);
            taken.insert(from);
        }
        source.push_back(from);
    }
    return source;
}

/// After an iteration current[k] names the buffer that source[k] named. A source that is no carried
/// value takes the memory that its rotation leaves over: that of the value that it replaced, or
/// that this one replaced, and so on.
std::vector<std::pair<int, int>> rotation(const std::vector<int>& current,
                                          const std::vector<int>& source) {
    std::vector<std::pair<int, int>> pairs;
    for (size_t k = 0; k < current.size(); ++k) pairs.emplace_back(current[k], source[k]);
    for (int name : source) {
        if (std::find(current.begin(), current.end(), name) != current.end()) continue;
        int place = name;
        for (;;) {
            const auto handed = std::find(source.begin(), source.end(), place);
            if (handed == source.end()) break;
            place = current[static_cast<size_t>(handed - source.begin())];
        }
        pairs.emplace_back(name, place);
    }
    std::erase_if(pairs, [](const auto& p) { return p.first == p.second; });
    return pairs;
}

/// Rewrites numbers that the host computes from the loop's induction in terms of the step's
/// iteration.
void count_iterations(LowerRun& run, const Node& arg, const Size& index) {
    run.context.host_values[&arg] = index;
    const SizeMap in_steps{{run.schedule.numbers.inductions.at(&arg).symbols()[0], index}};
    for (HostScalar& number : run.program->host_scalars)
        number.size = number.size.substitute(in_steps);
}

}  // namespace

void add_loop(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out) {
    const Node& loop = *item.loop;
    const LoopAttr& attr = loop.as<LoopAttr>();
    const Region& body = *attr.body;
    RepeatStep repeat;
    repeat.induction = "$t" + std::to_string(run.loops++);
    const Size begin = host_bound(run, loop, 0), step = host_bound(run, loop, 2);
    repeat.trips = trip_count(loop, begin, host_bound(run, loop, 1), step);
    const int64_t most = repeat.trips.upper_bound(run.context.facts.largest);
    if (most <= INT32_MAX)
        run.context.facts.largest[repeat.induction] = std::max<int64_t>(most - 1, 0);
    count_iterations(run, *body.args[0], begin + step * Size::symbol(repeat.induction));
    std::vector<int> current;
    for (size_t k = 0; k < body.results.size(); ++k) {
        current.push_back(start_buffer(run, loop, k, out));
        run.context.buffers[body.args[k + 1].get()] = current.back();
    }
    std::vector<ListedStep> steps = steps_of(run, item.body, {attr.sizes, body.results});
    const std::vector<int> source = next_buffers(run, loop, current, steps);
    repeat.rotation = rotation(current, source);
    if (attr.open) repeat.alive = current[static_cast<size_t>(attr.active)];
    if (attr.must_end == MustEnd::Throws) repeat.never_ended = never_ended(loop);
    repeat.line = first_line(loop);
    for (const Ref& r : run.results_of[&loop])
        run.context.buffers[r.get()] = current[static_cast<size_t>(r->as<ResultAttr>().index)];
    out.push_back({ListedLoop{std::move(repeat), std::move(steps), &loop}});
}

}  // namespace firn
