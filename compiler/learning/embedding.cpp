// Reads of rows, and stores of them in order as its gradient.
#include "compiler/learning/embedding.h"

#include "compiler/algorithms/scatter_in_order.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/effects.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/learning/initialise.h"

namespace firn {

Embedding::Embedding(int64_t count, int64_t size, const EmbeddingOptions& options, SourceLine line)
    : checks_(options.check_indices) {
    LineScope at(line);
    if (count < 1 || size < 1)
        refuse("Embedding: " + std::to_string(count) + " rows of " + std::to_string(size) +
               " elements; give 1 or more");
    weight = add_parameter("weight", {count, size}, options.init ? options.init : normal_init(1));
}

Tensor Embedding::operator()(const Operand& indices) const {
    LineScope at(indices.line());
    const Tensor table = weight.value(), own = indices.tensor();
    if (!own.dtype().is_integer())
        refuse(std::string("Embedding: the indices are ") + own.dtype().name() + text(own.shape()) +
               "; they are integers");
    // A narrow type need not hold the number of rows.
    const Tensor i = own.as(arithmetic_type(own.dtype()));
    const Size count = table.shape()[0], size = table.shape()[1];
    if (checks_)
        assert_value((i >= 0) & (i < Tensor(count).as(i.dtype())),
                     "Embedding: an index is not one of the " + count.text() +
                         " rows, from 0; mend the indices");
    const Size positions = element_count(i.shape());
    const auto read = [&](const std::vector<Tensor>& xs) { return take(xs[0], i, {.axis = 0}); };
    const GradientRule rule = [i, positions, size](const std::vector<Tensor>& xs, const Tensor&,
                                                   const Tensor& cotangent) {
        Tensor sums = zeros(xs[0].shape(), xs[0].dtype());
        const Tensor rows =
            reshape(clamp(i, 0, Tensor(xs[0].shape()[0] - Size(1))), {positions, 1});
        scatter_add(sums(rows, arange(size)), reshape(cotangent, {positions, size}),
                    {.deterministic = true});
        return std::vector<Tensor>{sums};
    };
    return custom_gradient(read, {table}, rule);
}

}  // namespace firn
