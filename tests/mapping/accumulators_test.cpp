// Combining stores to few places, privatised per invocation (CPU driver) or per group (GPU), give
// the oracle's results in the kernel interpreter.
#include <gtest/gtest.h>

#include <tuple>

#include "compiler/frontend/report.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// So few invocations keep it busy that small grids are worth copies.
DeviceProfile small(DeviceProfile profile) {
    profile.parallel_invocations = 1;
    profile.max_group_size = 32;
    profile.subgroup_size = 8;
    return profile;
}

struct Row {
    const char* name;
    Tensor (*function)(Tensor, Tensor);  // numbers of shape [n, m], a target
    bool near = true;
};

Tensor places(const Tensor& x, int count) { return abs(cast<int>(x)) * 5 % count; }

const Row kRows[] = {
    {"adds",
     [](Tensor x, Tensor y) {
         scatter_add(y(places(x, 9)), x);
         return y;
     }},
    {"keeps_the_least",
     [](Tensor x, Tensor y) {
         scatter_min(y(places(x, 9)), x);
         return y;
     }},
    {"keeps_the_greatest_integer",
     [](Tensor x, Tensor y) {
         Tensor counts = cast<int>(y);
         scatter_max(counts(places(x, 9)), cast<int>(x));
         return cast<float>(counts);
     }},
    {"drops_what_is_outside",
     [](Tensor x, Tensor y) {
         scatter_add(y(places(x, 30) - 3), x);
         return y;
     }},
    {"two_targets",
     [](Tensor x, Tensor y) {
         Tensor counts = zeros({4}, i32);
         scatter_add(y(places(x, 9)), x);
         scatter_add(counts(places(x, 4)), 1);
         return y + cast<float>(sum(counts * (arange(4) + 1)));
     }},
    {"reads_what_was_added_before",
     [](Tensor x, Tensor y) {
         scatter_add(y(places(x, 9)), x);
         scatter_add(y(places(x, 7)), y(places(x, 5)));
         return y;
     }},
    {"adds_in_turns",
     [](Tensor x, Tensor y) {
         for (Tensor k : loop(3)) scatter_add(y(places(x + cast<float>(k), 9)), x);
         return y;
     }},
    {"a_target_that_is_too_large",
     [](Tensor x, Tensor) {
         Tensor large = zeros({5000});
         scatter_add(large(places(x, 5000)), x);
         return large;
     },
     false},
};

class Accumulators_ : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, Accumulators_, testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.name); });

/// Small whole numbers, so that sums are exact in any order.
Tensor numbers(const Shape& shape) {
    Tensor flat = arange(element_count(shape).constant());
    return reshape(cast<float>(flat * 7 % 11 - 5), shape);
}

std::vector<float> run(const Session& session, const Row& row, const Shape& shape, bool symbolic,
                       std::string* mappings) {
    SessionScope scope(session);
    ArgSpec x = symbolic ? f32("n", "m") : ArgSpec{f32, shape};
    auto f = compile([&](Tensor x, Tensor y) { return row.function(x, y); }, {x, f32(9)});
    const Tensor out = f(numbers(shape), numbers({9}));
    if (mappings)
        for (const KernelInfo& kernel : f.program()->kernels) *mappings += kernel.mapping + "\n";
    return out.to_vector<float>();
}

TEST_P(Accumulators_, GiveWhatTheOracleGives) {
    for (const DeviceProfile& profile : {small(cpu_profile()), small(gpu_profile())})
        for (bool symbolic : {false, true})
            for (const Shape& shape : {Shape{61, 37}, Shape{1, 1000}, Shape{999, 1}, Shape{64, 128},
                                       Shape{0, 5}, Shape{1, 1}})
                EXPECT_EQ(run(Session::interpreter(profile), GetParam(), shape, symbolic, nullptr),
                          run(Session::oracle(), GetParam(), shape, symbolic, nullptr))
                    << profile.name << (symbolic ? " symbolic " : " ") << text(shape);
}

TEST_P(Accumulators_, AreMadeWhereTheTargetIsSmall) {
    for (const auto& [profile, word] :
         {std::pair{small(cpu_profile()), " private"}, {small(gpu_profile()), " shared"}}) {
        std::string mappings;
        run(Session::interpreter(profile), GetParam(), {61, 37}, false, &mappings);
        EXPECT_EQ(mappings.find(word) != std::string::npos, GetParam().near) << profile.name << "\n"
                                                                             << mappings;
    }
}

TEST(Accumulators_, TheirIterationsStayBelowTheDriversLimitWithTheLoopsInside) {
    for (bool known : {true, false}) {
        SessionScope scope(Session::interpreter(cpu_profile()));
        auto f = compile(
            [&](Tensor x, Tensor iterations) {
                Tensor y = zeros({64}, i32);
                for (Tensor k : known ? loop(500) : loop(min(iterations, 500)))
                    scatter_add(y((x + k) % 64), 1);
                return y;
            },
            {i32(1 << 22), i32()});
        for (const KernelInfo& kernel : f.program()->kernels)
            EXPECT_LT(kernel.back_edges, 65535) << kernel.mapping;
    }
}

TEST(Accumulators_, AreAsLargeAsTheMemoryOfAGroup) {
    for (const auto& [bytes, elements, copied] : {std::tuple{32768u, 8192, true},
                                                  {32768u, 8193, false},
                                                  {16384u, 4096, true},
                                                  {16384u, 4097, false}}) {
        DeviceProfile profile = cpu_profile();
        profile.shared_bytes = bytes;
        SessionScope scope(Session::interpreter(profile));
        const auto f =
            compile([count = elements](Tensor x) { return bincount(x, count); }, {i32(1 << 22)});
        std::string mappings;
        for (const KernelInfo& kernel : f.program()->kernels) mappings += kernel.mapping + "\n";
        EXPECT_EQ(mappings.find("accumulate private") != std::string::npos, copied)
            << bytes << " bytes, " << elements << " elements: " << mappings;
    }
}

TEST(Accumulators_, AreNotWorthItForFewStores) {
    std::string mappings;
    run(Session::interpreter(cpu_profile()), kRows[0], {3, 3}, false, &mappings);
    EXPECT_EQ(mappings.find("private"), std::string::npos) << mappings;
}

}  // namespace
}  // namespace firn
