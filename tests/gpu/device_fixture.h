// A device with validation for tests: one message fails the test; no driver skips it visibly.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/device.h"

namespace firn {

/// Gives every test `device`, made once per test program, and checks its messages afterwards.
class DeviceTest : public testing::Test {
  protected:
    static DeviceOptions options() {
        DeviceOptions options;
        options.validation = true;
        return options;
    }

    void SetUp() override {
        std::string reason;
        if (!shared_device() && !try_create(reason)) GTEST_SKIP() << "no device: " << reason;
        device = shared_device();
        seen_ = device->validation_messages().size();
    }

    void TearDown() override {
        if (!device) return;
        device->wait_idle();
        std::vector<std::string> messages = device->validation_messages();
        for (size_t i = seen_; i < messages.size(); ++i) ADD_FAILURE() << messages[i];
    }

    std::shared_ptr<Device> device;

  private:
    static std::shared_ptr<Device>& shared_device() {
        static std::shared_ptr<Device> shared;
        return shared;
    }
    static bool try_create(std::string& reason) {
        try {
            shared_device() = Device::create(options());
        } catch (const DeviceError& error) {
            reason = error.what();
        }
        return shared_device() != nullptr;
    }
    size_t seen_ = 0;
};

}  // namespace firn
