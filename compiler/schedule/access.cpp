// Access maps: the indices at which a value is asked for, as functions of a kernel's grid indices.
#include "compiler/schedule/access.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "compiler/base/error.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/text.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

enum Tag : uint64_t { kGrid, kRange, kConstant, kAffine, kOpaque, kReshape, kKept };

using Ranges = std::vector<std::pair<uint64_t, double>>;

Ranges merge(const Ranges& a, const Ranges& b) {
    Ranges out;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return out;
}

uint64_t id_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

int AccessMaps::expr(std::vector<uint64_t> key, Ranges ranges, uint64_t innermost) {
    auto [it, added] = expr_table_.emplace(std::move(key), static_cast<int>(exprs_.size()));
    if (added) exprs_.push_back({it->first, std::move(ranges), innermost});
    return it->second;
}

uint64_t AccessMaps::size_id(const Size& size) {
    const auto [it, added] = sizes_.emplace(size.text(), sizes_.size());
    if (added) size_of_.push_back(size);
    return it->second;
}

int AccessMaps::constant(const Size& value) { return expr({kConstant, size_id(value)}, {}); }

int AccessMaps::affine(int base, int64_t scale, const Size& offset) {
    if (scale == 1 && offset.is(0)) return base;
    return expr(
        {kAffine, static_cast<uint64_t>(base), static_cast<uint64_t>(scale), size_id(offset)},
        exprs_[base].ranges, exprs_[base].innermost);
}

int AccessMaps::kept(int index, const Node& gather, size_t axis, int asked) {
    // Beyond the edge a constant replaces what is read. A moved index is no longer the grid's own.
    const Bounds mode = gather.as<GatherAttr>().modes[axis];
    const Size &n = gather.inputs[0]->shape[axis],
               &extent = gather.shape[static_cast<size_t>(asked)];
    const bool moved = exprs_[index].key[0] == kAffine;
    if (mode == Bounds::Constant || mode == Bounds::Unchecked || moved ||
        (n - extent).lower_bound() >= 0)
        return index;
    return expr({kKept, static_cast<uint64_t>(index), static_cast<uint64_t>(mode), size_id(n)},
                exprs_[index].ranges, exprs_[index].innermost);
}

AccessMaps::Ranges AccessMaps::ranges_of(const Node& node, int map) const {
    Ranges loops;
    if (loops_of_)
        for (const auto& [loop, trips] : loops_of_(node)) loops.emplace_back(id_of(loop), trips);
    std::sort(loops.begin(), loops.end());
    return merge(maps_[map].ranges, loops);
}

int AccessMaps::range(const Node& node, size_t axis, int map) {
    const uint64_t id = id_of(&node) + axis;
    Ranges ranges = ranges_of(node, map);
    std::vector<uint64_t> key = {kRange, id};
    for (const auto& [outer, trips] : ranges) key.push_back(outer);
    ranges = merge(ranges, {{id, estimate(node.inputs[0]->shape[axis], facts_)}});
    return expr(std::move(key), std::move(ranges));
}

int AccessMaps::opaque(uint64_t tag, const Node& node, int axis, int map) {
    return expr({tag, id_of(&node), static_cast<uint64_t>(axis), static_cast<uint64_t>(map)},
                ranges_of(node, map), maps_[map].innermost);
}

int AccessMaps::tuple(std::vector<int> axes) {
    Ranges ranges;
    uint64_t innermost = kNoAxis;
    for (int e : axes) {
        ranges = merge(ranges, exprs_[e].ranges);
        innermost = std::min(innermost, exprs_[e].innermost);
    }
    auto [it, added] = map_table_.emplace(std::move(axes), static_cast<int>(maps_.size()));
    if (added) maps_.push_back({it->first, std::move(ranges), innermost});
    return it->second;
}

int AccessMaps::identity(const Shape& shape) {
    std::vector<int> axes;
    for (size_t k = 0; k < shape.size(); ++k)
        axes.push_back(shape[k].is(1) ? constant(Size(0))
                                      : expr({kGrid, shape.size() - k}, {}, shape.size() - k));
    return tuple(std::move(axes));
}

