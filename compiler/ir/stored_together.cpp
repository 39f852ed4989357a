// Stores of all invocations of a kernel by hand, which may leave nothing of a tensor.
#include "compiler/ir/stored_together.h"

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/pattern.h"

namespace firn {
namespace {

constexpr int kIndexDepth = 16;  // sums and products in one another that are followed

/// A loop inside a kernel that every invocation takes as a whole: its index, from 0 on, and how
/// many there are.
struct WholeLoop {
    const Node* index = nullptr;
    int64_t trips = 0;
};

/// stride * the invocation's index along `axis` of the grid + offset; axis -1: the offset alone.
/// Loops inside count as further axes.
struct GridIndex {
    int axis = -1;
    int64_t stride = 0;
    Size offset;
};

std::optional<GridIndex> grid_index(const Node& index, const Shape& grid,
                                    std::span<const WholeLoop> loops = {}, int depth = 0) {
    const Node& node = without_expand(index);
    if (node.op == Op::Invocation) return GridIndex{node.as<IndexAttr>().axis, 1, Size(0)};
    for (size_t k = 0; k < loops.size(); ++k)
        if (loops[k].index == &node)
            return GridIndex{static_cast<int>(grid.size() + k), 1, Size(0)};
    if (node.op == Op::SizeValue) return GridIndex{-1, 0, node.as<SizeAttr>().size};
    if (node.op == Op::Constant && node.dtype.is_integer())
        return GridIndex{-1, 0, Size(node.as<ConstantAttr>().value.i)};
    if ((node.op != Op::Add && node.op != Op::Sub && node.op != Op::Mul) || depth == kIndexDepth)
        return std::nullopt;
    auto a = grid_index(*node.inputs[0], grid, loops, depth + 1),
         b = grid_index(*node.inputs[1], grid, loops, depth + 1);
    if (!a || !b) return std::nullopt;
    if (a->axis < 0 && node.op != Op::Sub) std::swap(a, b);
    if (b->axis >= 0) return std::nullopt;
    if (node.op == Op::Add) a->offset += b->offset;
    if (node.op == Op::Sub) a->offset = a->offset - b->offset;
    if (node.op == Op::Mul) {
        if (!b->offset.is_constant()) return std::nullopt;
        a->stride *= b->offset.constant(), a->offset *= b->offset;
    }
    const bool fits = std::abs(a->stride) <= INT32_MAX && has_i32_factors(a->offset);
    return fits ? a : std::nullopt;
}

/// The elements of a tensor that all invocations together store to: along each of its axes every
/// `stride`th, along that axis of the grid, from `first` on. If `axis` is -1 the stride is the
/// tensor's own size: one element.
struct StoredAxis {
    int axis = -1;
    int64_t stride = 1;
    friend auto operator<=>(const StoredAxis&, const StoredAxis&) = default;
};
struct StoredElements {
    std::vector<StoredAxis> along;
    std::vector<int64_t> first;
};

/// Nothing where an invocation may leave its store out, or the places are no such elements.
std::optional<StoredElements> stored_elements(const Node& store, const LoopAttr& attr,
                                              std::span<const WholeLoop> loops) {
    StoredElements out;
    const size_t axes = attr.grid.size();
    std::vector<bool> used(axes + loops.size());
    for (size_t k = 0; k < store.shape.size(); ++k) {
        const Size& n = store.shape[k];
        const auto at = grid_index(*store.inputs[k + 2], attr.grid, loops);
        if (!at || !at->offset.is_constant()) return std::nullopt;
        if (at->axis < 0 && !n.is_constant()) return std::nullopt;
        const int64_t first = at->offset.constant(),
                      stride = at->axis < 0 ? n.constant() : at->stride;
        if (first < 0 || first >= stride) return std::nullopt;
        out.along.push_back({at->axis, stride});
        out.first.push_back(first);
        if (at->axis < 0) continue;
        const auto axis = static_cast<size_t>(at->axis);
        if (used[axis]) return std::nullopt;
        used[axis] = true;
        if (axis >= axes) {
            if (Size(loops[axis - axes].trips * stride) != n) return std::nullopt;
            continue;
        }
        const Size width(attr.group[axis]);
        const Size groups = floor_div(n + width - Size(1), width) * width;
        const bool all = attr.grid[axis] * Size(stride) == n;
        if (!all && (stride != 1 || attr.grid[axis] != groups)) return std::nullopt;
    }
    for (size_t axis = 0; axis < axes; ++axis)  // a grid of nothing stores nothing
        if (!used[axis] && !(attr.grid[axis].is_constant() && attr.grid[axis].constant() > 0))
            return std::nullopt;
    return out;
}

/// Finds whether several stores together replace every element: one for each component of a pixel,
/// for example.
class StoredTogether {
  public:
    explicit StoredTogether(const LoopAttr& attr) : attr_(attr) {}

    bool leaves_nothing() const { return all_ && replaces_; }

    /// Adds all that a version of a tensor was made by.
    void follow(const Node& version) {
        const Node* at = &version;
        for (;;) {
            if (at->op == Op::Scatter) {
                replaces_ &= at->as<ScatterAttr>().op == ScatterOp::Last;
                add(*at);
                at = at->inputs[0].get();
                continue;
            }
            const Node* loop = at->op == Op::Result ? at->inputs[0].get() : nullptr;
            const int64_t trips = loop && loop->op == Op::Loop ? whole_trips(*loop) : 0;
            if (trips == 0) return;
            const auto k = static_cast<size_t>(at->as<ResultAttr>().index);
            const Region& body = *loop->as<LoopAttr>().body;
            loops_.push_back({body.args[0].get(), trips});
            follow(*body.results[k]);
            loops_.pop_back();
            at = loop->inputs[k + 3].get();
        }
    }

  private:
    /// Returns the trip count; 0 if it is unknown, or some invocation may skip an iteration.
    static int64_t whole_trips(const Node& loop) {
        const LoopAttr& attr = loop.as<LoopAttr>();
        const auto begin = constant_value(*loop.inputs[0]), end = constant_value(*loop.inputs[1]),
                   step = constant_value(*loop.inputs[2]);
        if (attr.active >= 0 || !attr.sizes.empty() || !begin || !end || !step) return 0;
        return begin->i == 0 && step->i == 1 ? std::max<int64_t>(end->i, 0) : 0;
    }

    void add(const Node& store) {
        const auto elements = stored_elements(store, attr_, loops_);
        if (!elements) return;
        std::set<std::vector<int64_t>>& first = stored_[elements->along];
        first.insert(elements->first);
        size_t missing = first.size();  // the strides' product is as large where none is left out
        for (const StoredAxis& axis : elements->along)
            missing = missing % static_cast<size_t>(axis.stride) == 0
                          ? missing / static_cast<size_t>(axis.stride)
                          : 0;
        all_ |= missing == 1;
    }

    const LoopAttr& attr_;
    std::vector<WholeLoop> loops_;
    std::map<std::vector<StoredAxis>, std::set<std::vector<int64_t>>> stored_;
    bool all_ = false, replaces_ = true;  // the old value is not combined with
};

}  // namespace

int own_axis(const Node& index) {
    const auto at = grid_index(index, {});
    return at && at->stride == 1 ? at->axis : -1;
}

bool leaves_nothing(const LoopAttr& kernel, const Node& version) {
    StoredTogether stored(kernel);
    stored.follow(version);
    return stored.leaves_nothing();
}

}  // namespace firn
