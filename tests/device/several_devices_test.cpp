// Several sessions in one process: the oracle, the processor, a Vulkan driver twice, and a device
// whose memory the host does not see.
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/cpu_session.h"
#include "compiler/frontend/session_copy.h"
#include "engine/firn/device_session.h"
#include "engine/gpu/buffer.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/frontend/counting_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// A Vulkan device whose memory the host reaches by staging buffers alone, as on a discrete GPU.
Session staged_session() {
    DeviceOptions options;
    options.validation = true;
    options.map_memory = false;
    return Session(std::make_shared<VulkanExecutor>(Device::create(options)));
}

class SeveralDevices : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        all().emplace_back("oracle", Session::oracle());
        if (why_no_cpu_session().empty()) all().emplace_back("native", cpu_session());
        try {
            const DeviceChoice checked{.device = "0", .validation = true};
            all().emplace_back("vulkan", device_session(checked));
            all().emplace_back("the same driver", device_session(checked));
            all().emplace_back("staged", staged_session());
            all().emplace_back("staged too", staged_session());
        } catch (const DeviceError&) {
        }
    }
    static void TearDownTestSuite() { all().clear(); }
    void TearDown() override {
        for (const auto& [name, session] : all()) EXPECT_EQ(validation_report(session), "") << name;
    }
    /// All sessions that this machine has, by name.
    static std::vector<std::pair<std::string, Session>>& all() {
        static std::vector<std::pair<std::string, Session>> sessions;
        return sessions;
    }
    /// Each pair of two sessions.
    template <class F>
    static void for_pairs(const F& visit) {
        for (const auto& [from_name, from] : all())
            for (const auto& [to_name, to] : all()) {
                if (from.state() == to.state()) continue;
                SCOPED_TRACE(from_name + " to " + to_name);
                visit(from, to);
            }
    }
    static Session found(const std::string& name) {
        for (const auto& [each, session] : all())
            if (each == name) return session;
        return Session::oracle();
    }
};

template <class F>
auto within(const Session& session, const F& body) {
    const SessionScope scope(session);
    return body();
}

TEST_F(SeveralDevices, ACopyHasTheValueOnEachPairOfDevices) {
    for_pairs([](const Session& from, const Session& to) {
        const Tensor x = within(from, [] { return reshape(arange(15) * 2, {3, 5}); });
        const Tensor y = x.to(to);
        const SessionScope scope(to);
        EXPECT_EQ(y.shape(), (Shape{3, 5}));
        EXPECT_EQ((y + 1).to_vector<int>(),
                  (Ints{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29}));
    });
}

TEST_F(SeveralDevices, ACopyKeepsTheBytesOfEachTypeForSizesOfZeroOneAndOddOnes) {
    const DType types[] = {f32, i32, u32, boolean, f16, bf16, u8, i8, u16, i16};
    for_pairs([&](const Session& from, const Session& to) {
        for (const DType type : types)
            for (const int size : {0, 1, 7, 33}) {
                const auto bytes = static_cast<size_t>(size * type.bytes());
                std::vector<uint8_t> data(bytes);
                for (size_t k = 0; k < bytes; ++k)
                    data[k] = type.is_bool() ? k % 4 == 0 && k % 3 == 0 : (k * 37 + 11) & 0x3f;
                const Tensor x =
                    within(from, [&] { return tensor_from_bytes(data, {size}, type); });
                const Tensor y = x.to(to);
                const auto read = within(to, [&] { return bytes_of(y); });
                ASSERT_EQ(read.size(), bytes) << type.name() << size;
                EXPECT_EQ(std::memcmp(read.data(), data.data(), bytes), 0) << type.name() << size;
            }
    });
}

TEST_F(SeveralDevices, NumbersArePassedOn) {
    for_pairs([](const Session& from, const Session& to) {
        const Tensor x = within(from, [] { return Tensor(2.5f); });
        const Tensor y = x.to(to);
        const SessionScope scope(to);
        EXPECT_EQ(y.rank(), 0);
        EXPECT_EQ((y * 2.0f).item<float>(), 5.0f);
    });
}

