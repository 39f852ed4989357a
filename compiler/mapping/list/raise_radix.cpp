// Runs several iterations of loops of butterflies in one kernel.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "compiler/kernel/count.h"
#include "compiler/mapping/list/bands.h"
#include "compiler/mapping/list/list_passes.h"
#include "compiler/mapping/list/one_group.h"
#include "compiler/mapping/list/radix_stages.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns 1 if a <= b, else 0.
Size is_at_most(const Size& a, const Size& b) {
    return min(Size(1), max(Size(0), b - a + Size(1)));
}

/// Returns the exponent of the largest power of two that divides a size, at most 30.
Size power_in(const Size& size) {
    Size out(0);
    for (int k = 1; k <= 30; ++k)
        out = out + Size(1) - min(Size(1), mod(size, Size(int64_t(1) << k)));
    return out;
}

/// The inputs and the facts for the steps of one loop.
struct RaiseRun {
    const ListTarget& target;
    const ListedLoop& loop;
    const ListedKernel& kernel;
    const RadixStages& stages;
    int most_stages = 0;                  // in one kernel
    std::vector<BandDistance> distances;  // there is a kernel for each
    SymbolFacts facts;                    // with the bounds of inductions
    int loops = 0;
};

/// A loop of iterations, or of kernels that take some.
ListedLoop loop_of(RaiseRun& run, const Size& trips, int64_t most) {
    ListedLoop out;
    out.loop.induction = run.stages.induction + "." + std::to_string(run.loops++);
    out.loop.trips = trips;
    out.loop.line = run.loop.loop.line;
    out.node = run.loop.node;
    run.facts.largest[out.loop.induction] = std::max<int64_t>(most - 1, 0);
    return out;
}

/// `trips` iterations from `first` on, a launch each.
ListedLoop one_by_one(RaiseRun& run, const Size& first, const Size& trips, int64_t most) {
    ListedLoop out = loop_of(run, trips, most);
    out.loop.rotation = run.loop.loop.rotation;
    ListedKernel kernel = run.kernel;
    const SizeMap iteration{{run.stages.induction, first + Size::symbol(out.loop.induction)}};
    for (ParamInfo& p : kernel.code.params) p.size = p.size.substitute(iteration);
    for (Size Work::*part : {&Work::operations, &Work::bytes_read, &Work::bytes_written})
        kernel.work.*part = (kernel.work.*part).substitute(iteration);
    out.body.push_back({std::move(kernel)});
    return out;
}

/// Returns a loop that runs `count` iterations in one launch, `used` times: 1 or 0.
std::optional<ListedLoop> joined(RaiseRun& run, int count, const Size& first, BandDistance distance,
                                 const Size& used) {
    auto stages = join_stages(run.stages, count, first, distance, run.facts);
    if (!stages) return std::nullopt;
    ListedLoop out = loop_of(run, used, 1);
    out.loop.rotation = run.loop.loop.rotation;
    ListedKernel kernel;
    kernel.code = std::move(stages->code);
    verify(kernel.code, KernelStage::Ready, "raise_radix");
    kernel.work = largest(count_work(kernel.code));
    kernel.lines = run.kernel.lines;
    kernel.values = run.kernel.values;
    note_pass(kernel, {"raise_radix"}, kernel.code, run.target);
    out.body.push_back({std::move(kernel)});
    return out;
}

/// Returns 1 if a kernel of the distance may take `count` iterations from `first` on, else 0.
Size may_use(const RaiseRun& run, int count, const Size& first, BandDistance distance) {
    const RadixStages& stages = run.stages;
    const Size exponent = least_exponent(stages, count, first);
    const int points = count - (stages.per_point == 2 ? 1 : 0);
    const Size most = power_in(stages.axes[stages.axis].extent) - Size(points);
    switch (distance) {
        case BandDistance::One:
            return is_at_most(Size(0), exponent) * is_at_most(exponent, min(Size(0), most));
        case BandDistance::Blocks:
            return is_at_most(Size(2), exponent) * is_at_most(exponent, most);
        case BandDistance::Any: break;
    }
    const Size least(run.distances.size() > 1 ? 1 : 0);
    return is_at_most(least, exponent) * is_at_most(exponent, most);
}

