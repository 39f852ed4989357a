// Sizes that only the device knows stay there: nothing is read back, and nothing is recorded anew.
#include "engine/runtime/vulkan_executor.h"
#include "tests/algorithms/agreement.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

/// The device's executor, which counts reads by the host.
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
    EXPECT_EQ(squared.variant_count(), 2u);  // with the one that assumes nothing of the sizes
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
    for (int iteration = 0; iteration < 24; ++iteration) x = step(x);
    EXPECT_EQ(executor->reads, 0);
    Ints expected;
    for (int k = 0; k < 600; ++k) {
        bool alive = true;
        for (int iteration = 1; iteration <= 24; ++iteration)
            alive = alive && (k + iteration) % 7 != 3;
        if (alive) expected.push_back(k + 24);
    }
    EXPECT_EQ(x.to_vector<int>(), expected);
}

/// A random graph: the neighbours of node k are targets[first[k]] up to targets[first[k + 1]].
struct Edges {
    Ints first{0}, targets;
};

Edges random_edges(int nodes) {
    Edges out;
    const Ints degree = random_ints(static_cast<size_t>(nodes), 5, 0, 4);
    for (int each : degree) out.first.push_back(out.first.back() + each);
    out.targets = random_ints(static_cast<size_t>(out.first.back()), 6, 0, nodes - 1);
    return out;
}

Ints levels_on_the_host(const Edges& edges, int nodes) {
    Ints level(static_cast<size_t>(nodes), -1), frontier{0};
    level[0] = 0;
    for (int iteration = 1; !frontier.empty(); ++iteration) {
        Ints next;
        for (int node : frontier)
            for (int e = edges.first[static_cast<size_t>(node)];
                 e < edges.first[static_cast<size_t>(node) + 1]; ++e) {
                int& there = level[static_cast<size_t>(edges.targets[static_cast<size_t>(e)])];
                if (there >= 0) continue;
                there = iteration;
                next.push_back(edges.targets[static_cast<size_t>(e)]);
            }
        frontier = next;
    }
    return level;
}

TEST_F(DataSizes, AFrontierThatBeginsInEveryIteration) {
    Session session(executor);
    SessionScope scope(session);
    const int nodes = 3000;
    const Edges edges = random_edges(nodes);
    auto search = compile(
        [&](Tensor first, Tensor targets) {
            Tensor level = full({nodes}, -1), iteration = 0, frontier_size = 1;
            level(0) = 0;
            while_([&] { return frontier_size > 0; },
                   [&] {
                       Tensor frontier = reshape(nonzero(level == iteration), {-1});
                       iteration += 1;
                       // Each node of the frontier walks over its own edges.
                       Tensor begin = first(frontier), end = first(frontier + 1), e = begin;
                       while_([&] { return e < end; },
                              [&] {
                                  Tensor target = targets(e);
                                  level(select(level(target) < 0, target, -1)) = iteration;
                                  e += 1;
                              },
                              {.max_steps = 4});
                       frontier_size = sum(level == iteration);
                   });
            return level;
        },
        {i32(nodes + 1), i32("edges")});
    Tensor first = tensor(edges.first), targets = tensor(edges.targets);
    Tensor level = search(first, targets);
    EXPECT_EQ(executor->reads, 0);
    EXPECT_EQ(level.to_vector<int>(), levels_on_the_host(edges, nodes));
    EXPECT_GE(search.stats().indirect_dispatches, 1);
}

TEST_F(DataSizes, TurnsNestedAndCountedByASize) {
    Session session(executor);
    SessionScope scope(session);
    auto f = compile(
        [](Tensor x) {
            Tensor out = zeros({6}, i32);
            for (Tensor i : loop(6)) {
                Tensor few = compact(x, x % (i + 1) == 0), moved = few, pairs = 0;
                for (Tensor t : loop(few.size(0)))
                    moved = moved(index(moved, 0) + 1);  // until all are the last
                for (Tensor j : loop(2)) pairs += sum(compact(few, few % (j + 2) == 0));
                out(i) = sum(moved) + pairs;
            }
            return out;
        },
        {i32("n")});
    for (int n : {40, 7}) {
        Ints expected;
        for (int i = 0; i < 6; ++i) {
            int count = 0, last = 0, pairs = 0;
            for (int k = 0; k < n; k += i + 1) {
                ++count, last = k;
                for (int j = 0; j < 2; ++j) pairs += k % (j + 2) == 0 ? k : 0;
            }
            expected.push_back(count * last + pairs);
        }
        EXPECT_EQ(Tensor(f(arange(n))).to_vector<int>(), expected) << n;
    }
}

TEST_F(DataSizes, AKernelByHandWithSharedMemoryOverOne) {
    Session session(executor);
    SessionScope scope(session);
    auto turned = compile(
        [](Tensor x) {
            Tensor y = compact(x, x % 2 == 0), c = zeros(y.shape(), i32);
            kernel({y.size(0)}, {.group = {32}}, [&](Tensor i) {
                Shared s = shared(i32, 32);
                s(local_index(0)) = y(i);
                barrier();
                c(i) = s(31 - local_index(0));
            });
            return c;
        },
        {i32("n")});
    for (int count : {64, 96, 0}) {
        Ints expected;
        for (int k = 0; k < count; ++k) expected.push_back(2 * (k / 32 * 32 + 31 - k % 32));
        EXPECT_EQ(Tensor(turned(arange(2 * count))).to_vector<int>(), expected);
    }
}

}  // namespace
}  // namespace firn
