// Sizes that only the device knows stay there: nothing is read back, and nothing is recorded anew.
#include "engine/runtime/vulkan_executor.h"
#include "tests/algorithms/agreement.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

/// The device's executor, which counts what is read back.
class CountingExecutor : public Executor {
  public:
    explicit CountingExecutor(std::shared_ptr<Device> device) : device_(std::move(device)) {}
    const DeviceProfile& profile() const override { return device_.profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        return device_.allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        device_.write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        ++reads;
        device_.read(memory, offset, data);
    }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        device_.run(program, call);
    }
    void wait() override { device_.wait(); }
    const ExecutorCounts& counts() const { return device_.counts(); }
    int reads = 0;

  private:
    VulkanExecutor device_;
};

class DataSizes : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device) executor = std::make_shared<CountingExecutor>(device);
    }
    void TearDown() override {
        executor.reset();
        DeviceTest::TearDown();
    }
    std::shared_ptr<CountingExecutor> executor;
};

Ints squares_below(int count) {
    Ints out;
    for (int k = 0; k < count; ++k) out.push_back(k * k);
    return out;
}

TEST_F(DataSizes, NothingIsReadBackBetweenPrograms) {
    Session session(executor);
    SessionScope scope(session);
    auto chosen =
        compile([](Tensor x, Tensor least) { return compact(x, x < least); }, {i32("n"), i32()});
    auto squared = compile(
        [](Tensor x) {
            Tensor rows = unsqueeze(x, 1) * unsqueeze(x, 0);  // two data sizes in one kernel's grid
            return std::tuple{x * x, sum(x * x), sum(rows), cumsum(x)};
        },
        {i32("n")});
    Tensor x = arange(1000);
    realize(x);
    for (int count : {1000, 0, 333, 1, 64}) {
        Tensor few = chosen(x, count);
        auto [y, total, all, sums] = squared(few);
        EXPECT_EQ(executor->reads, 0);
        const Ints expected = squares_below(count);
        int sum = 0, plain = 0;
        for (int each : expected) sum += each;
        for (int k = 0; k < count; ++k) plain += k;
        EXPECT_EQ(y.to_vector<int>(), expected) << count;
        EXPECT_EQ(total.item<int>(), sum) << count;
        EXPECT_EQ(all.item<int>(),
                  static_cast<int>(static_cast<uint32_t>(plain) * static_cast<uint32_t>(plain)));
        EXPECT_EQ(static_cast<int>(sums.to_vector<int>().size()), count);
        executor->reads = 0;
    }
    EXPECT_GE(squared.stats().indirect_dispatches, 3);
    EXPECT_EQ(squared.variant_count(), 1u);
}

TEST_F(DataSizes, AnotherCountReplaysTheSameCommands) {
    Session session(executor);
    SessionScope scope(session);
    auto chosen = compile([](Tensor x) { return compact(x, x < 100) * 2; }, {i32("n")});
    const std::shared_ptr<const Program> program = chosen.program();
    Call call;
    call.scalars = {Scalar{}};
    call.symbols = bind_symbols(*program, {{1000}}, call.scalars);
    call.arguments = {executor->allocate(4000, "x")};
    for (const ResultInfo& result : program->results) {
        const BufferInfo& buffer = program->buffers[static_cast<size_t>(result.buffer)];
        const int64_t bytes = buffer.bytes().evaluate(call.symbols);
        call.results.push_back(executor->allocate(static_cast<uint64_t>(bytes), buffer.name));
    }
    ASSERT_EQ(program->data_sizes.size(), 1u);
    for (int chosen_ones : {1000, 0, 7, 513}) {
        Ints x(1000, 100), expected(static_cast<size_t>(chosen_ones), 6),
            got(static_cast<size_t>(chosen_ones));
        std::fill(x.begin(), x.begin() + chosen_ones, 3);
        executor->write(*call.arguments[0], 0, std::as_writable_bytes(std::span(x)));
        executor->run(program, call);
        int count = -1;
        executor->read(*call.results[0], 0, std::as_writable_bytes(std::span(&count, 1)));
        EXPECT_EQ(count, chosen_ones);
        if (chosen_ones)
            executor->read(*call.results[1], 0, std::as_writable_bytes(std::span(got)));
        EXPECT_EQ(got, expected);
    }
    EXPECT_EQ(executor->counts().recordings, 1);
}

TEST_F(DataSizes, AFrameLoopOfBirthlessParticles) {
    Session session(executor);
    SessionScope scope(session);
    auto step = compile([](Tensor x) { return compact(x + 1, (x + 1) % 7 != 3) * 1; }, {i32("n")});
    Tensor x = arange(600);
    for (int turn = 0; turn < 24; ++turn) x = step(x);
    EXPECT_EQ(executor->reads, 0);
    Ints expected;
    for (int k = 0; k < 600; ++k) {
        bool alive = true;
        for (int turn = 1; turn <= 24; ++turn) alive = alive && (k + turn) % 7 != 3;
        if (alive) expected.push_back(k + 24);
    }
    EXPECT_EQ(x.to_vector<int>(), expected);
}

}  // namespace
}  // namespace firn
