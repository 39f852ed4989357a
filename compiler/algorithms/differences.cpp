// Neighbours are read by index.
#include "compiler/algorithms/differences.h"

#include "compiler/algorithms/real.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// Elements of one axis, each by its index from the current one; a vector stands along that axis.
struct Line {
    Tensor x, i;
    Size n;
    int axis = 0, rank = 0;

    Tensor at(const Tensor& index) const { return take(x, index, {.axis = axis}); }
    Tensor along(const Tensor& vector) const {
        Shape shape(static_cast<size_t>(rank), Size(1));
        shape[static_cast<size_t>(axis)] = vector.size(0);
        return reshape(vector, shape);
    }
};

/// (x[i + 1] - x[i - 1]) over their distance, one-sided at both ends.
Tensor by_spacing(const Line& line, const Tensor& spacing, bool second_order) {
    const Tensor up = min(line.i + 1, line.n - Size(1)), down = max(line.i - 1, 0);
    Tensor slope = (line.at(up) - line.at(down)) / (line.along((up - down).as(f32)) * spacing);
    if (!second_order) return slope;
    const Tensor sign = select(line.i == 0, 1, -1);  // seen from the first element, or the last
    Tensor edge =
        line.at(line.i) * -1.5f + line.at(line.i + sign) * 2.0f - line.at(line.i + 2 * sign) * 0.5f;
    edge = edge * line.along(sign).as(spacing.dtype()) / spacing;
    return select(line.along((line.i == 0) | (line.i == line.n - Size(1))), edge, slope);
}

/// The same with coordinates: the parabola through three neighbours, at the middle one; at the ends
/// at an outer one, or the line through two.
Tensor by_coordinates(const Line& line, const Tensor& coordinate, bool second_order) {
    const Tensor i = line.i, last = line.n - Size(1), at_end = (i == 0) | (i == last);
    if (!second_order) {
        const Tensor up = min(i + 1, last), down = max(i - 1, 0);
        Tensor slope =
            (line.at(up) - line.at(down)) / line.along(coordinate(up) - coordinate(down));
        Tensor parabola = by_coordinates(line, coordinate, true);
        return select(line.along(at_end), slope, parabola);
    }
    const Tensor middle = clamp(i, 1, max(line.n - Size(2), Size(0)));
    const Tensor x = coordinate(i), x0 = coordinate(middle - 1), x1 = coordinate(middle),
                 x2 = coordinate(middle + 1);
    // The derivatives of Lagrange's polynomials at x.
    const Tensor w0 = (2.0f * x - x1 - x2) / ((x0 - x1) * (x0 - x2)),
                 w1 = (2.0f * x - x0 - x2) / ((x1 - x0) * (x1 - x2)),
                 w2 = (2.0f * x - x0 - x1) / ((x2 - x0) * (x2 - x1));
    Tensor out = line.along(w1) * line.at(middle);
    out = out + line.along(w0) * line.at(middle - 1);
    return out + line.along(w2) * line.at(middle + 1);
}

}  // namespace

Tensor diff(const Operand& x, const DiffOptions& options) {
    LineScope at(x.line());
    if (options.n < 0) refuse("diff: n is " + std::to_string(options.n) + "; give 0 or more");
    Tensor out = x.tensor();
    const int axis = checked_axis("diff", options.axis, out.shape());
    for (int iteration = 0; iteration < options.n; ++iteration) {
        const Size left = out.size(axis) - Size(1);
        const Tensor i = arange(left.lower_bound() < 0 ? max(left, Size(0)) : left);
        const Tensor above = take(out, i + 1, {.axis = axis}), below = take(out, i, {.axis = axis});
        out = out.dtype().is_bool() ? above != below : above - below;
    }
    return out;
}

Tensor gradient(const Operand& x, const GradientOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    const int axis = checked_axis("gradient", options.axis, own.shape());
    const Size n = own.size(axis);
    if (options.edge_order != 1 && options.edge_order != 2)
        refuse("gradient: edge_order is " + std::to_string(options.edge_order) + "; give 1 or 2");
    if (n.upper_bound() <= options.edge_order)
        refuse("gradient: axis " + std::to_string(axis) + " of shape " + text(own.shape()) +
               " is too short; it needs more than " + std::to_string(options.edge_order) +
               " elements for this edge_order");
    const Line line{as_wide(own), arange(n), n, axis, own.rank()};
    const Tensor spacing = options.spacing.as(line.x.dtype());
    if (spacing.rank() > 1 || (spacing.rank() == 1 && (spacing.size(0) - n).is_constant() &&
                               !(Size(spacing.size(0)) == n)))
        refuse("gradient: the spacing is " + text(spacing.shape()) + " and axis " +
               std::to_string(axis) + " has " + n.text() +
               " elements; give a number, or as many coordinates");
    Tensor slope = spacing.rank() == 0 ? by_spacing(line, spacing, options.edge_order == 2)
                                       : by_coordinates(line, spacing, options.edge_order == 2);
    return slope.as(real_type(own.dtype()));
}

std::vector<Tensor> gradient(const Operand& x, const AxisList& axes) {
    LineScope at(x.line());
    std::vector<Tensor> out;
    for (int axis : axes.values) out.push_back(gradient(x, GradientOptions{.axis = axis}));
    return out;
}

}  // namespace firn
