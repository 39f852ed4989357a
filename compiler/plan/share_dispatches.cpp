// Equal kernels that do not need each other run in one dispatch.
#include "compiler/plan/share_dispatches.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/bindings.h"
#include "compiler/kernel/larger_buffers.h"
#include "compiler/mapping/list/sequence_pieces.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Steps of a list, by their numbers in it, that become one; most are alone.
using Together = std::vector<size_t>;

/// The order in which the steps of a list are to run.
struct SharedPlan {
    std::vector<ListedStep>* steps = nullptr;
    std::vector<Together> order;
};

/// Buffers that become parts of one.
struct Joints {
    std::vector<std::vector<int>> parts;  // by joint; none where it went into another one
    std::map<int, size_t> joint_of;       // by buffer

    void join(const std::vector<int>& buffers) {
        const auto known = std::find_if(buffers.begin(), buffers.end(),
                                        [&](int b) { return joint_of.contains(b); });
        const size_t into = known == buffers.end() ? parts.size() : joint_of.at(*known);
        if (into == parts.size()) parts.emplace_back();
        for (int buffer : buffers) {
            const auto at = joint_of.find(buffer);
            if (at == joint_of.end())
                add(into, buffer);
            else if (at->second != into)
                for (int part : std::exchange(parts[at->second], {})) add(into, part);
        }
    }
    void add(size_t joint, int buffer) {
        joint_of[buffer] = joint;
        parts[joint].push_back(buffer);
    }
};

Size stride_of(const BufferInfo& part) {
    return ceil_div(part.elements, kPartAlignment) * Size(kPartAlignment);
}

/// The buffers that some steps read and write, to decide whether another step may move past them.
class Touched {
  public:
    void add(const ListedStep& step) {
        const auto [read, written] = buffers_of(step);
        read_.insert(read.begin(), read.end());
        written_.insert(written.begin(), written.end());
        size_ |= std::holds_alternative<ListedSize>(step.step);
    }

    bool meets(const ListedStep& step) const {
        // A size that only the device knows is known from its step on.
        if (size_ || std::holds_alternative<ListedSize>(step.step)) return true;
        const auto [read, written] = buffers_of(step);
        return std::any_of(read.begin(), read.end(), [&](int b) { return written_.contains(b); }) ||
               std::any_of(written.begin(), written.end(),
                           [&](int b) { return written_.contains(b) || read_.contains(b); });
    }

  private:
    struct Buffers {
        std::vector<int> read, written;
    };
    static Buffers buffers_of(const ListedStep& step) {
        Buffers out;
        if (const auto* copy = std::get_if<CopyStep>(&step.step))
            out = {{copy->source}, {copy->target}};
        if (const auto* call = std::get_if<CallStep>(&step.step))
            out = {{call->input}, {call->output}};
        if (const auto* kernel = std::get_if<ListedKernel>(&step.step))
            for (size_t k = 0; k < bound_buffers(kernel->code); ++k) {
                const KernelBuffer& b = kernel->code.buffers[k];
                (b.written ? out.written : out.read).push_back(b.buffer);
            }
        if (const auto* loop = std::get_if<ListedLoop>(&step.step)) {
            std::map<int, int> uses;
            count_uses(*loop, uses);
            for (const auto& [buffer, count] : uses) out.written.push_back(buffer);
        }
        return out;
    }

    std::set<int> read_, written_;
    bool size_ = false;
};

class Sharing {
  public:
    Sharing(KernelList& list, const ListTarget& target)
        : list_(list), program_(*list.program), target_(target) {
        for (const ResultInfo& result : program_.results) fixed_.insert(result.buffer);
        find_fixed(list.steps);
        for_kernels(list.steps, [&](const ListedKernel& k) { ++runs_[k.emitted.get()]; });
    }

    void run() {
        find_in(list_.steps);
        if (saved_ <= added_barriers()) return;
        for (const std::vector<int>& parts : joints_.parts) wholes_.push_back(add_whole(parts));
        for (SharedPlan& plan : plans_) carry_out(plan);
    }

  private:
    const BufferInfo& info(int buffer) const {
        return program_.buffers[static_cast<size_t>(buffer)];
    }

