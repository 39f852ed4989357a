// What tests of the executor share: their fixture, and what a call says of its failure.
#pragma once
#include <functional>
#include <string>

#include "tests/gpu/device_fixture.h"

namespace firn {

class ExecutorTest : public DeviceTest {};

}  // namespace firn
