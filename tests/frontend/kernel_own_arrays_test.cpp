// Kernels by hand whose invocations have large arrays of their own: these lie in buffers.
#include "compiler/kernel/kernel_code.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class OwnArrays : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Executors, OwnArrays, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

/// More elements than a kernel may have in arrays of its own, and so many that not all invocations
/// of a few hundred have a row at once.
constexpr int kLarge = 2 * static_cast<int>(costs::kMostOwn), kLong = 12000;

/// Element k of an array of this type that has been stored to by `i`, among zeros.
template <class T>
Tensor own_sums(DType dtype, int n, int size, const KernelOptions& options) {
    Tensor c = zeros({n}, i32);
    kernel({n}, options, [&](Tensor i) {
        Local own = local(dtype, size);
        own(i % size) = cast<T>(i % 100);
        own(size - 1) = own(i % size);
        c(i) = cast<int>(own(size - 1)) * 2 + cast<int>(own(size / 2)) + cast<int>(own(size + 5));
    });
    return c;
}

Ints expected_sums(int n, int size) {
    Ints out;
    for (int i = 0; i < n; ++i) out.push_back(i % 100 * 3 + (i % size == size / 2 ? i % 100 : 0));
    return out;
}

TEST_P(OwnArrays, OfEachTypeHaveRows) {
    EXPECT_EQ(own_sums<int>(i32, 20, kLarge, {}).to_vector<int>(), expected_sums(20, kLarge));
    EXPECT_EQ(own_sums<float>(f32, 20, kLarge, {}).to_vector<int>(), expected_sums(20, kLarge));
    EXPECT_EQ(own_sums<double>(f64, 20, kLarge, {}).to_vector<int>(), expected_sums(20, kLarge));
    EXPECT_EQ(own_sums<uint8_t>(u8, 20, kLarge, {}).to_vector<int>(), expected_sums(20, kLarge));
    Ints bools;
    for (int i = 0; i < 20; ++i) bools.push_back(i > 0 ? 3 : 0);
    EXPECT_EQ(own_sums<bool>(boolean, 20, kLarge, {}).to_vector<int>(), bools);
}

// More elements than the iterations that lavapipe allows an invocation.
TEST_P(OwnArrays, OfManyElementsAreCleared) {
    const int size = 70'001;
    EXPECT_EQ(own_sums<int>(i32, 3, size, {}).to_vector<int>(), expected_sums(3, size));
}

TEST(OwnArraysOfADevice, AreClearedInAPartOfTheIterationsThatItAllows) {
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = 1000;
    SessionScope scope(Session::interpreter(profile));
    EXPECT_EQ(own_sums<int>(i32, 3, kLong, {}).to_vector<int>(), expected_sums(3, kLong));
}

TEST_P(OwnArrays, AreZerosInEveryIterationAndSlice) {
    const int n = 300;
    EXPECT_EQ(own_sums<int>(i32, n, kLong, {}).to_vector<int>(), expected_sums(n, kLong));
    EXPECT_EQ(own_sums<int>(i32, n, kLong, {.group = {32}}).to_vector<int>(),
              expected_sums(n, kLong));
    Tensor c = zeros({10}, i32);
    kernel({10}, [&](Tensor i) {
        Tensor sum = 0;
        for (Tensor iteration : loop(3)) {
            Local own = local(i32, kLarge);
            own(iteration) = i + 1;
            sum += own(0) + own(1) + own(2);
        }
        c(i) = sum;
    });
    Ints expected;
    for (int i = 0; i < 10; ++i) expected.push_back(3 * (i + 1));
    EXPECT_EQ(c.to_vector<int>(), expected);
}

TEST_P(OwnArrays, SeveralAndSmallOnesInGroupsOfTwoAxes) {
    Tensor c = zeros({18, 20}, i32);
    kernel({18, 20}, {.group = {4, 8}}, [&](Tensor i, Tensor j) {
        Local table = local(i32, {60, 200}), small = local(i32, 3);
        Local weights = local(f32, kLarge);
        Shared tile = shared(i32, {4, 8});
        Tensor row = local_index(0), column = local_index(1);
        tile(row, column) = i * 100 + j;
        table(i, j) = i * 100 + j;
        for (Tensor k : loop(3)) small(k) = k + 1;
        weights(j) = 0.5f;
        barrier();
        c(i, j) = tile(3 - row, 7 - column) * 10 + table(i, j) + table(j, i) + small(2) +
                  cast<int>(weights(j) * 4.0f);
    });
    Ints expected;
    for (int i = 0; i < 18; ++i)
        for (int j = 0; j < 20; ++j) {
            const int across = (i / 4 * 8 + 3 - i) * 100 + j / 8 * 16 + 7 - j;
            expected.push_back(across * 10 + (i * 100 + j) * (i == j ? 2 : 1) + 3 + 2);
        }
    EXPECT_EQ(c.to_vector<int>(), expected);
}