    /// Buffers that are named by anything but a kernel.
    void find_fixed(const std::vector<ListedStep>& steps) {
        for (const ListedStep& step : steps) {
            if (const auto* copy = std::get_if<CopyStep>(&step.step))
                fixed_.insert({copy->source, copy->target});
            if (const auto* call = std::get_if<CallStep>(&step.step))
                fixed_.insert({call->input, call->output});
            if (const auto* size = std::get_if<ListedSize>(&step.step)) fixed_.insert(size->buffer);
            const auto* kernel = std::get_if<ListedKernel>(&step.step);
            if (kernel && kernel->code.sizes_buffer >= 0)
                for (const KernelBuffer& b : kernel->code.buffers) fixed_.insert(b.buffer);
            const auto* loop = std::get_if<ListedLoop>(&step.step);
            if (!loop) continue;
            fixed_.insert(loop->loop.alive);
            for (const auto& [first, second] : loop->loop.rotation) fixed_.insert({first, second});
            find_fixed(loop->body);
        }
    }

    // --- The grouping of kernels, and the order in which all run.

    void find_in(std::vector<ListedStep>& steps) {
        for (ListedStep& step : steps)
            if (auto* loop = std::get_if<ListedLoop>(&step.step)) find_in(loop->body);
        SharedPlan plan{&steps, {}};
        for (size_t k = 0; k < steps.size(); ++k) plan.order.push_back({k});
        for (size_t at = 0; at < plan.order.size(); ++at)
            if (const ListedKernel* kernel = kernel_of(plan, plan.order[at][0]))
                if (may_share(*kernel)) at = gather(plan, at);
        plans_.push_back(std::move(plan));
    }

    static const ListedKernel* kernel_of(const SharedPlan& plan, size_t step) {
        return std::get_if<ListedKernel>(&(*plan.steps)[step].step);
    }

    double most(const Size& size) const {
        return static_cast<double>(size.upper_bound(target_.facts.largest));
    }
    double bytes_of(const ListedKernel& kernel) const {
        return most(kernel.work.bytes_read) + most(kernel.work.bytes_written);
    }

    /// There are others, its launch is a good part of its time, and it can run several times over.
    bool may_share(const ListedKernel& kernel) const {
        if (!kernel.emitted || runs_.at(kernel.emitted.get()) < 2 ||
            kernel.code.sizes_buffer >= 0 || free_dimension(kernel.code) < 0)
            return false;
        const DeviceProfile& profile = target_.profile;
        const double seconds =
            std::max(most(kernel.work.operations) / profile.operations_per_second,
                     bytes_of(kernel) / profile.bytes_per_second);
        return seconds <= costs::kLongestShared * profile.seconds_per_launch;
    }

    /// Returns how many can be launched together and still find the data of those before them in
    /// the cache.
    size_t most_together(const ListedKernel& kernel) const {
        const DeviceProfile& profile = target_.profile;
        const double cached = static_cast<double>(profile.cache_bytes) / bytes_of(kernel);
        return std::min({costs::kMostShared,
                         size_t{profile.max_groups[free_dimension(kernel.code)]},
                         static_cast<size_t>(std::min(cached, 1.0 * costs::kMostShared))});
    }

    /// Moves alike kernels to the kernel at a place of the order. Returns its new place: steps that
    /// they need, and it does not, come before it.
    size_t gather(SharedPlan& plan, size_t at) {
        const auto begin = plan.order.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = begin + std::min(static_cast<std::ptrdiff_t>(costs::kSharedWithin),
                                          plan.order.end() - begin);
        const auto is_like_it = [&](const Together& o) { return is_alike(plan, *begin, o[0]); };
        if (std::none_of(begin + 1, end, is_like_it)) return at;
        std::vector<Together> order(begin, end);
        const size_t own = gather_in(plan, order);
        if (order[own].size() < 2 || !join_buffers(plan, order[own])) return at;
        saved_ += static_cast<int64_t>(order[own].size()) - 1;
        plan.order.erase(begin, end);
        plan.order.insert(plan.order.begin() + static_cast<std::ptrdiff_t>(at),
                          std::make_move_iterator(order.begin()),
                          std::make_move_iterator(order.end()));
        return at + own;
    }

