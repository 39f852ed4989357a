// A device that lacks something which a program's kernels use is told so by name.
#include "engine/gpu/check_device.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "compiler/base/error.h"
#include "compiler/program/vulkan_limits.h"
#include "tests/program/program_builder.h"

namespace firn {
namespace {

using namespace test;

/// A program with one kernel that needs something of everything.
Program demanding() {
    Program p;
    p.name = "wave";
    const int x = add_argument(p, "x", {Size::symbol("n")});
    p.steps = {dispatch(p, {x, x}, {add_buffer(p, Size::symbol("n"))})};
    KernelInfo& kernel = p.kernels[0];
    kernel.group_size = {256, 1, 1};
    kernel.shared_bytes = 4096;
    kernel.bindings[1].form = BindingForm::View;
    kernel.param_types.assign(20, f32);
    kernel.keeps_special_floats = true;
    kernel.back_edges = 60000;
    kernel.needs = {.known = true,
                    .f64 = true,
                    .i64 = true,
                    .bits_16 = true,
                    .bits_8 = true,
                    .subgroups = true,
                    .wide_atomics = true,
                    .float_atomics = true};
    p.profile = cpu_profile();
    return p;
}

struct Lack {
    const char* says;
    std::function<void(DeviceProfile&)> change;
};
const Lack kLacks[] = {
    {"256 invocations in one extent", [](auto& d) { d.max_group_extent[0] = 128; }},
    {"256 invocations in a workgroup", [](auto& d) { d.max_group_size = 128; }},
    {"4096 bytes of shared memory and this device has 2048",
     [](auto& d) { d.shared_bytes = 2048; }},
    {"2 storage buffers", [](auto& d) { d.max_storage_buffers = 1; }},
    {"1 typed views", [](auto& d) { d.max_views = 0; }},
    {"80 bytes of push constants", [](auto& d) { d.push_constant_bytes = 64; }},
    {"signed zeros", [](auto& d) { d.keeps_special_floats = false; }},
    {"60000 loop iterations", [](auto& d) { d.max_back_edges = 1000; }},
    {"floats of 64 bits", [](auto& d) { d.has_f64 = false; }},
    {"integers of 64 bits", [](auto& d) { d.has_i64 = false; }},
    {"atomics of 64 bits", [](auto& d) { d.wide_atomics = false; }},
    {"values of 16 bits", [](auto& d) { d.storage_16bit = false; }},
    {"values of 8 bits", [](auto& d) { d.storage_8bit = false; }},
    {"atomic sums of floats", [](auto& d) { d.float_atomic_add = false; }},
    {"which this device cannot", [](auto& d) { d.subgroup_shuffle = false; }},
    {"8 lanes of a subgroup and this device has subgroups of 32",
     [](auto& d) { d.subgroup_size = 32; }},
    {"the driver of this device gets wrong", [](auto& d) { d.compares_widened = false; }},
};

TEST(CheckDevice, TheOneThatItWasCompiledForRunsIt) {
    EXPECT_NO_THROW(check_device(demanding(), cpu_profile()));
}

TEST(CheckDevice, WhatIsLackingIsNamed) {
    for (const Lack& lack : kLacks) {
        DeviceProfile device = cpu_profile();
        lack.change(device);
        const std::string said = message<UserError>([&] { check_device(demanding(), device); });
        EXPECT_NE(said.find(lack.says), std::string::npos) << lack.says << ": " << said;
        EXPECT_NE(said.find("compile it for this one"), std::string::npos) << said;
    }
}

TEST(CheckDevice, WhatNoKernelUsesIsNotAskedFor) {
    Program p = demanding();
    KernelInfo plain;
    plain.bindings = p.kernels[0].bindings;
    plain.bindings[1].form = BindingForm::Storage;
    p.kernels[0] = plain;
    DeviceProfile device = least(cpu_profile());
    device.subgroup_size = 4;
    EXPECT_NO_THROW(check_device(p, device));
}

TEST(CheckDevice, QuotientsAreThoseThatItWasCompiledFor) {
    Program p = demanding();
    DeviceProfile device = cpu_profile();
    device.rounds_exactly = false;
    EXPECT_NO_THROW(check_device(p, device));
    p.kernels[0].needs.exact_division = true;
    EXPECT_NO_THROW(check_device(p, cpu_profile()));
    EXPECT_NE(message<UserError>([&] {
                  check_device(p, device);
              }).find("quotients or roots of floats as they are, and this device is off"),
              std::string::npos);
    p.profile.rounds_exactly = false;
    EXPECT_NO_THROW(check_device(p, device));
}

TEST(CheckDevice, BuffersByAddressAndMatrixUnits) {
    Program p = demanding();
    p.kernels[0].bindings[0].form = BindingForm::Address;
    DeviceProfile device = cpu_profile();
    device.buffer_addresses = false;
    EXPECT_NE(message<UserError>([&] { check_device(p, device); }).find("1 buffers by address"),
              std::string::npos);
    p = demanding();
    p.kernels[0].matrix_unit = {16, 16, 16};
    EXPECT_NE(message<UserError>([&] {
                  check_device(p, cpu_profile());
              }).find("a matrix unit of 16 x 16 x 16 and this device has none"),
              std::string::npos);
}

TEST(CheckDevice, LoopsOfUnknownLengthNeedAsMuchAsTheyWereMadeFor) {
    Program p = demanding();
    p.kernels[0].back_edges = -1;
    EXPECT_NO_THROW(check_device(p, cpu_profile()));
    p.profile.max_back_edges = 0;
    EXPECT_NE(message<UserError>([&] {
                  check_device(p, cpu_profile());
              }).find("ends an invocation after 65535"),
              std::string::npos);
}

}  // namespace
}  // namespace firn
