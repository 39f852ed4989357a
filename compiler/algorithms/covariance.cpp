// Products of deviations from means.
#include "compiler/algorithms/covariance.h"

#include "compiler/algorithms/matmul.h"
#include "compiler/algorithms/real.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// The weights with the rank of x.
Tensor fitting_weights(const Tensor& x, const Tensor& weights, const Axes& axes) {
    const Shape shape = x.shape(), own = weights.shape();
    bool fit = own.size() == shape.size();
    for (size_t k = 0; fit && k < own.size(); ++k) fit = !differ(own[k], shape[k]);
    if (fit) return weights;
    if (own.size() == 1 && axes.values.size() == 1) {
        const auto axis = static_cast<size_t>(checked_axis("average", axes.values[0], shape));
        if (!differ(own[0], shape[axis])) {
            Shape wide(shape.size(), Size(1));
            wide[axis] = own[0];
            return expand(reshape(weights, wide), shape);
        }
    }
    refuse("average: x is " + text(shape) + " and the weights are " + text(own) +
           "; they have the same shape, or one axis for the one in .axis");
}

/// [variables, observations].
Tensor variables_of(const char* what, const Tensor& x, bool row_var) {
    const int rank = x.rank();
    if (rank > 2)
        refuse(std::string(what) + ": x is " + text(x.shape()) +
               "; give [variables, observations], or one axis of observations");
    if (rank < 2) return reshape(as_wide(x), {1, -1});
    // As in numpy, a single row is one variable, regardless of row_var.
    return as_wide(row_var || x.shape()[0].is(1) ? x : transpose(x));
}

Tensor covariance(const Tensor& variables, int correction) {
    Tensor away = variables - mean(variables, {.axis = 1, .keep_dims = true});
    Tensor count = reduced_count(variables.shape(), 1, variables.dtype());
    return matmul(away, transpose(away)) / max(count - correction, 0);
}

Tensor correlation(const Tensor& c) {
    const Tensor deviation = sqrt(diagonal(c));
    return clip(c / unsqueeze(deviation, 1) / deviation, -1, 1);
}

/// A matrix of one variable, given as one axis, is one number.
Tensor as_given(const Tensor& matrix, const Tensor& x) {
    const Tensor out = x.rank() < 2 ? reshape(matrix, {}) : matrix;
    return out.as(real_type(x.dtype()));
}

Tensor joined(const char* what, const Operand& x, const Operand& y, bool row_var) {
    const std::vector<Tensor> in = meet_as_floats({x, y});
    return concat({variables_of(what, in[0], row_var), variables_of(what, in[1], row_var)});
}

}  // namespace

Tensor average(const Operand& x, const Operand& weights, const ReduceOptions& options) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet_as_floats({x, weights});
    const Tensor values = as_wide(in[0]);
    const Tensor factors = fitting_weights(values, as_wide(in[1]), options.axis);
    return (sum(values * factors, options) / sum(factors, options)).as(in[0].dtype());
}

Tensor cov(const Operand& x, const CovarianceOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    return as_given(covariance(variables_of("cov", own, options.row_var), options.correction), own);
}

Tensor cov(const Operand& x, const Operand& y, const CovarianceOptions& options) {
    LineScope at(x.line());
    const DType type = meet_as_floats({x, y})[0].dtype();
    return covariance(joined("cov", x, y, options.row_var), options.correction).as(type);
}

Tensor corrcoef(const Operand& x, const CovarianceOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), variables = variables_of("corrcoef", own, options.row_var);
    return as_given(correlation(covariance(variables, options.correction)), own);
}

Tensor corrcoef(const Operand& x, const Operand& y, const CovarianceOptions& options) {
    LineScope at(x.line());
    const DType type = meet_as_floats({x, y})[0].dtype();
    const Tensor variables = joined("corrcoef", x, y, options.row_var);
    return correlation(covariance(variables, options.correction)).as(type);
}

}  // namespace firn
