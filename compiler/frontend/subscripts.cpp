// Indices as numpy has them, as places along every axis of a tensor.
#include "compiler/frontend/subscripts.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/frontend/record.h"
#include "compiler/ir/builder_checks.h"

namespace firn {
namespace {

using Index = Tensor::Index;

/// A range of an axis in numbers from its front.
struct Run {
    Size begin = 0, extent = 0;
    int64_t step = 1;
};

Run run_of(const IndexRange& range, const Size& n) {
    const bool back = range.step < 0;
    // Reads a position as Python does.
    auto position = [&](const Size& value) {
        Size at = value.is_constant() && value.constant() < 0 ? n + value : value;
        if (!at.is_constant() || !n.is_constant()) return at;
        const int64_t least = back ? -1 : 0;
        return Size(std::clamp<int64_t>(at.constant(), least, n.constant() + least));
    };
    const Size begin = range.begin ? position(*range.begin) : back ? n - 1 : Size(0);
    const Size end = range.end ? position(*range.end) : back ? Size(-1) : n;
    Size length = back ? begin - end : end - begin;
    if (length.is_constant()) length = Size(std::max<int64_t>(length.constant(), 0));
    return {begin, ceil_div(length, Size(std::abs(range.step))), range.step};
}

/// An axis of the tensor, or a new one, in the order of the indices.
struct Item {
    explicit Item(int axis = -1) : axis(axis) {}
    Item(int axis, Run run) : axis(axis), run(std::move(run)) {}
    Item(int axis, Ref value) : axis(axis), value(std::move(value)) {}