TEST_F(SeveralDevices, ACopyIsOrderedWithTheWorkOfBothDevices) {
    for_pairs([](const Session& from, const Session& to) {
        Tensor x = within(from, [] { return zeros({4096}); });
        Tensor y = within(to, [] { return zeros({4096}); });
        for (int step = 1; step <= 5; ++step) {
            within(from, [&] { x = x + 1.0f, realize(x); });
            const Tensor given = x.to(to);
            within(from, [&] { x = x + 0.0f, realize(x); });  // while the copy is used
            within(to, [&] { y = y + given, realize(y); });
        }
        within(to, [&] { EXPECT_EQ(y.to_vector<float>(), Floats(4096, 15.0f)); });
    });
}

TEST_F(SeveralDevices, CopiesInPiecesAreWhole) {
    if (found("staged too").compiles() == false) GTEST_SKIP() << "there is no Vulkan device";
    const int64_t count = static_cast<int64_t>(kCopiedPiece / 4) * 2 + 5;
    const Tensor x = within(found("staged"), [&] { return arange(count) * 3; });
    const Tensor y = x.to(found("staged too"));
    const SessionScope scope(found("staged too"));
    EXPECT_TRUE(firn::all(y == arange(count) * 3).item<bool>());
}

TEST_F(SeveralDevices, ASizeOfTheDeviceIsReadForTheCopy) {
    for_pairs([](const Session& from, const Session& to) {
        const Tensor x = within(from, [] {
            const Tensor all_of = tensor({5, 1, 7, 2});
            return compact(all_of, all_of > 1);
        });
        const Tensor y = x.to(to);
        const SessionScope scope(to);
        EXPECT_EQ(y.to_vector<int>(), (Ints{5, 7, 2}));
    });
}

TEST_F(SeveralDevices, InItsOwnSessionItIsTheSameValue) {
    const SessionScope scope(Session::oracle());
    const Tensor x = tensor({1.0f, 2.0f});
    const Tensor y = x.to(current_session());
    EXPECT_EQ(y.node().get(), x.node().get());
}

TEST_F(SeveralDevices, HandlesOfAnotherSessionCanBeCopiedAndAssigned) {
    const Session other = Session::oracle();
    const SessionScope scope(Session::oracle());
    const Tensor x = tensor({1, 2});
    std::vector<Tensor> held;
    for (int k = 0; k < 9; ++k) held.push_back((x * k).to(other));  // moved as it grows
    Tensor last = x;
    last = held.back();
    EXPECT_EQ(last.session().state(), other.state());
    within(other, [&] { EXPECT_EQ(last.to_vector<int>(), (Ints{8, 16})); });
    last = x;
    EXPECT_EQ(last.to_vector<int>(), (Ints{1, 2}));
    expect_parts(user_error([&] { held[0] + x; }), {"another session", "x.to(current_session())"});
}

TEST_F(SeveralDevices, AddFromAddsATensorOfAnotherDevice) {
    for_pairs([](const Session& from, const Session& to) {
        Tensor x = within(to, [] { return tensor({1.5f, 2.5f}); });
        const Tensor y = within(from, [] { return tensor({10.0f, 20.0f}); });
        x.add_from(y);
        within(to, [&] { EXPECT_EQ(x.to_vector<float>(), (Floats{11.5f, 22.5f})); });
    });
}

TEST_F(SeveralDevices, AddFromRefusesOtherTypesAndShapes) {
    Tensor x = within(Session::oracle(), [] { return ones({2, 3}); });
    const SessionScope scope(Session::oracle());
    expect_parts(user_error([&] { x.add_from(ones({3})); }),
                 {"add_from", "f32[2, 3]", "f32[3]", "several_devices_test.cpp:"});
    expect_parts(user_error([&] { x.add_from(ones({2, 3}, i32)); }), {"add_from", "i32[2, 3]"});
}

TEST_F(SeveralDevices, ACopyWhileOneOfTheTwoRecordsIsRefused) {
    const Session other = Session::oracle();
    const SessionScope scope(Session::oracle());
    const Tensor there = within(other, [] { return ones({2}); });
    const std::string out =
        user_error([&] { compile([&](Tensor x) { return x.to(other), x; }, {f32(2)}); });
    expect_parts(out, {"to:", "is being recorded", "several_devices_test.cpp:"});
    const std::string in = user_error(
        [&] { compile([&](Tensor x) { return x + there.to(current_session()); }, {f32(2)}); });
    expect_parts(in, {"to:", "is being recorded", "several_devices_test.cpp:"});
}