    /// The same for the first of `order`, which it changes.
    size_t gather_in(const SharedPlan& plan, std::vector<Together>& order) const {
        const size_t most = most_together(*kernel_of(plan, order[0][0]));
        const auto step = [&](size_t place) -> const ListedStep& {
            return (*plan.steps)[order[place][0]];
        };
        Touched after;  // steps that it must come before, and itself
        after.add(step(0));
        size_t own = 0;
        for (size_t other = 1; other < order.size() && order[own].size() < most;) {
            if (after.meets(step(other))) {
                after.add(step(other++));
            } else if (is_alike(plan, order[own], order[other][0])) {
                after.add(step(other));
                own = bring(order, own, other, needed_between(plan, order, own, other));
            } else {
                ++other;
            }
        }
        return own;
    }

    /// Returns the steps between two places that must run before the later one.
    static std::vector<size_t> needed_between(const SharedPlan& plan,
                                              const std::vector<Together>& order, size_t own,
                                              size_t other) {
        std::vector<size_t> out;
        Touched later;
        later.add((*plan.steps)[order[other][0]]);
        for (size_t k = other - 1; k > own; --k)
            if (const ListedStep& step = (*plan.steps)[order[k][0]]; later.meets(step))
                out.insert(out.begin(), k), later.add(step);
        return out;
    }

    /// Joins `other` to `own`, and moves the steps that it needs before them.
    static size_t bring(std::vector<Together>& order, size_t own, size_t other,
                        const std::vector<size_t>& needed) {
        const auto at = [&](size_t place) {
            return order.begin() + static_cast<std::ptrdiff_t>(place);
        };
        order[own].push_back(order[other][0]);
        order.erase(at(other));
        for (size_t place : needed) {
            std::rotate(at(own), at(place), at(place + 1));
            ++own;
        }
        return own;
    }

    /// The same kernel with the same parameters, over buffers of the same sizes.
    bool is_alike(const SharedPlan& plan, const Together& members, size_t other) const {
        const ListedKernel &first = *kernel_of(plan, members[0]), *next = kernel_of(plan, other);
        if (!next || next->emitted != first.emitted ||
            host_params(next->code) != host_params(first.code) ||
            next->code.groups != first.code.groups)
            return false;
        for (size_t k = 0; k < bound_buffers(first.code); ++k) {
            const int a = first.code.buffers[k].buffer, b = next->code.buffers[k].buffer;
            if (a != b && !(may_be_part(a) && may_be_part(b) && info(a).dtype == info(b).dtype &&
                            info(a).elements == info(b).elements))
                return false;
        }
        return true;
    }

    bool may_be_part(int buffer) const {
        return info(buffer).role == BufferRole::Temporary && !fixed_.contains(buffer);
    }

    /// Makes the different buffers of the members' bindings parts of one buffer each; returns false
    /// if it cannot.
    bool join_buffers(const SharedPlan& plan, const Together& members) {
        Joints joints = joints_;
        for (size_t k = 0; k < bound_buffers(kernel_of(plan, members[0])->code); ++k) {
            const std::vector<int> buffers = bound_by(plan, members, k);
            if (std::all_of(buffers.begin(), buffers.end(), [&](int b) { return b == buffers[0]; }))
                continue;
            joints.join(buffers);
            if (!is_bindable(joints.parts[joints.joint_of.at(buffers[0])])) return false;
        }
        joints_ = std::move(joints);
        return true;
    }

    /// Returns each member's buffer at binding k.
    static std::vector<int> bound_by(const SharedPlan& plan, const Together& members, size_t k) {
        std::vector<int> out;
        for (size_t step : members) out.push_back(kernel_of(plan, step)->code.buffers[k].buffer);
        return out;
    }

    /// Returns whether all of them fit as one buffer into every form of binding.
    bool is_bindable(const std::vector<int>& parts) const {
        KernelBuffer whole;
        whole.dtype = info(parts[0]).dtype;
        whole.elements = stride_of(info(parts[0])) * Size(static_cast<int64_t>(parts.size()));
        return whole.elements.upper_bound(target_.facts.largest) <= INT32_MAX &&
               takes_any_form(whole, target_.profile, target_.facts);
    }

    /// Steps that fill parts of one buffer wait for one another.
    int64_t added_barriers() const {
        std::vector<int64_t> writers(joints_.parts.size());
        for (const SharedPlan& plan : plans_)
            for (const Together& members : plan.order) {
                std::set<size_t> written;
                for (size_t step : members) {
                    const ListedKernel* kernel = kernel_of(plan, step);
                    if (!kernel) continue;
                    for (const KernelBuffer& b : kernel->code.buffers)
                        if (b.written && joints_.joint_of.contains(b.buffer))
                            written.insert(joints_.joint_of.at(b.buffer));
                }
                for (size_t joint : written) ++writers[joint];
            }
        int64_t out = 0;
        for (int64_t count : writers) out += std::max<int64_t>(0, count - 1);
        return out;
    }

