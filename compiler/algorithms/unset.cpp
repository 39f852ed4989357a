// Memory that is stored to as a whole.
#include "compiler/algorithms/unset.h"

#include "compiler/frontend/record.h"

namespace firn {

Tensor unset_like(const Tensor& x) {
    return Tensor::from_node(empty(builder(*current_state(), {}), x.dtype(), x.shape()));
}

}  // namespace firn
