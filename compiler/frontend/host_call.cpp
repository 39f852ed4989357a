// Work of the host as a value.
#include "compiler/frontend/host_call.h"

#include <memory>

#include "compiler/base/error.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/record.h"
#include "compiler/program/host_operation.h"

namespace firn {

Tensor host_call(SharedPtr<const HostOperation> operation, const Operand& x) {
    LineScope at(x.line());
    if (!operation) fail_at(x.line(), "host_call: there is no operation");
    try {
        return Tensor::from_node(
            host_call(builder_at(x), std::shared_ptr<const HostOperation>(operation), x.node()));
    } catch (const UserError& error) {  // of HostOperation::output_shape, which knows no line
        fail_at(x.line(), error.what());
    }
}

}  // namespace firn