    int axis;    // of the tensor; -1: a new one
    Run run;     // of an axis that stays
    Ref value;   // the index that removes the axis
    int at = 0;  // of an axis that stays or is new: its place among those of the result
};

struct Layout {
    std::vector<Item> items;
    Ref mask;
    size_t mask_item = 0;  // its first axis
};

bool is_mask(const Index& index) {
    return index.is() == Index::Is::Value && index.arg()->node()->dtype.is_bool();
}

/// Returns how many axes of the tensor an index stands for.
size_t axes_of(const Index& index) {
    if (is_mask(index)) return index.arg()->node()->shape.size();
    return index.is() == Index::Is::Value || index.is() == Index::Is::Range ? 1 : 0;
}

void add_mask(const Builder& b, const Ref& x, const Ref& mask, Layout& out, int& axis) {
    if (mask->shape.empty())
        fail_at(b.line,
                "access: one bool is given as an index; a mask has the shape of the axes that it "
                "stands for, and if_ or select(c, a, b) choose by one condition");
    if (out.mask) fail_at(b.line, "access: two masks are given; join them with &, or store twice");
    out.mask = mask;
    out.mask_item = out.items.size();
    for (const Size& size : mask->shape) {
        const Size& own = x->shape[static_cast<size_t>(axis)];
        require_equal(b, size, own,
                      "access: a mask " + text(mask->shape) + " at axis " + std::to_string(axis) +
                          " of " + text(x->shape) +
                          "; it has the sizes of the axes that it stands for");
        out.items.emplace_back(axis++, run_of({}, own));
    }
}

Layout layout_of(const Builder& b, const Ref& x, const std::vector<Index>& indices) {
    size_t used = 0, rank = x->shape.size(), ellipses = 0;
    for (const Index& index : indices) {
        used += axes_of(index);
        ellipses += index.is() == Index::Is::Ellipsis;
    }
    if (used > rank)
        fail_at(b.line, "access of " + text(x->shape) + ": the indices stand for " +
                            std::to_string(used) + " axes, the tensor has " + std::to_string(rank) +
                            "; give at most one per axis");
    if (ellipses > 1) fail_at(b.line, "access: `ellipsis` is given twice; it can stand once");
    Layout out;
    int axis = 0;
    auto add_whole = [&](size_t count) {
        for (; count > 0; --count, ++axis)
            out.items.emplace_back(axis, run_of({}, x->shape[static_cast<size_t>(axis)]));
    };
    for (const Index& index : indices) {
        switch (index.is()) {
            case Index::Is::Absent: break;
            case Index::Is::NewAxis: out.items.emplace_back(); break;
            case Index::Is::Ellipsis: add_whole(rank - used); break;
            case Index::Is::Range:
                if (index.range().step == 0)
                    fail_at(b.line, "range: the step is 0; use 1, or a negative step to go back");
                out.items.emplace_back(axis,
                                       run_of(index.range(), x->shape[static_cast<size_t>(axis)]));
                ++axis;
                break;
            case Index::Is::Value:
                if (is_mask(index))
                    add_mask(b, x, index.arg()->node(), out, axis);
                else
                    out.items.emplace_back(axis++, index.arg()->node());
                break;
        }
    }
    add_whole(rank - static_cast<size_t>(axis));
    return out;
}

/// x with 1s behind its shape.
Ref with_trailing(const Builder& b, const Ref& x, size_t count) {
    Shape shape = x->shape;
    shape.insert(shape.end(), count, Size(1));
    return reshape(b, x, std::move(shape));
}

/// Gives every item its place in the result's shape. `values` are the axes of indices that are
/// tensors; gives the place behind the last of them.
size_t arrange(Layout& layout, const Shape& values, Shape& shape) {
    std::vector<Item>& items = layout.items;
    auto is_value = [](const Item& item) { return item.value != nullptr; };
    auto first = std::find_if(items.begin(), items.end(), is_value);
    auto gap = std::find_if_not(first, items.end(), is_value);
    if (std::any_of(gap, items.end(), is_value)) first = items.begin();
    size_t behind = 0;
    auto add_values = [&] {
        shape.insert(shape.end(), values.begin(), values.end());
        behind = shape.size();
    };
    for (auto item = items.begin(); item != items.end(); ++item) {
        if (item == first) add_values();
        if (item->value) continue;
        item->at = static_cast<int>(shape.size());
        shape.push_back(item->axis < 0 ? Size(1) : item->run.extent);
    }
    return behind;
}

Ref place_of(const Builder& b, const Shape& shape, int at, const Size& begin, int64_t step) {
    Ref place = index(b, shape, at);
    if (step != 1) place = elementwise(b, Op::Mul, {place, constant_int(b, step)});
    return begin.is(0) ? place : elementwise(b, Op::Add, {place, size_value(b, begin)});
}

}  // namespace

bool are_elements(const std::vector<Tensor::Index>& indices) {
    return !indices.empty() && std::all_of(indices.begin(), indices.end(), [](const Index& index) {
        return index.is() == Index::Is::Value && !is_mask(index);
    });
}

bool same_mask(const std::vector<Tensor::Index>& a, const std::vector<Tensor::Index>& b) {
    return a.size() == 1 && b.size() == 1 && is_mask(a[0]) && is_mask(b[0]) &&
           a[0].arg()->node().get() == b[0].arg()->node().get();
}

std::vector<Tensor::Index> without_masks(const std::vector<Tensor::Index>& indices) {
    std::vector<Tensor::Index> out;
    for (const Index& index : indices)
        if (is_mask(index))
            out.insert(out.end(), axes_of(index), Index(IndexRange{}, index.line()));
        else
            out.push_back(index);
    return out;
}

Chosen chosen(const Builder& b, const Ref& x, const std::vector<Tensor::Index>& indices) {
    Layout layout = layout_of(b, x, indices);
    const size_t rank = x->shape.size();
    std::vector<Size> begins(rank, Size(0)), extents(rank);
    std::vector<int64_t> steps(rank, 1);
    Shape values;
    for (const Item& item : layout.items) {
        if (item.axis < 0) continue;
        const size_t k = static_cast<size_t>(item.axis);
        extents[k] = item.value ? x->shape[k] : item.run.extent;
        if (!item.value) begins[k] = item.run.begin, steps[k] = item.run.step;
        if (item.value) values = broadcast_shapes(b, values, item.value->shape, "access: indices");
    }
    if (layout.mask && !values.empty())
        fail_at(b.line, "access: a mask stands beside indices " + text(values) +
                            "; store by select(mask, value, x) in place of the mask");
    Chosen out;
    out.cut = slice(b, x, begins, extents, steps);
    const size_t behind = arrange(layout, values, out.shape);
    out.places.resize(rank), out.in_cut.resize(rank), out.ranged.resize(rank);
    for (const Item& item : layout.items) {
        if (item.axis < 0) continue;
        const size_t k = static_cast<size_t>(item.axis);
        out.ranged[k] = !item.value;
        if (item.value) {
            out.in_cut[k] = with_trailing(b, item.value, out.shape.size() - behind);
            out.places[k] = out.in_cut[k];
        } else {
            out.in_cut[k] = place_of(b, out.shape, item.at, 0, 1);
            out.places[k] = place_of(b, out.shape, item.at, item.run.begin, item.run.step);
        }
    }
    if (rank > 0) {  // new axes are in no other index
        out.places[0] = expand(b, out.places[0], out.shape);
        out.in_cut[0] = expand(b, out.in_cut[0], out.shape);
    }
    if (layout.mask) {
        const size_t end =
            static_cast<size_t>(layout.items[layout.mask_item].at) + layout.mask->shape.size();
        out.mask = with_trailing(b, layout.mask, out.shape.size() - end);
    }
    return out;
}

Ref read_chosen(const Builder& b, const Chosen& part, Bounds mode, const Scalar& fill) {
    if (std::find(part.ranged.begin(), part.ranged.end(), false) == part.ranged.end())
        return reshape(b, part.cut, part.shape);
    std::vector<Bounds> modes;
    for (bool ranged : part.ranged) modes.push_back(ranged ? Bounds::Unchecked : mode);
    return gather(b, part.cut, part.in_cut, std::move(modes), fill);
}

}  // namespace firn