/// Adds `trips` iterations from `first` on, as many in one kernel as can be: `count`, half of that
/// for those that are left, and so on. Returns false if they cannot be joined.
bool add_iterations(RaiseRun& run, const Size& first, const Size& trips, int count,
                    std::vector<ListedStep>& out) {
    const int64_t most = std::max<int64_t>(trips.upper_bound(run.facts.largest), 0);
    if (count < 1) {
        out.push_back({one_by_one(run, first, trips, most)});
        return true;
    }
    const Size whole = floor_div(trips, Size(count)), rest = mod(trips, Size(count));
    // Distances begin or end with 1: those that are left lie at the other end.
    const bool falls = run.stages.falls;
    if (falls && !add_iterations(run, first, rest, count / 2, out)) return false;
    ListedLoop loop = loop_of(run, whole, most / count);
    const Size at =
        (falls ? first + rest : first) + Size(count) * Size::symbol(loop.loop.induction);
    Size left(1);
    for (BandDistance distance : run.distances) {
        if (distance == BandDistance::One && count < run.most_stages) continue;
        const Size used = may_use(run, count, at, distance);
        auto step = joined(run, count, at, distance, used);
        if (!step) return false;
        loop.body.push_back({std::move(*step)});
        left = left - used;
    }
    loop.body.push_back({one_by_one(run, at, left * Size(count), count)});
    out.push_back({std::move(loop)});
    return falls || add_iterations(run, first + whole * Size(count), rest, count / 2, out);
}

/// Returns the distances to try. A CPU driver loads and stores blocks of four neighbours. If bands
/// lie beside one another the mapping finds the blocks itself.
std::vector<BandDistance> distances(int64_t scale, const DeviceProfile& profile) {
    if (scale > 1) return {BandDistance::Any};
    return {BandDistance::One,
            rules_of(profile).subgroups_run_serially ? BandDistance::Blocks : BandDistance::Any};
}

/// Returns whether one group, or a group for each row, runs all iterations faster (see
/// put_in_sequence). Joined iterations take little longer than one, and cost one launch: the extra
/// time of one group for as many iterations must be less than that.
bool needs_no_launches(const KernelList& list, const ListedLoop& loop, const ListTarget& target) {
    ListedLoop mapped = loop;
    auto& kernel = std::get<ListedKernel>(mapped.body[0].step);
    if (kernel.by_hand) return false;
    const DeviceProfile& profile = target.profile;
    const double most = profile.seconds_per_launch / costs::kMostStages;
    const uint32_t group = one_group_sizes(profile)[0];
    if (map_to_one_group(kernel.code, group, most, profile, target.facts, kernel_options(target)))
        return true;
    kernel.ready = std::make_shared<KernelCode>(kernel.code);
    const auto bands = bands_of(*list.program, mapped, target.profile, target.facts);
    return bands && stays_in_bands(*kernel.ready, *bands);
}

/// Returns the steps that replace the loop; nothing if it does not change.
std::optional<std::vector<ListedStep>> raised(const KernelList& list, const ListedLoop& loop,
                                              const ListTarget& target) {
    for (const RadixStages& stages : find_stages(*list.program, loop)) {
        const auto one =
            join_stages(stages, 1, Size::symbol(stages.induction), BandDistance::Any, target.facts);
        if (!one) continue;
        if (needs_no_launches(list, loop, target)) return std::nullopt;
        RaiseRun run{target,
                     loop,
                     std::get<ListedKernel>(loop.body[0].step),
                     stages,
                     costs::kMostStages,
                     distances(one->scale, target.profile),
                     target.facts};
        const int64_t copies = run.distances.back() == BandDistance::Blocks ? kBandsInBlock : 1,
                      buffers = static_cast<int64_t>(stages.next.size());
        while (run.most_stages > 1 && (copies * buffers << run.most_stages) > costs::kHeldInBands)
            --run.most_stages;
        std::vector<ListedStep> out;
        if (add_iterations(run, Size(0), max(loop.loop.trips, Size(0)), run.most_stages, out))
            return out;
    }
    return std::nullopt;
}

std::vector<ListedStep> raised_in(const KernelList& list, std::vector<ListedStep> steps,
                                  const ListTarget& target) {
    std::vector<ListedStep> out;
    for (ListedStep& step : steps) {
        auto* loop = std::get_if<ListedLoop>(&step.step);
        if (auto made = loop ? raised(list, *loop, target) : std::nullopt) {
            std::move(made->begin(), made->end(), std::back_inserter(out));
            continue;
        }
        if (loop) loop->body = raised_in(list, std::move(loop->body), target);
        out.push_back(std::move(step));
    }
    return out;
}

}  // namespace

void raise_radix(KernelList& list, const ListTarget& target) {
    list.steps = raised_in(list, std::move(list.steps), target);
}

}  // namespace firn
