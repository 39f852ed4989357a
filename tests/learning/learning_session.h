// Fixtures: sessions of the kernel interpreter that count, and what tests of models compare.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/language.h"
#include "compiler/learning/learning.h"
#include "compiler/program/error.h"
#include "compiler/program/executor.h"
#include "compiler/program/program.h"

namespace firn {

/// Runs on the kernel interpreter, and counts.
class CountingExecutor : public Executor {
  public:
    explicit CountingExecutor(DeviceProfile profile = cpu_profile())
        : inner_(Session::interpreter(std::move(profile))) {}
    const DeviceProfile& profile() const override { return inner_.executor().profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        ++allocations;
        return inner_.executor().allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        inner_.executor().write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        inner_.executor().read(memory, offset, data);
    }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        ++runs;
        inner_.executor().run(program, call);
    }
    void wait() override {}
    int allocations = 0, runs = 0;

  private:
    Session inner_;
};

using Floats = std::vector<float>;
using Tensors = std::vector<Tensor>;

/// Numbers between low and high without a pattern.
inline Floats numbers(int64_t count, float low = -1.0f, float high = 1.0f) {
    Floats out;
    for (int64_t k = 0; k < count; ++k)
        out.push_back(low + (high - low) * float((k * 37 + 11) % 101) / 101.0f);
    return out;
}
inline Tensor some(const Shape& shape, float low = -1.0f, float high = 1.0f) {
    return tensor(numbers(element_count(shape).constant(), low, high), shape);
}

inline void expect_near(const Floats& got, const Floats& expected, double tolerance = 1e-5) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k)
        ASSERT_NEAR(got[k], expected[k], tolerance * std::max(1.0f, std::abs(expected[k])))
            << "element " << k;
}

/// All elements of all variables.
inline Floats values_of(const std::vector<NamedVariable>& variables) {
    Floats out;
    for (const NamedVariable& each : variables)
        for (float value : each.variable.value().to_vector<float>()) out.push_back(value);
    return out;
}

/// The message of the UserError that `body` throws; empty when it throws none.
template <class Body>
std::string user_error(const Body& body) {
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}
inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos)
            << "'" << part << "' is not in: " << message;
}

}  // namespace firn
