// Memory that is stored to as a whole.
#include "compiler/algorithms/unset.h"

#include "compiler/frontend/record.h"

namespace firn {

Tensor unset(DType dtype, const Shape& shape) {
    return Tensor::from_node(empty(builder(*current_state(), {}), dtype, shape));
}

Tensor unset_like(const Tensor& x) { return unset(x.dtype(), x.shape()); }

}  // namespace firn
