// Exponentials of even steps, and running products.
#include "compiler/algorithms/series.h"

#include <cmath>

#include "compiler/algorithms/real.h"
#include "compiler/algorithms/scan.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

void check_count(const char* what, const Size& count) {
    if (count.upper_bound() < 0)
        refuse(std::string(what) + ": the count is " + count.text() +
               "; ask for 0 numbers or more");
}

}  // namespace

Tensor logspace(const Arg& begin, const Arg& end, const Size& count, const Arg& base) {
    LineScope at(begin.line());
    check_count("logspace", count);
    const Tensor exponents = linspace(begin, end, count);
    return pow_of(base, exponents);
}

Tensor geomspace(const Arg& begin, const Arg& end, const Size& count) {
    LineScope at(begin.line());
    check_count("geomspace", count);
    if (begin.is_scalar() && end.is_scalar()) {
        const double a = begin.scalar().as_double(), b = end.scalar().as_double();
        if (!(a * b > 0) && !(std::isnan(a) || std::isnan(b)))
            refuse("geomspace: the ends are " + std::to_string(a) + " and " + std::to_string(b) +
                   "; give numbers of one sign, or use linspace");
    }
    const std::vector<Tensor> ends = meet_as_floats({begin, end});
    const Tensor from = as_wide(ends[0]), to = as_wide(ends[1]), i = arange(count);
    const Tensor t = linspace(Tensor(0.0f), 1.0f, count).as(from.dtype());
    Tensor out = exp(log(abs(from)) * (1.0f - t) + log(abs(to)) * t) * sign(from);
    out = select(from * to > 0, out, std::nanf(""));
    out = select(i == 0, from, select(i == count - Size(1), to, out));
    return out.as(ends[0].dtype());
}

Tensor vander(const Operand& x, const Size& columns, const VanderOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    if (own.rank() != 1 || columns.upper_bound() < 0)
        refuse("vander: x is " + text(own.shape()) + " and there are " + columns.text() +
               " columns; x has one axis, and columns are 0 or more");
    const DType type = arithmetic_type(own.dtype());
    const Tensor base = expand(unsqueeze(own.as(type), 1), {own.size(0), columns});
    const Tensor powers = cumprod(base, {.axis = 1, .exclusive = true});
    return options.increasing ? powers : flip(powers, {.axis = 1});
}

Tensor vander(const Operand& x, const VanderOptions& options) {
    LineScope at(x.line());
    return vander(x, x.tensor().rank() == 1 ? Size(x.tensor().size(0)) : Size(0), options);
}

}  // namespace firn