int AccessMaps::projected(int map, const Shape& from, const Shape& to) {
    if (from == to) return map;
    std::vector<int> axes;
    const size_t skip = from.size() - to.size();
    for (size_t k = 0; k < to.size(); ++k)
        axes.push_back(to[k].is(1) ? constant(Size(0)) : maps_[map].axes[k + skip]);
    return tuple(std::move(axes));
}

int AccessMaps::reshape_map(const Node& node, int map) {
    // Dimensions of 1 are added and dropped freely. Of all other dimensions, equal ones match from
    // the first one on and from the last one back; the indices of those between are opaque.
    const Shape &out = node.shape, &in = node.inputs[0]->shape;
    std::vector<int> kept;
    Shape from, to;
    for (size_t k = 0; k < out.size(); ++k)
        if (!out[k].is(1)) kept.push_back(maps_[map].axes[k]), from.push_back(out[k]);
    for (const Size& size : in)
        if (!size.is(1)) to.push_back(size);
    const size_t most = std::min(from.size(), to.size());
    size_t first = 0, last = 0;
    while (first < most && from[first] == to[first]) ++first;
    while (last < most - first && from[from.size() - 1 - last] == to[to.size() - 1 - last]) ++last;
    const int between = tuple({kept.begin() + static_cast<std::ptrdiff_t>(first),
                               kept.end() - static_cast<std::ptrdiff_t>(last)});
    std::vector<int> axes;
    size_t next = 0;
    for (size_t k = 0; k < in.size(); ++k) {
        if (in[k].is(1)) {
            axes.push_back(constant(Size(0)));
            continue;
        }
        if (next < first)
            axes.push_back(kept[next]);
        else if (next >= to.size() - last)
            axes.push_back(kept[next + from.size() - to.size()]);
        else
            axes.push_back(opaque(kReshape, node, static_cast<int>(k), between));
        ++next;
    }
    return tuple(std::move(axes));
}

bool AccessMaps::in_padding(const Node& pad, int map) const {
    const Shape& inside = pad.inputs[0]->shape;
    for (size_t j = 0; j < inside.size(); ++j) {
        const std::vector<uint64_t>& key = exprs_[maps_[map].axes[j]].key;
        if (key[0] != kConstant) continue;
        const Size at = size_of_[key[1]] - pad.as<PadAttr>().before[j], behind = at - inside[j];
        if (at.upper_bound() < 0 || behind.lower_bound() >= 0) return true;
    }
    return false;
}

