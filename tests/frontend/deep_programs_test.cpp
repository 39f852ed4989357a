// Deep programs, recorded and compiled on a small stack: nothing overflows, and programs that are
// too deep are refused.
#include <pthread.h>

#include <exception>
#include <functional>

#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// Runs `body` on a thread with a stack no larger than those of a game engine's workers. Passes on
/// its exceptions.
void on_small_stack(const std::function<void()>& body, size_t kib = 512) {
    struct Work {
        const std::function<void()>& body;
        std::exception_ptr failure;
    } work{body, nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kib << 10);
    pthread_t thread{};
    const auto run = [](void* given) -> void* {
        Work& mine = *static_cast<Work*>(given);
        try {
            mine.body();
        } catch (...) {
            mine.failure = std::current_exception();
        }
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    if (work.failure) std::rethrow_exception(work.failure);
}

constexpr int kMany =
    1000;  // each level takes more than 512 bytes of stack where nothing is done about it

struct DeepProgram {
    const char* name;
    std::function<void()> run;
    friend std::ostream& operator<<(std::ostream& out, const DeepProgram& p) {
        return out << p.name;
    }
};

const DeepProgram kPrograms[] = {
    {"Stores",
     [] {
         Tensor x = zeros({10});
         for (int k = 0; k < kMany; ++k) x(k % 10) = 1.0f + k;
         EXPECT_EQ(x.to_vector<float>()[9], kMany);
     }},
    {"ReadsBesideOneAnother",
     [] {
         Tensor x = arange(12);
         for (int k = 0; k < kMany; ++k) x = roll(x, 1);
         EXPECT_EQ(x(kMany % 12).item<int>(), 0);
     }},
    {"ReadsOutside",
     [] {
         Tensor x = ones({8});
         for (int k = 0; k < kMany; ++k) x = zero(x)(arange(8) + 1) + 1.0f;
         EXPECT_EQ(x.to_vector<float>(), (Floats{8, 7, 6, 5, 4, 3, 2, 1}));
     }},
    {"ReadsInAKernel",
     [] {
         const Tensor u = arange(8);
         Tensor c = zeros({3}, i32);
         kernel({3}, [&](Tensor i) {
             Tensor j = i;
             for (int k = 0; k < kMany; ++k) j = (u(j) + 1) % 8;
             c(i) = j;
         });
         EXPECT_EQ(c.to_vector<int>(), (Ints{0, 1, 2}));
     }},
    {"ReadsInALoop",
     [] {
         const Tensor i = arange(8);
         Tensor x = i;
         for (Tensor t : loop(2))
             for (int k = 0; k < kMany / 2; ++k) x = x((i + 1) % 8);
         EXPECT_EQ(x.to_vector<int>(), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
     }},
    {"Loops",
     [] {
         Tensor x = zeros({2});
         for (int k = 0; k < kMany / 4; ++k)
             for (Tensor t : loop(2)) x = x + t.as(f32);
         EXPECT_EQ(x.to_vector<float>(), (Floats{kMany / 4, kMany / 4}));
     }},
};

class DeepPrograms : public ::testing::TestWithParam<std::tuple<DeepProgram, const char*>> {};
INSTANTIATE_TEST_SUITE_P(All, DeepPrograms,
                         ::testing::Combine(::testing::ValuesIn(kPrograms),
                                            ::testing::Values("oracle", "cpu", "gpu")),
                         [](const auto& info) {
                             return std::string(std::get<0>(info.param).name) + "_" +
                                    std::get<1>(info.param);
                         });

TEST_P(DeepPrograms, NeedLittleStack) {
    const auto& [program, executor] = GetParam();
    on_small_stack([&program = program, name = std::string(executor)] {
        const SessionScope scope(
            name == "oracle" ? Session::oracle()
                             : Session::interpreter(name == "gpu" ? gpu_profile() : cpu_profile()));
        program.run();
    });
}

std::string refused(const std::function<void()>& body) {
    const SessionScope scope(Session::interpreter());
    return user_error(body);
}

void nest(int levels, Tensor& x, const Tensor& chosen) {
    if (levels == 0) return;
    if_(chosen, [&] {
        nest(levels - 1, x, chosen);
        x = x + 1.0f;
    });
}

TEST(TooDeep, BranchesInsideOneAnother) {
    // Recording each needs some stack of its own.
    const auto hundred = [] {
        const SessionScope scope(Session::interpreter());
        Tensor x = tensor({1.0f, 5.0f});
        nest(100, x, x > 3.0f);
        EXPECT_EQ(x.to_vector<float>(), (Floats{1, 105}));
    };
    on_small_stack(hundred, 1024);
    expect_parts(refused([] {
                     Tensor x = tensor({1.0f, 5.0f});
                     nest(2000, x, x > 3.0f);
                 }),
                 {"recording: loops, branches and functions nest more than 200 deep",
                  "write a loop", "deep_programs_test.cpp:"});
}

TEST(TooDeep, FunctionsThatAreCalledInsideOneAnother) {
    expect_parts(refused([] {
                     auto f = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
                     for (int k = 0; k < 2000; ++k) {
                         const auto inner = f;
                         const auto outer = [&](Tensor x) {
                             if_(x > 1.0f, [&] { x = inner(x); });
                             return x;
                         };
                         f = compile(outer, {f32("n")});
                     }
                 }),
                 {"nest more than 200 deep", "deep_programs_test.cpp:"});
}

TEST(TooDeep, ReadsOfOneAnotherInOneKernel) {
    expect_parts(refused([] {
                     const Tensor u = arange(8);
                     Tensor c = zeros({3}, i32);
                     kernel({3}, [&](Tensor i) {
                         Tensor j = i;
                         for (int k = 0; k < 2500; ++k) j = u(j) % 8;
                         c(i) = j;
                     });
                     c.to_vector<int>();
                 }),
                 {"more than 4000 reads and reductions",
                  "move some into a loop or kernel of their own", "deep_programs_test.cpp:"});
}

/// Every iteration of a count uses the one before twice.
TEST(TooDeep, BoundsThatDoubleTakeNoTime) {
    const SessionScope scope(Session::interpreter());
    const Tensor n = tensor({3, 4});
    Tensor a = n(0), b = n(1), x = zeros({2});
    for (int k = 0; k < 200; ++k) {
        const Tensor least = min(a, b);
        b = max(a, b + k);
        a = least;
    }
    for (Tensor t : loop(a)) x += 1.0f;
    EXPECT_EQ(x.to_vector<float>(), (Floats{3, 3}));
}

TEST(TooDeep, ScalarBoundsThatDoubleTakeNoTime) {
    const SessionScope scope(Session::interpreter());
    auto f = compile(
        [](Tensor n, Tensor x) {
            for (int k = 0; k < 200; ++k) n = min(n, max(n - 1, k));
            for (Tensor t : loop(n)) x += 1.0f;
            return x;
        },
        {i32(), f32("m")});
    EXPECT_EQ(f(5, zeros({2})).to_vector<float>(), (Floats{2, 2}));
}

TEST(TooDeep, ConditionsThatDoubleTakeNoTime) {
    const SessionScope scope(Session::interpreter());
    const Tensor i = arange(8), iterations = tensor({2})(0);
    Tensor y = i * 2;
    for (Tensor t : loop(iterations)) {
        Tensor holds = i < 4;
        for (int k = 0; k < 100; ++k)
            holds = (holds & (y != i + 100 + k)) & ((i != 50 + k) & holds);
        if_(holds, [&] { y = y + 1; });
    }
    EXPECT_EQ(y.to_vector<int>(), (Ints{2, 4, 6, 8, 8, 10, 12, 14}));
}

}  // namespace
}  // namespace firn
