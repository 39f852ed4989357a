// The same programs by the oracle and compiled, run by the kernel interpreter.
#include <cmath>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

struct Case {
    const char* name;
    std::function<std::vector<Tensor>()> run;
    friend std::ostream& operator<<(std::ostream& out, const Case& test) {
        return out << test.name;
    }
};

std::vector<float> numbers(int count) {
    std::vector<float> out;
    for (int k = 0; k < count; ++k) out.push_back(std::sin(static_cast<float>(k) * 1.7f));
    return out;
}

Tensor sample(const Shape& shape) {
    return tensor(numbers(static_cast<int>(element_count(shape).constant())), shape);
}

std::vector<Tensor> wave_steps(int n, int m) {
    auto wave = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            auto [i, j] = indices<2>(u.shape());
            Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
            Tensor v_next = v + dt * laplacian;
            return std::tuple{u + dt * v_next, v_next};
        },
        {f32("n", "m"), f32("n", "m"), f32()});
    Tensor u = sample({n, m}), v = zeros({n, m});
    for (int frame = 0; frame < 2; ++frame) std::tie(u, v) = wave(u, v, 0.1f);
    return {u, v};
}

Tensor trace_spheres() {
    Tensor origin = sample({9}) * 4.0f, travelled = 0.0f;
    for (Tensor step : loop(64)) {
        Tensor distance = abs(origin + travelled) - 1.0f;
        travelled += distance;
        if_(distance < 1e-3f, [&] { break_(); });
    }
    return travelled;
}

Tensor diffused(bool by_neighbours) {
    Tensor x = sample({33}), i = index(x, 0);
    for (Tensor t : loop(5))
        x = by_neighbours ? (x(i - 1) + x(i + 1)) * 0.5f : (x(i) + x(i)) * 0.4f;
    return x;
}

Tensor branches() {
    Tensor x = sample({12}), y = zeros({12});
    if_(
        x > 0.0f, [&] { y = sqrt(x); }, [&] { y = -x; });
    return y;
}

const std::vector<Case> kCases = {
    {"elementwise", [] { return std::vector<Tensor>{sin(sample({37})) * 2.0f + 1.0f}; }},
    {"broadcast",
     [] {
         return std::vector<Tensor>{sample({5, 1}) * sample({7})};
     }},
    {"sum",
     [] {
         return std::vector<Tensor>{sum(sample({6, 7}), {.axis = 1}), sum(sample({50}))};
     }},
    {"softmax",
     [] {
         Tensor x = sample({4, 9});
         Tensor grown = exp(x - max(x, {.axis = 1, .keep_dims = true}));
         return std::vector<Tensor>{grown / sum(grown, {.axis = 1, .keep_dims = true})};
     }},
    {"matmul",
     [] {
         return std::vector<Tensor>{matmul(sample({5, 6}), sample({6, 4}))};
     }},
    {"movement",
     [] {
         Tensor x = sample({4, 6});
         return std::vector<Tensor>{transpose(flip(x)),
                                    pad(x, {.before = {1, 2}, .after = {0, 1}, .value = 3}),
                                    concat({x, x * 2.0f}, {.axis = 1}), reshape(x, {3, 8})};
     }},
    {"store",
     [] {
         Tensor x = sample({8}), i = index(x, 0);
         x(i) = x(i) * 2.0f;
         x(2) = 5.0f;
         return std::vector<Tensor>{x};
     }},
    {"wave", [] { return wave_steps(11, 13); }},
    {"wave_divisible", [] { return wave_steps(12, 16); }},
    {"loop_of_its_own_element", [] { return std::vector<Tensor>{diffused(false)}; }},
    {"loop_of_neighbours", [] { return std::vector<Tensor>{diffused(true)}; }},
    {"break", [] { return std::vector<Tensor>{trace_spheres()}; }},
    {"branches", [] { return std::vector<Tensor>{branches()}; }},
    {"branch_around_a_loop_of_neighbours",
     [] {
         Tensor x = sample({9}), i = index(x, 0), many = sum(x) > 0.0f;
         if_(many, [&] {
             for (Tensor iteration : loop(5)) x = 0.5f * x + 0.25f * (x(i - 1) + x(i + 1));
         });
         if_(!many, [&] {
             for (Tensor iteration : loop(5)) x = x(i + 1);
         });
         return std::vector<Tensor>{x};
     }},
    {"sums_inside_rows_that_lanes_share",
     [] {
         Tensor x = sample({50}), b = sample({4, 16});
         return std::vector<Tensor>{
             sum(unsqueeze(x, 1) * sum(b, {.axis = 1}), {.axis = 1}) + sum(x), cumsum(x) + sum(x)};
     }},
    {"a_row_too_long_for_one_invocation",
     [] {
         Tensor x = sample({300});
         return std::vector<Tensor>{cumsum(x) + sum(x)};
     }},
    {"argument_as_result",
     [] {
         auto same = compile([](Tensor x) { return std::pair{x, x}; }, {f32("n")});
         auto [a, b] = same(sample({5}));
         return std::vector<Tensor>{a, b};
     }},
    {"device_scalar",
     [] {
         auto scale = compile([](Tensor x, Tensor by) { return x * by; }, {f32("n"), f32()});
         return std::vector<Tensor>{scale(sample({5}), sum(sample({4}))), scale(sample({5}), 2)};
     }},
    {"captured",
     [] {
         Tensor w = sample({3}) * 2.0f;
         auto times = compile([&](Tensor x) { return x * w; }, {f32(3)});
         return std::vector<Tensor>{times(sample({3}))};
     }},
};