int AccessMaps::input_map(const Node& node, int k, int map) {
    const Node& input = *node.inputs[k];
    if (maps_[map].axes.size() != node.shape.size())
        throw InternalError("internal error: " + std::string(info(node.op).name) +
                            " is asked at an index of another rank" + in_brackets(node.lines));
    if (is_elementwise(node.op)) return map;
    switch (node.op) {
        case Op::Expand: return projected(map, node.shape, input.shape);
        case Op::Reshape: return reshape_map(node, map);
        case Op::Permute: {
            std::vector<int> axes(maps_[map].axes.size());
            for (size_t j = 0; j < axes.size(); ++j)
                axes[node.as<PermuteAttr>().axes[j]] = maps_[map].axes[j];
            return tuple(std::move(axes));
        }
        case Op::Slice:
        case Op::Pad: {
            std::vector<int> axes;
            for (size_t j = 0; j < input.shape.size(); ++j)
                axes.push_back(
                    node.op == Op::Slice
                        ? affine(maps_[map].axes[j], node.as<SliceAttr>().step[j],
                                 node.as<SliceAttr>().begin[j])
                        : affine(maps_[map].axes[j], 1, Size(0) - node.as<PadAttr>().before[j]));
            return tuple(std::move(axes));
        }
        case Op::Gather: {
            if (k > 0) return map;
            std::vector<int> axes;
            for (size_t j = 0; j < input.shape.size(); ++j) {
                const Node& index = *node.inputs[j + 1];
                const auto known = affine_index(index);
                if (!known)
                    axes.push_back(opaque(kOpaque, index, 0, map));
                else if (known->axis < 0)
                    axes.push_back(constant(known->offset));
                else
                    axes.push_back(kept(affine(maps_[map].axes[known->axis], 1, known->offset),
                                        node, j, known->axis));
            }
            return tuple(std::move(axes));
        }
        case Op::Scatter: {
            if (k == 0) return map;
            std::vector<int> axes(input.shape.size(), -1);
            for (size_t j = 2; j < node.inputs.size(); ++j) {
                const auto known = store_index(*node.inputs[j]);
                if (known && known->index.axis >= 0)
                    axes[known->index.axis] =
                        affine(maps_[map].axes[j - 2], 1, Size(0) - known->index.offset);
            }
            for (size_t j = 0; j < axes.size(); ++j)
                if (axes[j] < 0) axes[j] = constant(input.shape[j] - Size(1));
            return tuple(std::move(axes));
        }
        case Op::Reduce: {
            const std::vector<int>& reduced = node.as<ReduceAttr>().axes;
            std::vector<int> axes;
            size_t kept = 0;
            for (size_t j = 0; j < input.shape.size(); ++j) {
                if (std::find(reduced.begin(), reduced.end(), static_cast<int>(j)) ==
                    reduced.end()) {
                    axes.push_back(maps_[map].axes[kept++]);
                    continue;
                }
                axes.push_back(range(node, j, map));
            }
            return tuple(std::move(axes));
        }
        default: throw InternalError(std::string("access map: no edge of ") + info(node.op).name);
    }
}

int AccessMaps::prefix(int map, int rank) const {
    const uint64_t innermost = maps_[map].innermost;
    return innermost == kNoAxis ? 0 : rank - static_cast<int>(innermost) + 1;
}

bool AccessMaps::begins(int map, int whole) const {
    const std::vector<int>&axes = maps_[map].axes, &all = maps_[whole].axes;
    return axes.size() <= all.size() && std::equal(axes.begin(), axes.end(), all.begin());
}

/// Returns how far the index `b` lies behind `a`, if the two differ by a constant only.
std::optional<int64_t> AccessMaps::distance(int a, int b) const {
    auto parts = [&](int e) {
        const std::vector<uint64_t>& key = exprs_[e].key;
        const bool moved = key[0] == kAffine && key[2] == 1;
        return moved ? std::pair(static_cast<int>(key[1]), size_of_[key[3]])
                     : std::pair(e, Size(0));
    };
    const auto [base_a, offset_a] = parts(a);
    const auto [base_b, offset_b] = parts(b);
    const Size apart = offset_b - offset_a;
    if (base_a != base_b || !apart.is_constant()) return std::nullopt;
    return apart.constant();
}

std::optional<int> AccessMaps::beside(int a, int b) const {
    const std::vector<int>&p = maps_[a].axes, &q = maps_[b].axes;
    if (p.size() != q.size()) return std::nullopt;
    std::optional<int> axis;
    for (size_t k = 0; k < p.size(); ++k) {
        if (p[k] == q[k]) continue;
        const auto apart = distance(p[k], q[k]);
        if (axis || !apart || std::abs(*apart) > costs::kSharedTile[0]) return std::nullopt;
        axis = static_cast<int>(p.size() - 1 - k);
    }
    return axis;
}

bool AccessMaps::same_row(int a, int b) const {
    const std::vector<int>&p = maps_[a].axes, &q = maps_[b].axes;
    return p.size() == q.size() && !p.empty() && std::equal(p.begin(), p.end() - 1, q.begin());
}

double AccessMaps::trips(int map) const {
    double out = 1;
    for (const auto& [id, trips] : maps_[map].ranges) out *= std::max(1.0, trips);
    return out;
}

}  // namespace firn