TEST_F(SeveralDevices, AGradientByACopyIsRight) {
    for_pairs([](const Session& from, const Session& to) {
        const Tensor w = within(from, [] { return tensor({1.0f, 2.0f}) * 3.0f; });
        const Tensor x = w.to(to);
        const SessionScope scope(to);
        EXPECT_EQ(grad(sum(x * x), x).to_vector<float>(), (Floats{6, 12}));
    });
}

TEST_F(SeveralDevices, AGradientThroughAnotherSessionIsRefused) {
    for_pairs([](const Session& from, const Session& to) {
        const SessionScope scope(to);
        Tensor w = tensor({1.0f, 2.0f});
        const Tensor there = w.to(from);
        const Tensor squared = within(from, [&] { return there * there; });
        const Tensor back = squared.to(to);
        expect_parts(user_error([&] { grad(sum(back), w); }),
                     {"grad:", "a copy from another session", "several_devices_test.cpp:"});
        // Also through a value that was computed on the way, and beside one that is right.
        Tensor later = back * 2.0f + w;
        realize(later);
        expect_parts(user_error([&] { grad(sum(later), w); }), {"a copy from another session"});
        EXPECT_EQ(grad(sum(stop_gradient(back) * w), w).to_vector<float>(), (Floats{1, 4}));
    });
}

TEST_F(SeveralDevices, AGradientThroughTwoOtherSessionsIsRefused) {
    const Session a = Session::oracle(), b = Session::oracle(), c = Session::oracle();
    const Tensor w = within(a, [] { return tensor({1.0f, 2.0f}); });
    const Tensor first = w.to(b);
    Tensor computed = within(b, [&] { return first * 2.0f; });
    const Tensor second = computed.to(c);
    const Tensor back = within(c, [&] { return second + 1.0f; }).to(a);
    const SessionScope scope(a);
    expect_parts(user_error([&] { grad(sum(back), w); }), {"a copy from another session"});
}

TEST_F(SeveralDevices, AFunctionOfAnotherSessionIsAStepOfAProgram) {
    for_pairs([](const Session& from, const Session& to) {
        const SessionScope scope(from);
        const auto there = on(to, [](const Tensor& x) { return x * x + 1; });
        auto f = compile([&](Tensor x) { return there(x + 1) - x; }, {i32("n", "m")});
        for (const int n : {0, 1, 5}) {
            const Tensor x = reshape(arange(2 * n), {n, 2});
            Ints wanted;
            for (int k = 0; k < 2 * n; ++k) wanted.push_back((k + 1) * (k + 1) + 1 - k);
            EXPECT_EQ(f(x).to_vector<int>(), wanted) << n;
        }
    });
}

TEST_F(SeveralDevices, CompiledFunctionsOfOtherShapesRunThereToo) {
    for_pairs([](const Session& from, const Session& to) {
        const auto sums = within(to, [] {
            const Tensor scale = tensor({2.0f});
            return compile([=](Tensor x) { return sum(x, {.axis = 1}) * scale; }, {f32("n", "m")});
        });
        const SessionScope scope(from);
        auto f = compile([&](Tensor x) { return on(to, sums)(x) + 1.0f; }, {f32("a", "b")});
        EXPECT_EQ(f(ones({3, 4})).to_vector<float>(), Floats(3, 9.0f));
        EXPECT_EQ(f(ones({1, 7})).to_vector<float>(), Floats(1, 15.0f));
        EXPECT_EQ(on(to, sums)(ones({2, 2})).to_vector<float>(), Floats(2, 4.0f));  // no program
    });
}

TEST_F(SeveralDevices, ExplainShowsWhatRunsElsewhere) {
    if (!found("native").compiles()) GTEST_SKIP() << "there is no native code";
    const SessionScope scope(found("native"));
    const Session other = Session::interpreter();
    const auto there = on(other, [](const Tensor& x) { return x * 2.0f; });
    auto f = compile([&](Tensor x) { return there(x + 1.0f) + x; }, {f32("n")});
    f(ones({4}));
    expect_parts(f.explain(), {"on('" + other.profile().name + "'", "several_devices_test.cpp:"});
}

