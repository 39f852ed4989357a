// Values of a graph on a window of its grid.
#include "compiler/decompose/window.h"

#include <map>
#include <string>
#include <utility>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/substitute.h"
#include "compiler/program/size_env.h"

namespace firn {
namespace {

/// Puts a window's place into the nodes that ask for it.
class Placer {
  public:
    Placer(const Builder& b, Reaches& reaches, const GridWindow& window,
           const std::vector<int64_t>& totals)
        : b_(b), reaches_(reaches), window_(window) {
        for (size_t a = 0; a < totals.size(); ++a)
            totals_[reaches.grid()[a].symbol] = Size(totals[a]);
    }

    /// Returns null where the node asks for no place.
    Ref operator()(const Node& node, const std::vector<Ref>& inputs) {
        switch (node.op) {
            case Op::SizeValue: return size_value(b_, node.as<SizeAttr>().size.substitute(totals_));
            case Op::Index: return index_of(node);
            case Op::Gather: return gather_of(node, inputs);
            case Op::Scatter: return scatter_of(node, inputs);
            default: return nullptr;
        }
    }

  private:
    int grid_of(const Size& size) const {
        for (size_t a = 0; a < window_.size(); ++a)
            if (mentions(size, reaches_.grid()[a].symbol)) return static_cast<int>(a);
        return -1;
    }

    Ref moved(const Ref& index, int grid, int64_t sign) const {
        const int64_t first = window_[static_cast<size_t>(grid)].first;
        if (first == 0) return index;
        return elementwise(b_, Op::Add, {index, constant_int(b_, sign * first)}, {false, true});
    }

    Ref index_of(const Node& node) const {
        const int axis = node.as<IndexAttr>().axis;
        const int grid = grid_of(node.shape[static_cast<size_t>(axis)]);
        if (grid < 0) return nullptr;
        return moved(index(b_, node.shape, axis), grid, 1);
    }

    /// An index of the window for one of the grid.
    Ref own_index(const Node& was, const Ref& now, int grid) const {
        const auto affine = affine_index(was);
        if (affine && affine->axis >= 0 && affine->offset.is_constant()) {
            const Ref here = index(b_, was.shape, affine->axis);
            if (affine->offset.is(0)) return here;
            return elementwise(b_, Op::Add, {here, constant_int(b_, affine->offset.constant())},
                               {false, true});
        }
        return moved(now, grid, -1);
    }

    Ref gather_of(const Node& node, const std::vector<Ref>& inputs) const {
        const GatherAttr& attr = node.as<GatherAttr>();
        std::vector<Ref> indices;
        bool any = false;
        for (size_t j = 0; j + 1 < inputs.size(); ++j) {
            const int grid = grid_of(node.inputs[0]->shape[j]);
            any = any || grid >= 0;
            indices.push_back(grid < 0 ? inputs[j + 1]
                                       : own_index(*node.inputs[j + 1], inputs[j + 1], grid));
        }
        return any ? gather(b_, inputs[0], indices, attr.modes, attr.fill, attr.own) : nullptr;
    }

    Ref scatter_of(const Node& node, const std::vector<Ref>& inputs) const {
        std::vector<Ref> indices;
        bool any = false;
        for (size_t t = 0; t + 2 < inputs.size(); ++t) {
            const int grid = grid_of(node.shape[t]);
            any = any || grid >= 0;
            indices.push_back(grid < 0 ? inputs[t + 2]
                                       : own_index(*node.inputs[t + 2], inputs[t + 2], grid));
        }
        ScatterAttr attr = node.as<ScatterAttr>();
        attr.complete = attr.complete && !any;
        return any ? scatter(b_, inputs[0], inputs[1], indices, attr) : nullptr;
    }

    const Builder& b_;
    Reaches& reaches_;
    const GridWindow& window_;
    SizeMap totals_;
};

}  // namespace

std::vector<Ref> on_window(const Builder& b, Reaches& reaches, const std::vector<Ref>& values,
                           const GridWindow& window, const std::vector<int64_t>& totals,
                           const std::unordered_map<const Node*, Ref>& leaves) {
    // Leaves keep their shapes of symbols until these have the window's sizes.
    std::unordered_map<const Node*, Ref> keep, give;
    for (const auto& [leaf, value] : leaves) {
        const Ref stand_in = region_arg(b, leaf->dtype, leaf->shape);
        keep[leaf] = stand_in;
        give[stand_in.get()] = value;
    }
    Placer placer(b, reaches, window, totals);
    const std::vector<Ref> placed = rewrite(
        b.table, values,
        [&](const Node& node, const std::vector<Ref>& inputs) { return placer(node, inputs); },
        keep);
    SizeMap sizes;
    for (size_t a = 0; a < window.size(); ++a)
        sizes[reaches.grid()[a].symbol] = Size(window[a].length);
    return substitute_sizes(b.table, placed, sizes, give);
}

}  // namespace firn
