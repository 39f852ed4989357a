// All derivatives of several elements by several.
#include "compiler/frontend/jacobian.h"

#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/scatter.h"
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
    const Ref from = y.node(line), to = x.node(line);  // inside the loop, not what it would carry
    for (Tensor k : loop(Arg(rows, line))) {
        const Tensor y_here = Tensor::from_node(from), x_here = Tensor::from_node(to);
        const Tensor row = vjp(y_here, {x_here}, unit(y_here, k, line), options, line)[0];
        store(out(k, all), reshape(Operand(row, line), {columns}), {.unique = true});
    }
    return out;
}

Tensor by_columns(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    const Size rows = element_count(y.shape(line)), columns = element_count(x.shape(line));
    Tensor out = zeros({rows, columns}, y.dtype(line), line);
    const Tensor all = index({rows}, 0, line);
    const Ref from = y.node(line), to = x.node(line);  // inside the loop, not what it would carry
    for (Tensor k : loop(Arg(columns, line))) {
        const Tensor y_here = Tensor::from_node(from), x_here = Tensor::from_node(to);
        const Tensor column = jvp(y_here, {x_here}, {unit(x_here, k, line)}, options, line);
        store(out(all, k), reshape(Operand(column, line), {rows}), {.unique = true});
    }
    return out;
}

}  // namespace

Tensor jacobian(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    Shape shape = y.shape(line);
    const Shape behind = x.shape(line);
    const bool forward = proved_less_equal(element_count(behind), element_count(shape));
    const Tensor flat = forward ? by_columns(y, x, options, line) : by_rows(y, x, options, line);
    shape.insert(shape.end(), behind.begin(), behind.end());
    return reshape(Operand(flat, line), shape);
}

Tensor hessian(const Tensor& y, const Tensor& x, const GradOptions& options, SourceLine line) {
    return jacobian(grad(y, x, options, line), x, options, line);
}

}  // namespace firn