TEST_F(SeveralDevices, AGradientGoesThroughAFunctionOfAnotherSession) {
    for_pairs([](const Session& from, const Session& to) {
        const SessionScope scope(from);
        const auto there = on(to, [](const Tensor& x) { return x * x * x; });
        auto f = compile([&](Tensor x) { return grad(sum(there(x * 2.0f) * x), x); }, {f32("n")});
        // d/dx of (2 x)^3 x
        EXPECT_EQ(f(tensor({1.0f, 2.0f})).to_vector<float>(), (Floats{32, 256}));
        const Tensor w = tensor({1.0f, 3.0f});
        EXPECT_EQ(grad(sum(there(w)), w).to_vector<float>(), (Floats{3, 27}));
    });
}

TEST_F(SeveralDevices, GradientsThroughOtherShapesAndTwiceAreRefused) {
    const Session other = Session::oracle();
    const SessionScope scope(Session::oracle());
    const Tensor w = tensor({1.0f, 2.0f});
    const auto total = on(other, [](const Tensor& x) { return sum(x * x); });
    expect_parts(user_error([&] { grad(total(w), w).to_vector<float>(); }),
                 {"on('", "several_devices_test.cpp:"});
    const auto cube = on(other, [](const Tensor& x) { return x * x * x; });
    expect_parts(user_error([&] { grad(sum(grad(sum(cube(w)), w)), w).to_vector<float>(); }),
                 {"on('", "several_devices_test.cpp:"});
}

TEST_F(SeveralDevices, FunctionsOfOtherTypesAndSizesOfTheDeviceAreRefused) {
    const Session other = Session::oracle();
    const SessionScope scope(Session::oracle());
    const auto halves = on(other, [](const Tensor& x) { return x * 0.5f; });
    expect_parts(user_error([&] { halves(arange(3)); }),
                 {"on: the function takes i32 and makes f32", "several_devices_test.cpp:"});
    const auto positive = on(other, [](const Tensor& x) { return compact(x, x > 0); });
    expect_parts(user_error([&] { positive(arange(3)); }), {"only the device knows"});
    const auto same = on(other, [](const Tensor& x) { return x; });
    auto compacted = [&](Tensor x) { return same(compact(x, x > 0)); };
    expect_parts(user_error([&] { compile(compacted, {i32("n")}); }), {"only the device knows"});
}

TEST_F(SeveralDevices, InItsOwnSessionAFunctionIsItself) {
    const SessionScope scope(Session::oracle());
    const auto same = on(current_session(), [](const Tensor& x) { return x; });
    const Tensor x = tensor({1, 2});
    EXPECT_EQ(same(x).node().get(), x.node().get());
}

TEST_F(SeveralDevices, WhatComesFromACopyIsKeptNoLongerThanItsOrigin) {
    const Session from = Session::oracle(), to = Session::oracle();
    Tensor x = within(from, [] { return ones({4}); });
    Tensor state = within(to, [] { return zeros({4}); });
    const auto add = within(to, [] {
        return compile([](Tensor s, Tensor y) { return s + y; }, {f32(4), f32(4)});
    });
    for (int k = 0; k < 50; ++k) {
        const Tensor y = x.to(to);
        within(to, [&] { state = add(state, y); });
    }
    EXPECT_GT(to.node_count(), 50u) << "a gradient may ask for them";
    x = within(from, [] { return zeros({4}); });
    for (int k = 0; k < 20; ++k) state = x.to(to);
    EXPECT_LT(to.node_count(), 12u);
}

/// An executor without memory.
class FullExecutor : public CountingExecutor {
  public:
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string&) override {
        throw DeviceError("out of memory: " + std::to_string(bytes) + " bytes were asked for");
    }
    const DeviceProfile& profile() const override {
        static const DeviceProfile full = [] {
            DeviceProfile profile = cpu_profile();
            profile.name = "full device";
            return profile;
        }();
        return full;
    }
};

TEST_F(SeveralDevices, MemoryThatIsFullNamesBothDevices) {
    const Session full(SharedPtr<Executor>(std::make_shared<FullExecutor>()));
    const SessionScope scope(Session::oracle());
    const Tensor x = ones({4, 4});
    try {
        x.to(full);
        FAIL() << "there is no memory";
    } catch (const DeviceError& error) {
        expect_parts(error.what(), {"f32[4, 4]", current_session().profile().name, "full device",
                                    "out of memory: 64 bytes", "several_devices_test.cpp:"});
    }
    EXPECT_EQ(sum(x).item<float>(), 16);
}

}  // namespace
}  // namespace firn
