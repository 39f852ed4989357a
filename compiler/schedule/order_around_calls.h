// The order of steps among which the host makes calls.
#pragma once
#include <cstddef>
#include <vector>

namespace firn {

/// A step of a region.
struct WaitingStep {
    bool calls = false;          // a call of the host
    std::vector<size_t> before;  // earlier steps that it needs
};

/// Returns the steps in an order in which calls begin as early as they can, and what needs their
/// outputs comes as late as it can, so that kernels run while calls are under way. Calls that are
/// ready at one time keep their order, and without calls nothing changes: the order follows from
/// the steps alone, so that it is the same in all processes that run one program.
std::vector<size_t> order_around_calls(const std::vector<WaitingStep>& steps);

}  // namespace firn
