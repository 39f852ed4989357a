// A device with validation for tests: one message fails the test; no driver skips it visibly.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/frontend/environment.h"
#include "compiler/program/vulkan_limits.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/device.h"

namespace firn {

/// Returns the message of a failed call; empty if it does not fail.
inline std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

/// Gives every test `device`, made once per suite. Fails the test that draws a validation message
/// from it, and the suite where the end of the device finds something that was not freed.
class DeviceTest : public testing::Test {
  protected:
    static DeviceOptions options() {
        DeviceOptions options;
        options.validation = true;
        if (environment("FIRN_LIMITS")) options.limit = least;
        return options;
    }

    void SetUp() override {
        std::string reason;
        if (!suite().device && !try_create(reason)) GTEST_SKIP() << "no device: " << reason;
        device = suite().device;
    }

    void TearDown() override {
        if (!device) return;
        device->wait_idle();
        device.reset();
        fail_on_messages();
    }

    // Here, not at exit: by then the validation layer has destroyed its records.
    static void TearDownTestSuite() {
        suite().device.reset();
        fail_on_messages();
    }

    std::shared_ptr<Device> device;

  private:
    struct Suite {
        std::shared_ptr<Device> device;
        std::mutex mutex;
        std::vector<std::string> messages;
    };
    static Suite& suite() {
        static Suite suite;
        return suite;
    }
    static bool try_create(std::string& reason) {
        try {
            DeviceOptions with_log = options();
            with_log.on_message = [](const std::string& message) {
                std::lock_guard lock(suite().mutex);
                suite().messages.push_back(message);
            };
            suite().device = Device::create(with_log);
        } catch (const DeviceError& error) {
            reason = error.what();
        }
        return suite().device != nullptr;
    }
    static void fail_on_messages() {
        std::lock_guard lock(suite().mutex);
        for (const std::string& message : suite().messages) ADD_FAILURE() << message;
        suite().messages.clear();
    }
};

}  // namespace firn
