// Finds loops whose iterations exchange elements at distances of powers of two.
#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "compiler/kernel/index_form.h"
#include "compiler/mapping/before/grid_dimensions.h"
#include "compiler/mapping/list/radix_stages.h"

namespace firn {
namespace {

bool is_swap(const ListedLoop& loop, std::map<int, int>& next) {
    for (const auto& [first, second] : loop.loop.rotation) next[first] = second;
    return !next.empty() && std::all_of(next.begin(), next.end(), [&](const auto& pair) {
        const auto back = next.find(pair.second);
        return back != next.end() && back->second == pair.first && pair.first != pair.second;
    });
}

bool is_whole_word(DType t) {
    return t == f32 || t == i32 || t == u32 || t == f64 || t == i64 || t == u64;
}

/// Keeps in `next` the buffers that the kernel reads, each with the buffer that is written for it;
/// returns false if the kernel accesses others.
bool keep_read(const KernelCode& code, std::map<int, int>& next) {
    std::set<int> read, written;
    for (const KernelNode& n : code.nodes) {
        const auto* access = n.get_if<AccessAttr>();
        if (!access) continue;
        const KernelBuffer& b = code.buffers[static_cast<size_t>(access->buffer)];
        if (b.space != MemorySpace::Bound || (n.op != KernelOp::Load && n.op != KernelOp::Store))
            return false;
        (n.op == KernelOp::Store ? written : read).insert(b.buffer);
        if (next.contains(b.buffer) && !is_whole_word(b.dtype)) return false;
    }
    for (int buffer : written)
        if (!next.contains(buffer) || read.contains(buffer)) return false;
    std::erase_if(next, [&](const auto& pair) { return written.contains(pair.first); });
    return std::all_of(next.begin(), next.end(),
                       [&](const auto& pair) { return written.contains(pair.second); });
}

/// Parameters, sizes of ranges and of buffers: only integers follow the induction, and no size.
bool follows_by_numbers(const Program& program, const KernelCode& code,
                        const std::string& induction) {
    const auto fixed = [&](const Size& size) { return !mentions(size, induction); };
    const auto moves = [&](const Size& size) { return !fixed(size); };
    for (const ParamInfo& p : code.params) {
        const int host = p.scalar - static_cast<int>(program.arguments.size());
        if (host >= 0 && any_size(program.host_scalars, host, moves)) return false;
        if (!data_symbols(p.size).empty()) return false;
    }
    return std::all_of(code.ranges.begin(), code.ranges.end(),
                       [&](const Range& r) { return fixed(r.extent); }) &&
           std::all_of(code.buffers.begin(), code.buffers.end(),
                       [&](const KernelBuffer& b) { return fixed(b.elements); }) &&
           std::all_of(code.groups.begin(), code.groups.end(), fixed);
}

/// Returns the number of points if a kernel by hand guards its points by a size.
std::optional<Size> guarded(const KernelCode& code, IndexForms& forms, const PointAxis& axis) {
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::Less) continue;
        const auto& point = forms.of(n.args[0]);
        const auto& bound = forms.of(n.args[1]);
        const bool is_point = point.is_sum() && point.sum.offset.is(0) &&
                              point.sum.terms.size() == 2 &&
                              coefficient_of(point.sum, axis.group).is(axis.group_size) &&
                              coefficient_of(point.sum, axis.lane).is(1);
        if (is_point && bound.is_size()) return bound.sum.offset;
    }
    return std::nullopt;
}

/// Adds the dimensions that a range of the grid is known to have.
void add_dimensions(const KernelCode& code, RangeId range, std::vector<PointAxis>& axes) {
    const Size& all = code[range].extent;
    std::vector<int64_t> extents;  // x first
    if (all.is_constant() && range == last_grid_range(code)) extents = dimensions_in(code, range);
    if (extents.size() < 2) return axes.push_back({.grid = range, .extent = all});
    int64_t stride = all.constant();
    for (size_t k = extents.size(); k-- > 0;) {
        stride /= extents[k];
        axes.push_back({.grid = range, .extent = Size(extents[k]), .stride = stride});
    }
}

/// The axes of the kernel's points, the slowest first; nothing if it has other ranges.
std::vector<PointAxis> axes_of(const KernelCode& code, IndexForms& forms) {
    std::vector<PointAxis> grid, mapped(3);
    for (RangeId id : code.ranges.ids()) {
        const Range& range = code[id];
        PointAxis& axis = mapped[static_cast<size_t>(2 - std::clamp(range.dim, 0, 2))];
        switch (range.kind) {
            case RangeKind::Grid: add_dimensions(code, id, grid); break;
            case RangeKind::Group: axis.group = id, axis.extent = range.extent; break;
            case RangeKind::Invocation:
                if (!range.extent.is_constant()) return {};
                axis.lane = id, axis.group_size = range.extent.constant();
                break;
            default: return {};
        }
    }
    std::erase_if(mapped, [](const PointAxis& axis) { return !axis.group && !axis.lane; });
    for (PointAxis& axis : mapped) {
        if (!axis.group || !axis.lane) return {};
        const auto guard = guarded(code, forms, axis);
        axis.extent = guard ? *guard : axis.extent * Size(axis.group_size);
    }
    return grid.empty() ? mapped : mapped.empty() ? grid : std::vector<PointAxis>{};
}

/// Exponents of powers of two that grow or fall by 1 with the induction.
std::vector<Size> exponents_of(const KernelCode& code, IndexForms& forms,
                               const std::string& induction) {
    std::vector<Size> out;
    for (const KernelNode& n : code.nodes) {
        if (n.op != KernelOp::ShiftLeft || n.dtype != i32) continue;
        const KernelNode& one = code[n.args[0]];
        const IndexForm& by = forms.of(n.args[1]);
        if (one.op != KernelOp::Constant || !by.is_size()) continue;
        const Size& exponent = by.sum.offset;
        const Size grows =
            exponent.substitute({{induction, Size::symbol(induction) + Size(1)}}) - exponent;
        if ((grows.is(1) || grows.is(-1)) &&
            std::find(out.begin(), out.end(), exponent) == out.end())
            out.push_back(exponent);
    }
    return out;
}

}  // namespace

std::vector<RadixStages> find_stages(const Program& program, const ListedLoop& loop) {
    if (loop.body.size() != 1 || loop.loop.alive >= 0) return {};
    const auto* kernel = std::get_if<ListedKernel>(&loop.body[0].step);
    RadixStages found;
    if (!kernel || !is_swap(loop, found.next) || !keep_read(kernel->code, found.next) ||
        !follows_by_numbers(program, kernel->code, loop.loop.induction))
        return {};
    IndexForms forms(kernel->code);
    found.code = &kernel->code;
    found.induction = loop.loop.induction;
    found.axes = axes_of(kernel->code, forms);
    std::vector<RadixStages> out;
    for (const Size& exponent : exponents_of(kernel->code, forms, found.induction))
        for (size_t axis = 0; axis < found.axes.size(); ++axis)
            for (int64_t per_point : {2, 1}) {
                found.exponent = exponent;
                found.falls = proved_less_equal(
                    exponent.substitute(
                        {{found.induction, Size::symbol(found.induction) + Size(1)}}),
                    exponent);
                found.axis = axis, found.per_point = per_point;
                out.push_back(found);
            }
    return out;
}

Size least_exponent(const RadixStages& stages, int count, const Size& first) {
    const Size at = stages.falls ? first + Size(count - 1) : first;
    return stages.exponent.substitute({{stages.induction, at}});
}

}  // namespace firn
