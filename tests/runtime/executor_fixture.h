// Helpers for tests of the executor: their fixture, and the message of a failed call.
#pragma once
#include <functional>
#include <string>

#include "tests/gpu/device_fixture.h"

namespace firn {

class ExecutorTest : public DeviceTest {};

}  // namespace firn
