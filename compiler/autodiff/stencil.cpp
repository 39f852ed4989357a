// Offsets of reads, from x on through elementwise operations, shifted reads, slices and borders.
#include "compiler/autodiff/stencil.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "compiler/autodiff/active_values.h"
#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

constexpr size_t kMostOffsets = 256;
constexpr int64_t kMostTried = 1 << 20;  // sets of factors that the search looks at

using Offsets = std::set<Offset>;

class Stencils {
  public:
    Stencils(const Ref& y, const Ref& x)
        : order_(topological({y})), active_(active_values(order_, {x})), wraps_(x->shape.size()) {
        known_[x.get()] = {Offset(x->shape.size(), 0)};
    }

    std::optional<Stencil> run(const Node& y) {
        for (const Ref& node : order_) {
            if (!active_.contains(node.get()) || known_.contains(node.get())) continue;
            if (node->shape.size() != wraps_.size() || !find(*node)) return std::nullopt;
            if (known_[node.get()].size() > kMostOffsets) return std::nullopt;
        }
        const auto found = known_.find(&y);
        if (found == known_.end()) return std::nullopt;
        return Stencil{{found->second.begin(), found->second.end()}, wraps_};
    }

  private:
    bool find(const Node& node) {
        if (is_elementwise(node.op)) {
            Offsets& all = known_[&node];
            for (const Ref& input : node.inputs)
                if (const auto of = known_.find(input.get()); of != known_.end())
                    all.insert(of->second.begin(), of->second.end());
            return true;
        }
        switch (node.op) {
            case Op::Gather: return find_read(node);
            case Op::Slice: return find_slice(node);
            case Op::Pad: return moved(node, node.as<PadAttr>().before, -1);
            default: return false;
        }
    }

    bool find_slice(const Node& node) {
        const SliceAttr& attr = node.as<SliceAttr>();
        const bool plain =
            std::all_of(attr.step.begin(), attr.step.end(), [](int64_t step) { return step == 1; });
        return plain && moved(node, attr.begin, 1);
    }

    /// Reads its input `times` so many elements further on.
    bool moved(const Node& node, const std::vector<Size>& by, int64_t times) {
        Offsets& out = known_[&node];
        for (Offset offset : known_.at(node.inputs[0].get())) {
            for (size_t d = 0; d < by.size(); ++d) {
                if (!by[d].is_constant()) return false;
                offset[d] += times * by[d].constant();
            }
            out.insert(std::move(offset));
        }
        return true;
    }

    /// Each axis is read at its own index plus a number; the indices are no part of the derivative.
    bool find_read(const Node& node) {
        const Ref& source = node.inputs[0];
        if (!known_.contains(source.get())) return false;
        Offsets all = known_.at(source.get());
        for (size_t d = 0; d < wraps_.size(); ++d) {
            const auto index = affine_index(*node.inputs[d + 1]);
            if (!index || index->axis != static_cast<int>(d) || !index->offset.is_constant())
                return false;
            const int64_t by = index->offset.constant();
            const Bounds mode = node.as<GatherAttr>().modes[d];
            const bool same = node.shape[d] == source->shape[d];
            if (by == 0 && same) continue;
            if (!same && mode != Bounds::Unchecked && mode != Bounds::Constant) return false;
            wraps_[d] = wraps_[d] || mode == Bounds::Wrap;
            // At an edge, what is read lies between.
            int64_t low = by, high = by;
            if (mode == Bounds::Clamp)
                low = std::min<int64_t>(by, 0), high = std::max<int64_t>(by, 0);
            if (mode == Bounds::Mirror || mode == Bounds::Reflect)
                low = -std::abs(by), high = std::abs(by);
            if (static_cast<size_t>(high - low) > kMostOffsets) return false;
            Offsets next;
            for (const Offset& offset : all)
                for (int64_t move = low; move <= high; ++move) {
                    Offset moved = offset;
                    moved[d] += move;
                    next.insert(std::move(moved));
                }
            all = std::move(next);
        }
        known_[&node] = std::move(all);
        return true;
    }

    std::vector<Ref> order_;
    std::unordered_set<const Node*> active_;
    std::vector<bool> wraps_;
    std::unordered_map<const Node*, Offsets> known_;
};

int64_t colour(const Offset& at, const Colouring& by) {
    int64_t sum = 0;
    for (size_t d = 0; d < at.size(); ++d) sum += at[d] * by.factors[d];
    return ((sum % by.count) + by.count) % by.count;
}

bool tells_apart(const Stencil& stencil, const Shape& x, const Colouring& by) {
    for (size_t d = 0; d < x.size(); ++d)
        if (stencil.wraps[d] &&
            (!x[d].is_constant() || by.factors[d] * x[d].constant() % by.count != 0))
            return false;
    std::vector<bool> used(static_cast<size_t>(by.count), false);
    for (const Offset& offset : stencil.offsets) {
        const auto at = static_cast<size_t>(colour(offset, by));
        if (used[at]) return false;
        used[at] = true;
    }
    return true;
}

}  // namespace

std::optional<Stencil> stencil_of(const Ref& y, const Ref& x) { return Stencils(y, x).run(*y); }

std::optional<Colouring> colours_of(const Stencil& stencil, const Shape& x, int64_t most) {
    const size_t rank = x.size();
    int64_t tried = 0;
    for (auto count = static_cast<int64_t>(stencil.offsets.size()); count < most; ++count) {
        Colouring by{count, Offset(rank, 0)};
        for (bool more = true; more && ++tried < kMostTried;) {
            if (tells_apart(stencil, x, by)) return by;
            more = false;
            for (size_t d = 0; d < rank && !more; ++d) {
                more = ++by.factors[d] < count;
                if (!more) by.factors[d] = 0;
            }
        }
        if (tried >= kMostTried) break;
    }
    return std::nullopt;
}

}  // namespace firn
