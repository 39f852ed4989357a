// Small kernels that do not need each other run in one dispatch.
#include "compiler/lower/side_by_side.h"

#include <algorithm>
#include <set>

#include "compiler/lower/count.h"
#include "compiler/lower/place.h"
#include "compiler/lower/rebuild.h"

namespace firn {
namespace {

constexpr int64_t kSmallOnCpu = 16384, kSmallOnGpu = 131072;   // indices
constexpr double kMaskedStore = 150;   // operations that a store by no lane takes on a CPU driver: as long as any
constexpr double kLeastGain = 2;       // launches saved must be worth that much more than what is done for nothing

int grid_range(const KernelCode& code) {
    int found = -1;
    for (size_t r = 0; r < code.ranges.size(); ++r) {
        if (code.ranges[r].kind != RangeKind::Grid) continue;
        if (found >= 0) return -1;
        found = static_cast<int>(r);
    }
    return found;
}

int64_t indices_of(const KernelCode& code) {
    return code.ranges[static_cast<size_t>(grid_range(code))].extent.constant();
}

/// Operations, loads and stores of one index.
double work_of(KernelCode code, const DeviceProfile& profile) {
    place(code);
    const Work work = count_work(code);
    double loads = 0, stores = 0;
    for (int id : code.regions[0].order) loads += code.nodes[static_cast<size_t>(id)].op == Op::Load;
    for (int id : code.regions[0].effects) stores += code.nodes[static_cast<size_t>(id)].op == Op::Store;
    return static_cast<double>(work.operations.constant()) / static_cast<double>(std::max<int64_t>(1, indices_of(code))) +
           loads * profile.seconds_per_load * profile.operations_per_second + stores * kMaskedStore;
}

}  // namespace

bool is_small_kernel(const KernelCode& code, const DeviceProfile& profile) {
    const int range = grid_range(code);
    if (range < 0) return false;
    const Size& extent = code.ranges[static_cast<size_t>(range)].extent;
    const int64_t most = profile.device_class == DeviceClass::Cpu ? kSmallOnCpu : kSmallOnGpu;
    if (!extent.is_constant() || extent.constant() < 1 || extent.constant() > most) return false;
    const bool loops = std::any_of(code.nodes.begin(), code.nodes.end(), [](const KernelNode& n) {
        return n.op == Op::For || n.op == Op::Branch || n.op == Op::Atomic || n.op == Op::RowReduce;
    });
    return !loops;
}

bool independent(const KernelCode& a, const KernelCode& b) {
    for (const KernelBuffer& x : a.buffers)
        for (const KernelBuffer& y : b.buffers)
            if (x.buffer == y.buffer && (x.written || y.written)) return false;
    return true;
}

bool may_stand_beside(const std::vector<KernelCode>& parts, const KernelCode& next, const DeviceProfile& profile) {
    if (parts.empty()) return true;
    std::set<int> read, written;
    double total = 0, extra = 0;
    auto count = [&](const KernelCode& code) {
        for (const KernelBuffer& b : code.buffers) (b.written ? written : read).insert(b.buffer);
        total += static_cast<double>(indices_of(code));
    };
    for (const KernelCode& part : parts) count(part);
    count(next);
    const size_t texels = profile.texel_loads ? read.size() : 0;   // of elements: blocks do not begin where parts do
    const size_t storage = written.size() + (profile.texel_loads ? 0 : read.size());
    if (texels > profile.max_texel_buffers || storage > profile.max_storage_buffers) return false;
    if (profile.device_class != DeviceClass::Cpu) return true;
    auto add = [&](const KernelCode& code) {
        extra += (total - static_cast<double>(indices_of(code))) * work_of(code, profile);
    };
    for (const KernelCode& part : parts) add(part);
    add(next);
    const double saved = static_cast<double>(parts.size()) * profile.seconds_per_launch;
    return extra / profile.operations_per_second * kLeastGain < saved;
}

bool is_larger(const KernelCode& code, const std::vector<KernelCode>& parts) {
    int64_t total = 0;
    for (const KernelCode& part : parts) total += indices_of(part);
    return indices_of(code) > total;
}

KernelCode side_by_side(const std::vector<KernelCode>& parts, const SymbolFacts& facts) {
    KernelCode out;
    out.name = parts[0].name;
    KernelBuilder b(out, facts);
    int64_t total = 0;
    for (const KernelCode& part : parts) total += indices_of(part);
    Range range;
    range.name = "i";
    range.extent = Size(total);
    const int index = b.range(b.add_range(range));
    std::vector<int> all;
    int64_t begin = 0;
    for (const KernelCode& part : parts) {
        const int64_t count = indices_of(part);
        const int own = b.sub(index, b.integer(begin));
        // Outside it reads where it may, and stores nothing.
        const int at = b.make(Op::Max, i32, {b.make(Op::Min, i32, {own, b.integer(count - 1)}), b.integer(0)});
        const int inside = b.make(Op::Equal, boolean, {own, at});
        Rebuild rebuild(part, b);
        rebuild.bind_grid(grid_range(part), at);
        std::vector<int> effects = rebuild.effects(0);
        const int region = b.add_region();
        b.code().regions[static_cast<size_t>(region)].effects = std::move(effects);
        all.push_back(b.branch(inside, region, -1, true));
        begin += count;
    }
    b.code().regions[0].effects = std::move(all);
    return out;
}

}  // namespace firn