class Compiled : public ::testing::TestWithParam<Case> {};

std::vector<std::vector<float>> values(const Case& test, const Session& session) {
    SessionScope scope(session);
    std::vector<std::vector<float>> out;
    for (const Tensor& x : test.run()) out.push_back(x.to_vector<float>());
    return out;
}

TEST_P(Compiled, AgreesWithTheOracle) {
    auto expected = values(GetParam(), Session::oracle());
    auto got = values(GetParam(), Session::interpreter());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t r = 0; r < got.size(); ++r) {
        ASSERT_EQ(got[r].size(), expected[r].size());
        for (size_t k = 0; k < got[r].size(); ++k)
            EXPECT_NEAR(got[r][k], expected[r][k], 1e-5f * (1 + std::abs(expected[r][k])))
                << r << ", " << k;
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, Compiled, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CompiledFunctions, EveryKindOfCallHasAProgramOfItsOwn) {
    SessionScope scope(Session::interpreter());
    current_session().specialise(false);
    auto scale = compile([](Tensor x, Tensor by) { return x * by; }, {f32("n"), f32()});
    scale(ones({80}), 2);
    scale(ones({112}), 3);
    EXPECT_EQ(scale.variant_count(), 1u);
    scale(ones({71}), 3);
    EXPECT_EQ(scale.variant_count(), 2u);
    scale(ones({80}), sum(ones({2})));
    EXPECT_EQ(scale.variant_count(), 3u);
}

TEST(CompiledFunctions, SizesThatComeAgainHaveAProgramOfTheirOwn) {
    SessionScope scope(Session::interpreter());
    auto swapped = compile([](Tensor x) { return transpose(x) * 2.0f; }, {f32("n", "c")});
    const auto call = [&](int n) {
        EXPECT_EQ(swapped(ones({n, 3})).to_vector<float>(),
                  Floats(static_cast<size_t>(n * 3), 2.0f));
        return swapped.program();
    };
    const auto hundred = call(100);
    EXPECT_EQ(call(100), hundred);
    const auto coarse = call(200), two_hundred = call(200);
    EXPECT_NE(coarse, hundred);
    EXPECT_NE(two_hundred, coarse);
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(call(100), hundred);
        EXPECT_EQ(call(200), two_hundred);
    }
    EXPECT_EQ(swapped.variant_count(), 3u);
}

TEST(CompiledFunctions, SizesThatKeepChangingShareAProgram) {
    SessionScope scope(Session::interpreter());
    auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    for (int round = 0; round < 2; ++round)
        for (int n = 1; n <= 61; n += 4)
            EXPECT_EQ(twice(ones({n})).to_vector<float>(), Floats(static_cast<size_t>(n), 2.0f));
    EXPECT_LE(twice.variant_count(), 2u) << "the first call's, and the coarse one";
}

TEST(CompiledFunctions, ShortTripCountsThatComeAgainHaveAProgramOfTheirOwn) {
    SessionScope scope(Session::interpreter());
    auto powers = compile(
        [](Tensor x, Tensor count) {
            for (Tensor k : loop(count)) x = x * 2.0f;
            return x * cast<float>(count);
        },
        {f32("n"), i32()});
    const auto call = [&](int count) {
        EXPECT_EQ(powers(ones({100}), count).to_vector<float>(),
                  Floats(100, static_cast<float>(count << count)));
        return powers.program();
    };
    const auto three = call(3);
    EXPECT_NE(call(4), three);
    EXPECT_EQ(call(3), three);
    const auto coarse = call(4);
    for (int again = 0; again < 20; ++again) call(4);
    const auto four = call(4);
    EXPECT_NE(four, coarse);
    EXPECT_NE(four, three);
    EXPECT_EQ(four->kernels[0].back_edges, 0) << "unrolled";
    call(0);
}