TEST_P(OwnArrays, CombineInPlace) {
    Tensor c = zeros({9}, i32), d = zeros({9});
    kernel({9}, [&](Tensor i) {
        Local counts = local(i32, kLarge);
        Local sums = local(f32, kLarge);
        for (Tensor k : loop(6)) {
            atomic_add(counts(k % 2), i);
            atomic_max(sums(k % 3), cast<float>(k) + 0.5f);
        }
        c(i) = counts(0) * 100 + counts(1);
        d(i) = sums(0) + sums(2);
    });
    Ints counts;
    for (int i = 0; i < 9; ++i) counts.push_back(303 * i);
    EXPECT_EQ(c.to_vector<int>(), counts);
    EXPECT_EQ(d.to_vector<float>(), Floats(9, 3.5f + 5.5f));
}

TEST_P(OwnArrays, OfGridsOfAnySize) {
    auto f = compile(
        [](Tensor x) {
            Tensor c = zeros({x.size(0), x.size(1)}, i32);
            kernel({x.size(0), x.size(1)}, [&](Tensor i, Tensor j) {
                Local own = local(i32, kLong);
                own(x(i, j) * 7 % kLong) = x(i, j);
                c(i, j) = own(x(i, j) * 7 % kLong) + own(kLong - 1);
            });
            return c;
        },
        {i32("n", "m")});
    for (const auto& [n, m] : {std::pair{0, 3}, {1, 1}, {17, 20}}) {
        Ints values;
        for (int k = 0; k < n * m; ++k) values.push_back(k);
        EXPECT_EQ(f(tensor(values, {n, m})).to_vector<int>(), values) << n << ", " << m;
    }
}

// --- emitted kernels -----------------------------------------------------------------------------

/// A kernel of `n` invocations that have arrays of these sizes.
Function with_arrays(int n, std::vector<int> sizes) {
    return compile(
        [=](Tensor x) {
            Tensor c = zeros({n}, i32);
            kernel({n}, {.group = {32}}, [&](Tensor i) {
                Tensor sum = 0;
                for (int size : sizes) {
                    Local own = local(i32, size);
                    own(x(i) % size) = i;
                    sum += own(i % size);
                }
                c(i) = sum;
            });
            return c;
        },
        {i32(n)});
}

int64_t own_elements(const Program& program) {
    int64_t out = 0;
    for (const KernelInfo& kernel : program.kernels)
        for (const KernelBuffer& b : kernel.code->buffers)
            if (b.space == MemorySpace::Private) out += b.elements.constant();
    return out;
}

TEST(OwnArraysInBuffers, NoKernelHasMoreThanItsCompilerBears) {
    SessionScope scope(Session::interpreter());
    const int most = static_cast<int>(costs::kMostOwn);
    EXPECT_EQ(own_elements(*with_arrays(64, {most}).program()), most) << "it holds so many";
    EXPECT_EQ(own_elements(*with_arrays(64, {most + 1}).program()), 0);
    EXPECT_EQ(own_elements(*with_arrays(64, {most, 8}).program()), 8) << "the largest one goes";
    EXPECT_EQ(own_elements(*with_arrays(64, {4900, most / 2, most, 8}).program()), most / 2 + 8);
}

TEST(OwnArraysInBuffers, TakeBoundedMemory) {
    SessionScope scope(Session::interpreter());
    const int64_t most = costs::kOwnBytes + 4 * 4900;
    EXPECT_LE(with_arrays(64, {4900}).stats().peak_bytes, int64_t{64} * 4900 * 4 + 4096);
    EXPECT_LE(with_arrays(1 << 20, {4900}).stats().peak_bytes, most);
    EXPECT_LE(with_arrays(1 << 20, {4900, 2000, 100}).stats().peak_bytes, most);
    EXPECT_GT(with_arrays(1 << 20, {4900}).stats().dispatches, 1000);
}

TEST(OwnArraysInBuffers, AreRefusedWhereTheyCannotBeCounted) {
    SessionScope scope(Session::interpreter());
    expect_parts(user_error([] { with_arrays(64, {1 << 27}).program(); }),
                 {"inside a kernel, ", "local arrays of a group of 32", "take a smaller"});
}

/// A GPU's driver itself keeps arrays in memory that its registers cannot hold.
TEST(OwnArraysInBuffers, OnAGpuTheDriverKeepsThem) {
    EXPECT_EQ(rules_of(gpu_profile()).most_own, 0);
}

}  // namespace
}  // namespace firn
