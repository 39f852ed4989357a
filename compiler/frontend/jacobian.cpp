// All derivatives of several elements by several.
#include "compiler/frontend/jacobian.h"

#include <optional>

#include "compiler/autodiff/stencil.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/scatter.h"
#include "compiler/frontend/with_history.h"
#include "compiler/ir/graph.h"

namespace firn {
namespace {

/// 1 at element k of the shape's, in row-major order.
Tensor unit(const Tensor& like, const Tensor& k, SourceLine line) {
    const Shape shape = like.shape(line);
    const Tensor flat = index({element_count(shape)}, 0, line) == k;
    return reshape(Operand(flat.as(like.dtype(line), line), line), shape);
}

Tensor by_rows(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    const Size rows = element_count(y.shape(line)), columns = element_count(x.shape(line));
    Tensor out = zeros({rows, columns}, x.dtype(line), line);
    const Tensor all = index({columns}, 0, line);
    const Ref from = y.node(line), to = x.node(line);  // inside the loop, and not carried by it
    for (Tensor k : loop(Arg(rows, line))) {
        const Tensor y_here = tensor_of(from), x_here = tensor_of(to);
        const Tensor row = vjp(y_here, {x_here}, unit(y_here, k, line), options, line)[0];
        store(out(k, all), reshape(Operand(row, line), {columns}), {.unique = true});
    }
    return out;
}

Tensor by_columns(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    const Size rows = element_count(y.shape(line)), columns = element_count(x.shape(line));
    Tensor out = zeros({rows, columns}, y.dtype(line), line);
    const Tensor all = index({rows}, 0, line);
    const Ref from = y.node(line), to = x.node(line);  // inside the loop, and not carried by it
    for (Tensor k : loop(Arg(columns, line))) {
        const Tensor y_here = tensor_of(from), x_here = tensor_of(to);
        const Tensor column = jvp(y_here, {x_here}, {unit(x_here, k, line)}, options, line);
        store(out(all, k), reshape(Operand(column, line), {rows}), {.unique = true});
    }
    return out;
}

/// The place of an element in row-major order, from its indices.
Tensor flat_place(const std::vector<Tensor>& at, const Shape& shape) {
    Tensor out = at[0];
    for (size_t d = 1; d < at.size(); ++d) out = out * Tensor(shape[d]) + at[d];
    return out;
}

/// Computes it from as many directions as there are colours: each element of y depends on no two
/// elements of x that move together.
Tensor by_colours(const Tensor& y, const Tensor& x, const Stencil& stencil, const Colouring& by,
                  const GradOptions& options, SourceLine line) {
    const Shape shape = y.shape(line), behind = x.shape(line);
    const size_t rank = shape.size();
    const auto colour_at = [&](const std::vector<Tensor>& at) {
        Tensor sum = 0;
        for (size_t d = 0; d < rank; ++d) sum = sum + at[d] * static_cast<int>(by.factors[d]);
        return sum % static_cast<int>(by.count);
    };
    std::vector<Tensor> own, of_x;
    for (size_t d = 0; d < rank; ++d) {
        own.push_back(index(shape, static_cast<int>(d), line));
        of_x.push_back(index(behind, static_cast<int>(d), line));
    }
    const Tensor colours = colour_at(of_x), row = flat_place(own, shape);
    std::vector<Tensor> columns, wanted, found;  // by offset: of x, -1: outside; colours; values
    for (const Offset& offset : stencil.offsets) {
        std::vector<Tensor> at;
        Tensor inside = row >= 0;
        for (size_t d = 0; d < rank; ++d) {
            const Tensor extent(behind[d]);
            Tensor next = own[d] + static_cast<int>(offset[d]);
            if (stencil.wraps[d])
                next = (next % extent + extent) % extent;
            else
                inside = inside & (next >= 0) & (next < extent);
            at.push_back(select(inside, next, 0));
        }
        columns.push_back(select(inside, flat_place(at, behind), -1));
        wanted.push_back(colour_at(at));
        found.push_back(zeros(shape, y.dtype(line), line));
    }
    const Ref from = y.node(line), to = x.node(line);  // inside the loop, and not carried by it
    for (Tensor k : loop(static_cast<int>(by.count))) {
        const Tensor y_here = tensor_of(from), x_here = tensor_of(to);
        const Tensor seed = (colours == k).as(x.dtype(line), line);
        const Tensor change = jvp(y_here, {x_here}, {seed}, options, line);
        for (size_t t = 0; t < found.size(); ++t)
            found[t] = select(wanted[t] == k, change, found[t]);
    }
    Tensor out = zeros({element_count(shape), element_count(behind)}, y.dtype(line), line);
    for (size_t t = 0; t < found.size(); ++t)
        store(out(row, columns[t]), found[t], {.unique = true});
    return out;
}

/// Nothing where it would take as many directions as x has elements.
std::optional<Tensor> compressed(const Tensor& y, const Tensor& x, const GradOptions& options,
                                 SourceLine line) {
    const Shape behind = x.shape(line);
    if (behind.empty() || behind.size() != y.shape(line).size()) return std::nullopt;
    const auto stencil = stencil_of(y.node(line), x.node(line));
    if (!stencil) return std::nullopt;
    const auto by = colours_of(*stencil, behind, element_count(behind).upper_bound());
    if (!by) return std::nullopt;
    return by_colours(y, x, *stencil, *by, options, line);
}

}  // namespace

Tensor jacobian(const Tensor& value, const Tensor& by, const GradOptions& options,
                SourceLine line) {
    std::vector<Ref> inputs{by.node(line)};
    const std::vector<Ref> values{value.node(line)};
    const Tensor y = tensor_of(with_history(*current_state(), values, inputs, line)[0]);
    const Tensor x = tensor_of(inputs[0]);
    Shape shape = y.shape(line);
    const Shape behind = x.shape(line);
    const bool forward = proved_less_equal(element_count(behind), element_count(shape));
    const std::optional<Tensor> few = compressed(y, x, options, line);
    const Tensor flat = few       ? *few
                        : forward ? by_columns(y, x, options, line)
                                  : by_rows(y, x, options, line);
    shape.insert(shape.end(), behind.begin(), behind.end());
    return reshape(Operand(flat, line), shape);
}

std::vector<Tensor> jacobian(const Tensor& y, const std::vector<Tensor>& xs,
                             const GradOptions& options, SourceLine line) {
    std::vector<Tensor> out;
    for (const Tensor& x : xs) out.push_back(jacobian(y, x, options, line));
    return out;
}

Tensor hessian(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    return jacobian(grad(y, x, options, line), x, options, line);
}

}  // namespace firn
