// A run of a program in several submissions, found as it goes.
#include "engine/runtime/parted_run.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/program/step_counts.h"

namespace firn {
namespace {

/// Submissions that may be pending while the next is recorded.
constexpr size_t kMostAhead = 2;

bool inside(const BufferRange& part, const BufferRange& whole) {
    return part.buffer == whole.buffer && part.offset >= whole.offset &&
           part.offset + part.bytes <= whole.offset + whole.bytes;
}

}  // namespace

PartedRun::~PartedRun() {
    if (finished_ || last_ == 0) return;
    try {
        run_.device->wait(last_);  // the caller does not know until when its memory is in use
    } catch (const std::exception&) {
        // Pending work keeps its objects: all that ends here is deferred.
    }
}

void PartedRun::step(const FlatStep& step) {
    if (!calls_.empty()) {
        for (size_t k = 0; k < step.slots.size(); ++k)
            settle_calls(run_.call.slot(step.slots[k]),
                         step.dispatch
                             ? run_.program.kernels[static_cast<size_t>(step.dispatch->kernel)]
                                   .bindings[k]
                                   .written
                             : k == 1);
        calls_.proceed();
    }
    if (step.call) return add_call(step);
    const uint64_t param_bytes =
        step.dispatch
            ? buffer_param_bytes(run_.program.kernels[static_cast<size_t>(step.dispatch->kernel)],
                                 run_.device->profile())
            : 0;
    const bool full = run_.pace.is_enough(steps_.size(), predicted_, run_.seconds) ||
                      param_bytes_ + param_bytes > run_.call.plan().scratch_param_bytes;
    if (!steps_.empty() && full) {
        submit();
        run_.device->flush();
    }
    steps_.push_back(step);
    predicted_ += step.dispatch
                      ? predicted_seconds(step.dispatch->work, step.env, run_.device->profile())
                      : run_.device->profile().seconds_per_launch;
    param_bytes_ += param_bytes;
}

/// Finishes the calls that a step would disturb which reads this memory, or writes it. What was
/// recorded runs meanwhile.
void PartedRun::settle_calls(const BufferRange& range, bool written) {
    if (!calls_.meets(range, written)) return;
    submit();
    run_.device->flush();
    take_outputs(calls_.finish(range, written));
}

/// Copies the outputs of calls to their places.
void PartedRun::take_outputs(std::vector<PartedCallStep> finished) {
    Copies copies;
    for (const PartedCallStep& call : finished)
        if (call.made) copies.push_back({call.made->range(), call.output});
    if (copies.empty()) return;
    submit(copies);
    for (const PartedCallStep& call : finished)
        if (call.made) call.made->used_at(last_, false);
}

void PartedRun::add_call(const FlatStep& step) {
    const CallStep& asked = *step.call;
    PartedCallStep added;
    added.operation = asked.operation.get();
    added.call.dtype = run_.program.buffers[static_cast<size_t>(step.slots[0])].dtype;
    added.call.line = asked.line;
    const auto concrete = [&](const Shape& shape, std::vector<int64_t>& sizes) {
        uint64_t bytes = static_cast<uint64_t>(added.call.dtype.bytes());
        for (const Size& size : shape) {
            sizes.push_back(size.evaluate(step.env));
            bytes *= static_cast<uint64_t>(sizes.back());
        }
        return bytes;
    };
    const uint64_t given = concrete(asked.input_shape, added.call.input_shape),
                   made = concrete(asked.output_shape, added.call.output_shape);
    added.input = run_.call.slot(step.slots[0]), added.output = run_.call.slot(step.slots[1]);
    const auto seen_by_host = [&](uint64_t bytes, BufferRange& there) {
        const std::string name = asked.operation->name() + " of " + run_.program.name;
        there.bytes = (bytes + 3) / 4 * 4;
        return create_buffer(run_.device, there.bytes, name, BufferPlace::Host);
    };
    if (given > 0) {
        added.given = seen_by_host(given, added.input);
        added.call.input = {added.given->mapped(), given};
        BufferRange copy = added.given->range();
        copy.bytes = added.input.bytes;
        submit({{added.input, copy}});
        added.given->used_at(last_, true);
        added.ready = last_;
        run_.device->flush();
    }
    if (made > 0) {
        added.made = seen_by_host(made, added.output);
        added.call.output = {added.made->mapped(), made};
    }
    calls_.add(std::move(added));
    calls_.proceed();
}

bool PartedRun::goes_on(int slot, int64_t) {
    BufferRange flag = run_.call.slot(slot);
    settle_calls(flag, false);
    ensure(flag.buffer != VK_NULL_HANDLE, "the flag of a loop has no memory");
    std::shared_ptr<Buffer> memory = run_.scratch;
    if (!memory || !inside(flag, memory->range())) {
        // The caller owns the memory of a result or an argument.
        if (!flag_) flag_ = create_buffer(run_.device, sizeof(uint32_t), "the flag of a loop");
        BufferRange copy = flag_->range();
        copy.bytes = flag.bytes = std::min(flag.bytes, copy.bytes);
        submit({{flag, copy}});
        flag_->used_at(last_, true);
        memory = flag_, flag = copy;
    } else {
        submit();
    }
    run_.device->wait(last_);
    limit_in_flight(0);
    uint32_t alive = 0;
    read_buffer(*memory, flag.offset - memory->range().offset,
                std::as_writable_bytes(std::span(&alive, 1)));
    return alive != 0;
}

void PartedRun::outermost_iteration(const RepeatStep& loop, int64_t iteration, int64_t trips) {
    if (iteration == 0) progress_.line = loop.line;
    progress_.iteration = iteration, progress_.iterations = std::max<int64_t>(trips, 0);
}

void PartedRun::add(const CallPlan& plan) {
    PatchedParams params = unpatched(plan);
    patch_params(plan, run_.scalars, params);
    run_.call.give_addresses(plan, params);
    const std::vector<int> sets = run_.call.bind(run_.loaded, run_.program, plan.sets);
    for (size_t first = 0, at = 0; first < plan.steps.size(); first = at) {
        double predicted = 0;
        for (; at < plan.steps.size() && !run_.pace.is_enough(at - first, predicted, run_.seconds);
             ++at)
            predicted += plan.steps[at].seconds;
        submit({plan, sets, params, first, at}, predicted, {});
        run_.device->flush();
    }
}

TimelinePoint PartedRun::finish(const std::vector<int>& ends) {
    if (!calls_.empty()) {
        submit();
        run_.device->flush();
        take_outputs(calls_.finish_all());
    }
    submit(staged(run_.call.result_copies(ends)));
    finished_ = true;
    return last_;
}

/// Results that lie where others are to go are copied through memory of their own.
PartedRun::Copies PartedRun::staged(const Copies& copies) {
    const auto meets = [&](const RangeCopy& a) {
        return std::any_of(copies.begin(), copies.end(),
                           [&](const RangeCopy& b) { return overlap(a.target, b.source); });
    };
    if (std::none_of(copies.begin(), copies.end(), meets)) return copies;
    uint64_t bytes = 0;
    for (const RangeCopy& copy : copies) bytes += (copy.source.bytes + 15) / 16 * 16;
    staging_ = create_buffer(run_.device, bytes, "results that change places");
    Copies there, back;
    uint64_t offset = 0;
    for (const RangeCopy& copy : copies) {
        BufferRange middle = staging_->range();
        middle.offset += offset, middle.bytes = std::min(copy.source.bytes, copy.target.bytes);
        there.push_back({copy.source, middle}), back.push_back({middle, copy.target});
        offset += (copy.source.bytes + 15) / 16 * 16;
    }
    submit(there);
    return back;
}

void PartedRun::submit(const Copies& copies) {
    if (steps_.empty() && copies.empty() && submissions_ > 0) return;
    const PlannedSteps plan = plan_steps(run_.program, run_.device->profile(), steps_);
    PatchedParams params = unpatched(plan);
    patch_params(plan, run_.scalars, params);
    run_.call.give_addresses(plan, params);
    const std::vector<int> sets = run_.call.bind(run_.loaded, run_.program, plan.sets);
    const double predicted = std::exchange(predicted_, 0);
    submit({plan, sets, params, 0, plan.steps.size()}, predicted, copies);
    steps_.clear();
    param_bytes_ = 0;
}

void PartedRun::submit(const RecordedSteps& steps, double predicted, const Copies& copies) {
    CancelScope::end_if_asked("running program", run_.program.name);
    limit_in_flight(kMostAhead);
    InFlight now{0, predicted, two_marks()};
    PendingTimes times;
    if (run_.times) times = step_times(steps);
    CommandBuffer& commands = run_.commands.acquire();
    try {
        record(commands, steps, copies, now.timestamps.get(), times.timestamps.get());
        last_ = now.point = commands.busy_until = run_.device->enqueue(commands.handle);
    } catch (...) {
        run_.commands.release(commands);
        throw;
    }
    run_.commands.release(commands);
    ++submissions_;
    in_flight_.push_back(std::move(now));
    if (staging_) staging_->used_at(last_, true);
    times.point = last_;
    if (run_.times) run_.times(std::move(times));
    report();
}

void PartedRun::record(CommandBuffer& commands, const RecordedSteps& steps, const Copies& copies,
                       Timestamps* whole, Timestamps* each) {
    const Device& device = *run_.device;
    begin(device, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    barrier_all(device, commands.handle);
    if (whole) whole->reset(commands.handle), whole->mark(commands.handle);
    record_steps(run_.call, commands.handle, steps, each);
    record_copies(run_.call, commands.handle, copies);
    if (whole) whole->mark(commands.handle);
    barrier_compute_to(device, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_ACCESS_HOST_READ_BIT);
    end(device, commands);
}

/// Returns timestamps for a submission; null if the device has none.
std::unique_ptr<Timestamps> PartedRun::two_marks() {
    if (run_.device->timestamp_period() <= 0) return nullptr;
    if (spare_.empty())
        return std::make_unique<Timestamps>(*run_.device, 2,
                                            "time of a part of " + run_.program.name);
    std::unique_ptr<Timestamps> out = std::move(spare_.back());
    spare_.pop_back();
    return out;
}

PendingTimes PartedRun::step_times(const RecordedSteps& steps) const {
    PendingTimes out;
    for (size_t at = steps.first; at < steps.last; ++at) {
        const int set = steps.plan.steps[at].binding_set;
        const int kernel = set < 0 ? -1 : steps.plan.sets[static_cast<size_t>(set)].kernel;
        out.names.push_back(kernel < 0 ? "copy"
                                       : run_.program.kernels[static_cast<size_t>(kernel)].name);
    }
    out.timestamps = std::make_unique<Timestamps>(
        *run_.device, static_cast<uint32_t>(out.names.size()) + 1, "times of " + run_.program.name);
    return out;
}

/// Waits until no more than `most` are pending, and learns from those that are complete.
void PartedRun::limit_in_flight(size_t most) {
    while (in_flight_.size() > most) {
        InFlight& oldest = in_flight_.front();
        run_.device->wait(oldest.point);
        if (oldest.timestamps) {
            run_.pace.measured(oldest.predicted, oldest.timestamps->read().at(1) * 1e-3);
            spare_.push_back(std::move(oldest.timestamps));
        }
        in_flight_.pop_front();
    }
}

void PartedRun::report() {
    if (!run_.progress.report) return;
    progress_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (progress_.seconds < report_at_) return;
    report_at_ = 2 * progress_.seconds;
    progress_.program = run_.program.name;
    run_.progress.report(progress_);
}

}  // namespace firn