    // --- The shared dispatches.

    int add_whole(const std::vector<int>& parts) {
        if (parts.empty()) return -1;
        const BufferInfo part = info(parts[0]);
        BufferInfo whole;
        whole.name = part.name + " and " + std::to_string(parts.size() - 1) + " more";
        whole.dtype = part.dtype;
        whole.elements = stride_of(part) * Size(static_cast<int64_t>(parts.size()));
        program_.buffers.push_back(std::move(whole));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    /// Returns the part of the joined buffer in which the copies of a kernel find a binding.
    PartOf part_of(const std::vector<int>& buffers) const {
        const auto joint = joints_.joint_of.find(buffers[0]);
        if (joint == joints_.joint_of.end()) return {};
        const int whole = wholes_[joint->second];
        PartOf out{whole, info(whole).elements, stride_of(info(buffers[0])), {}};
        const std::vector<int>& parts = joints_.parts[joint->second];
        for (int buffer : buffers)
            out.numbers.push_back(std::find(parts.begin(), parts.end(), buffer) - parts.begin());
        return out;
    }

    void carry_out(SharedPlan& plan) {
        std::map<const KernelInfo*, int> alone;
        for (const Together& members : plan.order)
            if (const ListedKernel* kernel = kernel_of(plan, members[0]);
                kernel && members.size() == 1)
                ++alone[kernel->emitted.get()];
        std::vector<ListedStep> out;
        for (const Together& members : plan.order) {
            ListedKernel* kernel = std::get_if<ListedKernel>(&(*plan.steps)[members[0]].step);
            if (kernel && members.size() > 1) run_together(plan, members);
            if (kernel && members.size() == 1)
                put_in_parts(*kernel, kernel->emitted && alone[kernel->emitted.get()] > 1);
            out.push_back(std::move((*plan.steps)[members[0]]));
        }
        *plan.steps = std::move(out);
    }

    void run_together(const SharedPlan& plan, const Together& members) {
        ListedKernel& made = std::get<ListedKernel>((*plan.steps)[members[0]].step);
        std::vector<PartOf> parts(made.code.buffers.size());
        for (size_t k = 0; k < bound_buffers(made.code); ++k)
            parts[k] = part_of(bound_by(plan, members, k));
        made.code = in_larger_buffers(made.code, parts, members.size(), false);
        for (size_t k = 1; k < members.size(); ++k) add_part(made, *kernel_of(plan, members[k]));
        made.ready = nullptr, made.tuning_key.clear();
        changed(made);
    }

    /// Kernels that are alike stay so: their parts begin where a parameter says.
    void put_in_parts(ListedKernel& kernel, bool by_parameter) {
        const auto moved = [&](const KernelCode& code) {
            std::vector<PartOf> parts;
            for (const KernelBuffer& b : code.buffers)
                parts.push_back(b.space == MemorySpace::Bound ? part_of({b.buffer}) : PartOf());
            return in_larger_buffers(code, parts, 1, by_parameter);
        };
        const std::vector<KernelBuffer>& buffers = kernel.code.buffers;
        if (std::none_of(buffers.begin(), buffers.end(), [&](const KernelBuffer& b) {
                return joints_.joint_of.contains(b.buffer);
            }))
            return;
        kernel.code = moved(kernel.code);
        if (kernel.ready) kernel.ready = std::make_shared<KernelCode>(moved(*kernel.ready));
        changed(kernel);
    }

    void changed(ListedKernel& kernel) const {
        kernel.emitted = nullptr;
        if (target_.verify) verify(kernel.code, KernelStage::Placed, "share_dispatches");
        note_pass(kernel, {"share_dispatches"}, kernel.code, target_);
    }

    KernelList& list_;
    Program& program_;
    const ListTarget& target_;
    std::set<int> fixed_;
    std::map<const KernelInfo*, int> runs_;  // how many steps run each
    std::vector<SharedPlan> plans_;          // of inner lists first
    Joints joints_;
    std::vector<int> wholes_;  // by joint: its buffer
    int64_t saved_ = 0;        // launches
};

}  // namespace

void share_dispatches(KernelList& list, const ListTarget& target) { Sharing(list, target).run(); }

}  // namespace firn
