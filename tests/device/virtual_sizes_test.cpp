// Tensors of more elements than 32 bits count, which are never in memory: right, or refused by
// their line.
#include "compiler/algorithms/histogram.h"
#include "tests/device/on_device.h"

namespace firn {
namespace {

/// The ways in which such programs can run: the oracle would need all the memory.
std::vector<Way> compiled_ways() {
    std::vector<Way> out{{"compiled for a CPU driver", Session::interpreter(cpu_profile())},
                         {"compiled for a GPU", Session::interpreter(gpu_profile())}};
    try {
        out.push_back({"on the device", device_session({.validation = true})});
    } catch (const DeviceError&) {
    }
    return out;
}

/// The ways that renumber more elements than 32 bits count.
std::vector<Way> ways_of_64_bits() {
    std::vector<Way> out = compiled_ways();
    std::erase_if(out, [](const Way& way) { return !way.session.executor().profile().has_i64; });
    return out;
}

template <class T, class Make>
void expect_compiled(const Make& make, const std::vector<T>& expected,
                     const std::vector<Way>& ways = compiled_ways()) {
    for (const Way& way : ways) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        Tensor out = make();
        EXPECT_EQ(out.to_vector<T>(), expected);
    }
}

std::string compiled_error(const std::function<void()>& body) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

// --- billions of elements, on the device

class Billions : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            session = std::make_unique<Session>(device_session({}));
        } catch (const DeviceError&) {
            GTEST_SKIP() << "no device";
        }
        scope = std::make_unique<SessionScope>(*session);
    }
    std::unique_ptr<Session> session;
    std::unique_ptr<SessionScope> scope;
};

Tensor one_of(int n) { return (arange(n) == 7).as(f32); }
Tensor squared_distances(const Tensor& x) {
    Tensor d = unsqueeze(x, 1) - unsqueeze(x, 0);
    return sum(d * d);
}

TEST_F(Billions, AllPairsOf65536) {
    EXPECT_EQ(squared_distances(one_of(65536)).item<float>(), 2 * 65535);
}

/// Every 1024th element of each row, just below and above 2^31 elements, by one compiled program.
TEST_F(Billions, AroundTwoToThe31) {
    auto count = compile(
        [](Tensor x, Tensor y) { return sum(((unsqueeze(x, 1) + unsqueeze(y, 0)) & 1023) == 0); },
        {i32("n"), i32("m")});
    for (int n : {46340, 46342}) {
        int expected = 0;
        for (int i = 0; i < n; ++i) expected += (n - 1 + i % 1024) / 1024 + (i % 1024 == 0);
        EXPECT_EQ(count(arange(n), arange(n)).item<int>(), expected) << n;
    }
}

TEST_F(Billions, ThreeTimesTwoToThe30) {
    Tensor at = index({Size(3), Size(1 << 30)}, 1);
    EXPECT_EQ(sum((at & 1023) == 5).item<int>(), 3 << 20);
}

TEST_F(Billions, ShortRows) {
    Tensor at = index({Size((1 << 30) + 5), Size(3)}, 0);
    EXPECT_EQ(sum((at & 1023) == 3).item<int>(), 3 * ((1 << 20) + 1));
}

TEST_F(Billions, CountedInto) {
    // Each position adds to its bin by an atomic, or to a copy near it: the grid is the positions
    // themselves.
    Tensor at = index({Size(65536), Size(32770)}, 0), bins = zeros({2}, i32);
    if_(at == 65535, [&] { scatter_add(bins(index({Size(65536), Size(32770)}, 1) & 1), 1); });
    EXPECT_EQ(bins.to_vector<int>(), (Ints{16385, 16385}));
}

// --- pieces of them, everywhere

Tensor corner(const Tensor& x, const Size& p, const Size& q) {
    return slice(slice(x, {.axis = 0, .begin = p - 3}), {.axis = 1, .begin = q - 4});
}

/// The last rows and columns of i * m + j modulo 1009 in a virtual [n, m], renumbered as [p, q].
Tensor last_of(int64_t n, int64_t m, int64_t p, int64_t q) {
    Tensor i = index({Size(n), Size(m)}, 0), j = index({Size(n), Size(m)}, 1);
    Tensor value = (i % 1009) * static_cast<int>(m % 1009) + j % 1009;
    return corner(reshape(value % 1009, {Size(p), Size(q)}), p, q);
}
std::vector<int> expected_last(int64_t p, int64_t q) {
    std::vector<int> out;
    for (int64_t i = p - 3; i < p; ++i)
        for (int64_t j = q - 4; j < q; ++j) out.push_back(static_cast<int>((i * q + j) % 1009));
    return out;
}

TEST(VirtualSizes, AreRenumbered) {
    const std::vector<Way> ways = ways_of_64_bits();
    const auto check = [&](int64_t n, int64_t m, int64_t p, int64_t q) {
        expect_compiled([&] { return last_of(n, m, p, q); }, expected_last(p, q), ways);
    };
    check(65537, 65536, 65536, 65537);
    check(65536, 65536, 1 << 30, 4);
    check(3, 1 << 30, 1 << 29, 6);
    check(46340, 46340, 46340, 46340);
}