TEST(CompiledFunctions, StatsAndExplainAreThoseOfTheLastCall) {
    SessionScope scope(Session::interpreter());
    auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    twice(ones({8}));
    EXPECT_EQ(twice.stats().kernels, 1);
    EXPECT_EQ(twice.stats().bytes_written, 32);
    EXPECT_NE(twice.explain().find("kernel"), std::string::npos);
}

TEST(CompiledFunctions, StatsBeforeACallNeedKnownSizes) {
    SessionScope scope(Session::interpreter());
    auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    expect_parts(user_error([&] { twice.stats(); }),
                 {"n has no value yet", "call the function first"});
}

TEST(CompiledFunctions, ReadingFromAnEmptyTensorGivesZero) {
    SessionScope scope(Session::interpreter());
    auto f = compile(
        [](Tensor x, Tensor y) {
            return y + x(0) + wrap(x)(3) + mirror(x)(-2) + (2 * x + 1)(y.size(0));
        },
        {f32("n"), f32("m")});
    EXPECT_EQ(Tensor(f(zeros({0}), ones({3}))).to_vector<float>(), (Floats{1, 1, 1}));
    EXPECT_EQ(Tensor(f(ones({1}), ones({2}))).to_vector<float>(), (Floats{7, 7}));
}

TEST(CompiledFunctions, ATensorWhoseSizeIsTheNumberZeroIsNotRead) {
    SessionScope scope(Session::interpreter());
    auto f = compile(
        [](Tensor x, Tensor y) {
            return std::tuple{mirror(x)(arange(4) - 2) + y(0), y};
        },
        {f32(0), f32(1)});
    EXPECT_EQ(f.program()->kernels[0].bindings.size(), 3u);  // y and the two results
}

TEST(CompiledFunctions, LazyFrameLoopCompilesOnce) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    Tensor u = sample({8});
    size_t after_two = 0;
    for (int frame = 0; frame < 6; ++frame) {
        float dt = 0.1f + 0.01f * static_cast<float>(frame);
        u = u + u * dt;
        u.to_vector<float>();
        if (frame == 1) after_two = session.plan_count();
    }
    EXPECT_EQ(session.plan_count(), after_two);
}

TEST(CompiledLoops, ASumOverTheResultsOfALongLoopStaysWithinTheDriversLimit) {
    SessionScope scope(Session::interpreter());
    auto energy = compile(
        [](Tensor x, Tensor y, Tensor mass) {
            Tensor body = arange(x.size(0)), depth = zeros(x.shape());
            for (Tensor j : loop(x.size(0))) {
                Tensor across = x(j) - x, along = y(j) - y;
                depth +=
                    select(body == j, 0.0f, mass(j) / sqrt(across * across + along * along + 1.0f));
            }
            return std::tuple{sum(mass * x * y), sum(mass * depth)};
        },
        {f32("n"), f32("n"), f32("n")});
    const int n = 2048;
    auto [product, potential] = energy(ones({n}), ones({n}), ones({n}));
    EXPECT_EQ(product.item<float>(), n);
    EXPECT_EQ(potential.item<float>(), static_cast<float>(n) * (n - 1));
}

TEST(Compiled, ExplainsAKernelAsEachPassLeftIt) {
    SessionScope scope(Session::interpreter());
    const auto twice = compile([](Tensor x) { return 2.0f * x; }, {f32("n")});
    twice(ones({1000}));
    EXPECT_NE(twice.explain_kernel("k0", "lower").find("x0 grid <"), std::string::npos);
    EXPECT_EQ(twice.explain_kernel("k0", "map").find("x0 grid <"), std::string::npos);
    const std::string all = twice.explain_kernel("k0");
    EXPECT_LT(all.find("after lower:"), all.find("after map:"));
    EXPECT_NE(user_error([&] { twice.explain_kernel("k7"); }).find("no kernel 'k7'; there are k0"),
              std::string::npos);
    EXPECT_NE(
        user_error([&] { twice.explain_kernel("k0", "mop"); }).find("no pass 'mop' ran over k0"),
        std::string::npos);
}

}  // namespace
}  // namespace firn
