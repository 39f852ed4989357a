// A guard of the function that is recorded.
#include "compiler/frontend/required_sizes.h"

#include "compiler/frontend/record.h"
#include "compiler/ir/builder_checks.h"

namespace firn {

void require_equal_sizes(const Size& left, const Size& right, const std::string& message) {
    require_equal(builder(*current_state(), {}), left, right, message);
}

}  // namespace firn
