// Tables of colours, and interpolation between their elements.
#include "compiler/algorithms/colour_table.h"

#include <array>

#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/vec.h"

namespace firn {
namespace {

/// The position of a channel's value in a table: the element below it, and its distance from that
/// element, from 0 to 1.
struct TablePlace {
    Tensor below, beyond;
};

TablePlace table_place(const Tensor& unit, const Size& size) {
    // The comparison is false for nan. A table of one element has a cell of no width.
    const Tensor last = Tensor(size - 1).as(f32);
    const Tensor at = select(unit > 0.0f, min(unit, 1.0f), 0.0f) * last;
    const Tensor below = min(floor(at), max(last - 1.0f, 0.0f));
    return {below.as(i32), at - below};
}

Tensor of_channels(const Tensor& unit, const Tensor& values) {
    const Size size = values.size(0);
    std::array<Tensor, 3> out;
    for (int c = 0; c < 3; ++c) {
        const TablePlace at = table_place(unit(ellipsis, c), size);
        const Tensor low = values(at.below, c), high = values(at.below + 1, c);
        out[static_cast<size_t>(c)] = low + at.beyond * (high - low);
    }
    return stack(vec3(out[0], out[1], out[2]));
}

Tensor of_tetrahedra(const Tensor& unit, const Tensor& values) {
    const TablePlace r = table_place(unit(ellipsis, 0), values.size(2)),
                     g = table_place(unit(ellipsis, 1), values.size(1)),
                     b = table_place(unit(ellipsis, 2), values.size(0));
    const auto corner = [&](const Tensor& dr, const Tensor& dg, const Tensor& db) {
        const Tensor i = b.below + db, j = g.below + dg, k = r.below + dr;
        return vec3(values(i, j, k, 0), values(i, j, k, 1), values(i, j, k, 2));
    };
    // Interpolates from the lowest corner of the cell to the highest, first along the axis of the
    // largest fraction, then along the next.
    const Tensor x = r.beyond, y = g.beyond, z = b.beyond;
    const Tensor xy = (x >= y).as(i32), yz = (y >= z).as(i32), xz = (x >= z).as(i32);
    const Tensor order_x = xy + xz, order_y = 1 - xy + yz, order_z = 2 - yz - xz;  // 2: farthest
    const Tensor far = max(x, max(y, z)), near = min(x, min(y, z)),
                 middle = max(min(x, y), min(max(x, y), z));
    const auto step = [&](int order) {
        return corner((order_x >= order).as(i32), (order_y >= order).as(i32),
                      (order_z >= order).as(i32));
    };
    return stack(corner(0, 0, 0) * (1.0f - far) + step(2) * (far - middle) +
                 step(1) * (middle - near) + corner(1, 1, 1) * near);
}

}  // namespace

Tensor colours_from_table(const Tensor& colours, const ColourTable& table, SourceLine line) {
    LineScope at(line);
    const auto has_three = [](const Tensor& x) {
        const Size last = x.size(-1);
        return last.is_constant() && last.constant() == 3;
    };
    const int rank = table.values.rank();
    if ((rank != 2 && rank != 4) || !has_three(table.values))
        refuse("colours_from_table: the table is " + text(Shape(table.values.shape())) +
               "; it must be [n, 3] or [n, n, n, 3]");
    if (colours.rank() < 1 || !has_three(colours))
        refuse("colours_from_table: the colours are " + text(Shape(colours.shape())) +
               "; their last axis must have 3 channels");
    const Tensor unit = (colours - table.lower) / (table.upper - table.lower);
    return rank == 2 ? of_channels(unit, table.values) : of_tetrahedra(unit, table.values);
}

}  // namespace firn
