// Finds loops of kernels whose rows are independent of one another.
#include "compiler/mapping/list/bands.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "compiler/mapping/list/one_group.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/program/size_env.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns the outermost range of the grid, or none.
RangeId outermost(const KernelCode& code) {
    for (RangeId range : code.ranges.ids())
        if (code[range].kind == RangeKind::Grid) return range;
    return {};
}

bool is_access(const KernelNode& n) {
    return n.op == KernelOp::Load || n.op == KernelOp::Store || n.op == KernelOp::Atomic;
}

/// An index as a multiple of the band's number plus a remainder in `rest`.
struct BandIndex {
    int64_t times = 0;
    Interval rest{0, 0};
};

void add_to(const KernelCode& code, NodeId id, RangeId band, BandIndex& out) {
    const KernelNode& n = code[id];
    const auto is_band = [&](NodeId node) {
        const auto* range = code[node].get_if<RangeId>();
        return range && *range == band;
    };
    if (n.op == KernelOp::Add) {
        for (NodeId arg : n.args) add_to(code, arg, band, out);
        return;
    }
    if (is_band(id)) {
        ++out.times;
        return;
    }
    if (n.op == KernelOp::Mul)
        for (size_t k : {0, 1}) {
            const auto* factor = code[n.args[1 - k]].get_if<Scalar>();
            if (!is_band(n.args[k]) || !factor) continue;
            out.times += factor->i;
            return;
        }
    out.rest = out.rest + n.interval;
}

/// Collects the buffers that the steps store to or rotate, and the grids of their kernels.
bool collect(const std::vector<ListedStep>& steps, Bands& bands) {
    for (const ListedStep& step : steps) {
        if (const auto* copy = std::get_if<CopyStep>(&step.step)) {
            bands.written.insert(copy->target);
        } else if (const auto* loop = std::get_if<ListedLoop>(&step.step)) {
            for (const auto& [first, second] : loop->loop.rotation)
                bands.written.insert({first, second});
            if (!collect(loop->body, bands)) return false;
        } else if (const auto* kernel = std::get_if<ListedKernel>(&step.step)) {
            if (!kernel->ready) return false;
            const std::vector<Size> grid = grid_extents(*kernel->ready);
            if (grid.size() < 2 || (!bands.count.is(0) && !(grid.back() == bands.count)))
                return false;
            bands.count = grid.back();
            for (const KernelNode& n : kernel->ready->nodes)
                if (n.op == KernelOp::Store || n.op == KernelOp::Atomic)
                    bands.written.insert(
                        kernel->ready->buffers[static_cast<size_t>(n.as<AccessAttr>().buffer)]
                            .buffer);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<int64_t> band_elements(const Bands& bands, const Size& elements) {
    const Size each = floor_div(elements, bands.count);
    if (!each.is_constant() || !(each * bands.count == elements)) return std::nullopt;
    return each.constant();
}

std::optional<Bands> bands_of(const Program& program, const ListedLoop& loop,
                              const DeviceProfile& profile, const SymbolFacts& facts) {
    Bands out{Size(0), {}};
    for (const auto& [first, second] : loop.loop.rotation) out.written.insert({first, second});
    if (!collect(loop.body, out) || out.count.is(0)) return std::nullopt;
    int64_t bytes = 0;
    for (int b : out.written) {
        const BufferInfo& info = program.buffers[static_cast<size_t>(b)];
        const auto elements = band_elements(out, info.elements);
        if (!elements) return std::nullopt;
        bytes += *elements * info.dtype.bytes();
    }
    const double groups =
        profile.parallel_invocations / static_cast<double>(band_group_size(profile));
    const bool busy = estimate(out.count, facts) >= groups;
    if (!busy || bytes > costs::kBandBytes ||
        out.count.upper_bound(facts.largest) > profile.max_groups[0])
        return std::nullopt;
    return out;
}

bool stays_in_bands(const KernelCode& ready, const Bands& bands) {
    const RangeId band = outermost(ready);
    if (!band || !(ready[band].extent == bands.count)) return false;
    return std::all_of(ready.nodes.begin(), ready.nodes.end(), [&](const KernelNode& n) {
        if (!is_access(n)) return !names_buffer(n.op);
        const auto& access = n.as<AccessAttr>();
        const KernelBuffer& buffer = ready.buffers[static_cast<size_t>(access.buffer)];
        if (!bands.written.contains(buffer.buffer)) return n.op == KernelOp::Load;
        const auto elements = band_elements(bands, buffer.elements);
        BandIndex index;
        add_to(ready, n.args[0], band, index);
        return elements && index.times == *elements && index.rest.lo >= 0 &&
               index.rest.hi + access.width <= *elements;
    });
}

}  // namespace firn
