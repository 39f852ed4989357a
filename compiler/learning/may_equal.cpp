// Shapes that may be equal.
#include "compiler/learning/may_equal.h"

namespace firn {

bool may_equal(const Shape& a, const Shape& b) {
    if (a.size() != b.size()) return false;
    for (size_t k = 0; k < a.size(); ++k)
        if ((a[k] - b[k]).is_constant() && !(a[k] == b[k])) return false;
    return true;
}

}  // namespace firn