TEST(VirtualSizes, AreRenumberedWithSymbols) {
    auto make = [] {
        auto renumbered = compile(
            [](Tensor x, Tensor y) {
                Size n = x.size(0), m = y.size(0);
                Tensor value = unsqueeze(x % 1009, 1) * (Tensor(m) % 1009) + unsqueeze(y % 1009, 0);
                return corner(reshape(value % 1009, {m, n}), m, n);
            },
            {i32("n"), i32("m")});
        return renumbered(arange(65537), arange(65536));
    };
    expect_compiled(make, expected_last(65536, 65537), ways_of_64_bits());
}

TEST(VirtualSizes, AreRefusedWithout64BitIntegers) {
    DeviceProfile profile = cpu_profile();
    profile.has_i64 = false;
    SessionScope scope(Session::interpreter(profile));
    try {
        last_of(65537, 65536, 65536, 65537).to_vector<int>();
        ADD_FAILURE() << "it was not refused";
    } catch (const UserError& error) {
        expect_message(error.what(),
                       {"4295032832", "without 64-bit integers", "virtual_sizes_test.cpp:"});
    }
}

TEST(VirtualSizes, AnAxisBeyond32BitsIsRefused) {
    const std::string lazy = compiled_error([] {
        sum(reshape(index({Size(65536), Size(65536)}, 0), {Size(-1)}) + arange(1)).item<int>();
    });
    expect_message(lazy, {"axis 0", "4294967296", "2147483647", "virtual_sizes_test.cpp:"});
    const std::string symbolic = compiled_error([] {
        auto every_second = compile(
            [](Tensor x, Tensor y) {
                Tensor flat = reshape(unsqueeze(x, 1) * unsqueeze(y, 0), {Size(-1)});
                return sum(flat * (index(flat.shape(), 0) & 1));
            },
            {i32("n"), i32("m")});
        EXPECT_EQ(every_second(arange(4), arange(4)).item<int>(), 6 * (1 + 3));
        every_second(arange(65536), arange(65536));
    });
    expect_message(symbolic, {"axis 0", "4294967296", "n = 65536", "virtual_sizes_test.cpp:"});
}

TEST(VirtualSizes, ASizeAsANumberIsRefusedBeyond32Bits) {
    expect_message(compiled_error([] { Tensor(Size(int64_t{1} << 32)) + 1; }),
                   {"4294967296", "i32", "virtual_sizes_test.cpp:"});
    expect_message(compiled_error([] {
                       auto f = compile(
                           [](Tensor x, Tensor y) { return Tensor(x.size(0) * y.size(0)) + x(0); },
                           {i32("n"), i32("m")});
                       EXPECT_EQ(f(arange(300), arange(200)).item<int>(), 60000);
                       f(arange(65536), arange(65536));
                   }),
                   {"4294967296", "32 bits", "n = 65536"});
}

TEST(VirtualSizes, CountsAreFloats) {
    SessionScope scope(Session::oracle());
    EXPECT_EQ(reduced_count({Size(65536), Size(65536), Size(3)}, {}, f32).item<float>(),
              3 * 4294967296.0f);
    EXPECT_EQ(reduced_count({Size(65536), Size(65536), Size(3)}, {1, -1}, f64).item<double>(),
              3 * 65536.0);
}

TEST(VirtualSizes, NothingOfMuchIsNothing) {
    expect_compiled(
        [] {
            auto f = compile(
                [](Tensor x) {
                    return reshape(x, {x.size(0) * x.size(1), x.size(2) * x.size(3)}) * 2.0f;
                },
                {f32("n", "m", "k", "l")});
            Tensor all = f(zeros({0, 0, 0, 0})), some = f(zeros({65536, 0, 65536, 1}));
            return concat({reshape(all, {Size(-1)}), reshape(some, {Size(-1)}), ones({1})});
        },
        Floats{1});
    EXPECT_EQ(element_count({Size(int64_t{1} << 31), Size(int64_t{1} << 31), Size(4), Size(0)}),
              Size(0));
}

TEST(VirtualSizes, HaveRandomNumbersOfTheirOwn) {
    std::vector<uint32_t> low, high, expected;
    for (uint64_t i = 65533; i < 65536; ++i)
        for (uint64_t j = 131068; j < 131072; ++j) {
            low.push_back(static_cast<uint32_t>(i * 131072 + j));
            high.push_back(static_cast<uint32_t>((i * 131072 + j) >> 32));
        }
    {
        SessionScope scope(Session::oracle());
        expected =
            philox({tensor(low), tensor(high), Tensor(3u), Tensor(0u)}, {Tensor(5u), Tensor(0u)})[0]
                .to_vector<uint32_t>();
    }
    expect_compiled(
        [] {
            return corner(random_bits({Size(65536), Size(131072)}, {.seed = 5, .stream = 3}), 65536,
                          131072);
        },
        expected);
}

/// Integers of tensors wrap around; reads by them are inside all the same.
TEST(VirtualSizes, IndicesThatWrapAroundReadInside) {
    std::vector<float> numbers = random_floats(32768);
    std::vector<float> expected;
    for (int64_t i = 0; i < 1000; ++i) {
        const auto word = static_cast<int32_t>(static_cast<uint32_t>(i) * 1103515245u + 12345u);
        expected.push_back(numbers[static_cast<size_t>(std::max(0, word / 65536 % 32768))]);
    }
    auto make = [&] {
        return tensor(numbers)(((arange(1000) * 1103515245 + 12345) / 65536) % 32768);
    };
    expect_values(make, expected);
    expect_compiled(make, expected);
}

}  // namespace
}  // namespace firn
