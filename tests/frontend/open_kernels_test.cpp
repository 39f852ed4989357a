// Kernels by hand without groups: mapped as those that compute values, where no order is asked for.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/language.h"
#include "compiler/program/program.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// x [n] is read; a [2 n] begins as 0 to 2 n - 1, b [n, 4] as ones, and c [5] (i32) as zeros.
struct Arrays {
    Tensor x, a, b, c;
};

/// The work of invocation i of n.
struct Body {
    const char* name;
    bool ordered;  // its user alone can map it
    std::function<void(Arrays&, Tensor)> run;
};

const std::vector<Body> kBodies{
    {
        "own", false, [](Arrays& t, Tensor i) { t.a(i) = t.x(i) + 1.0f; }  // namespace
    }                                                                      // namespace firn
    ,
    {"turned", false, [](Arrays& t, Tensor i) { t.a(2 * i + 1) = t.x(t.x.size(0) - 1 - i); }},
    {"in_place", false, [](Arrays& t, Tensor i) { t.a(i) = t.a(i) * 2.0f + t.x(i); }},
    {"in_place_where", false,
     [](Arrays& t, Tensor i) { if_(t.x(i) > 1.0f, [&] { t.a(i) = t.a(i) - t.x(i); }); }},
    {"pairs", false,
     [](Arrays& t, Tensor i) { t.a(2 * i) = t.x(i), t.a(2 * i + 1) = t.x(i) * 3.0f; }},
    {"columns", false,
     [](Arrays& t, Tensor i) {
         for (int k = 0; k < 4; ++k) t.b(i, 3 - k) = t.x(i) + float(k);
     }},
    {"row", false,
     [](Arrays& t, Tensor i) {
         for (Tensor k : loop(4)) t.b(i, k) = t.x(i) * cast<float>(k);
     }},
    {"running_sums", false,
     [](Arrays& t, Tensor i) {
         Tensor sum = t.x(i);
         for (Tensor k : loop(4)) {
             sum = sum + cast<float>(k);
             t.b(i, k) = sum;
         }
     }},
    {"sums", false, [](Arrays& t, Tensor i) { scatter_add(t.c(i % 5), 1); }},
    {"sums_twice", false,
     [](Arrays& t, Tensor i) { scatter_add(t.c(i % 5), 1), scatter_add(t.c(i % 3), i); }},
    {"over_a_loop", false,
     [](Arrays& t, Tensor i) {
         Tensor sum = 0.0f;
         for (Tensor k : loop(7)) sum += t.x((i + k) % cast<int>(Tensor(t.x.size(0))));
         t.a(i) = sum;
     }},
    {"again", true, [](Arrays& t, Tensor i) { t.a(i) = t.x(i), t.a(i) = t.x(i) + 5.0f; }},
    {"again_where", true,
     [](Arrays& t, Tensor i) { t.a(i) = t.x(i), if_(t.x(i) > 1.0f, [&] { t.a(i) = 7.0f; }); }},
    {"what_was_stored", true,
     [](Arrays& t, Tensor i) { t.a(i) = t.x(i) * 2.0f, t.b(i, 0) = t.a(i) + 1.0f; }},
    {"last_of_a_loop", true,
     [](Arrays& t, Tensor i) {
         for (Tensor k : loop(4)) t.a(i) = t.x(i) + cast<float>(k);
     }},
    {"wrapped_in_a_loop", true,
     [](Arrays& t, Tensor i) {
         for (Tensor k : loop(6)) t.b(i, k % 4) = t.x(i) + cast<float>(k);
     }},
    {"in_place_in_a_loop", true,
     [](Arrays& t, Tensor i) {
         for (Tensor k : loop(4)) t.a(i) = t.a(i) + cast<float>(k) * t.x(i);
     }},
    {"rows_in_place", true,
     [](Arrays& t, Tensor i) {
         for (Tensor k : loop(4)) t.b(i, k) = t.b(i, k) * 2.0f + cast<float>(k);
     }},
    {"overlapping_iterations", true,
     [](Arrays& t, Tensor i) {
         for (Tensor k : loop(3)) t.b(i, k) = 1.0f, t.b(i, k + 1) = 2.0f + t.x(i);
     }},
    {"sum_behind_its_stores", true,
     [](Arrays& t, Tensor i) {
         Tensor sum = t.x(i);
         for (Tensor k : loop(4)) {
             sum = sum + cast<float>(k);
             t.b(i, k) = sum;
         }
         t.a(i) = sum;
     }},
    {"sum_of_what_was_there", false,
     [](Arrays& t, Tensor i) {
         Tensor before = t.c(i);
         scatter_add(t.c(i), before + i + 1);
     }},
    {"sum_and_largest", true,
     [](Arrays& t, Tensor i) { scatter_add(t.c(i), 3), scatter_max(t.c(i), 2); }},
    {"places_of_data", true,
     [](Arrays& t, Tensor i) { t.a(2 * i) = 1.0f, t.a(2 * i + cast<int>(t.x(i)) % 2) = 2.0f; }},
    {"own_array", true,
     [](Arrays& t, Tensor i) {
         Local two = local(f32, {2});
         two(0) = t.x(i), two(1) = 2.0f * t.x(i);
         t.a(i) = two(i % 2);
     }},
};

std::vector<float> values_of(const Body& body, int n, const Session& session, bool* mapped) {
    SessionScope scope(session);
    const auto f = compile(
        [&](Tensor x) {
            Arrays t{x, arange(2 * x.size(0)).as(f32), ones({x.size(0), 4}), zeros({5}, i32)};
            kernel({x.size(0)}, [&](Tensor i) { body.run(t, i); });
            return std::tuple{t.a, t.b, t.c};
        },
        {f32("n")});
    const auto [a, b, c] = f((arange(n) * 7 % 5).as(f32));
    std::vector<float> out = a.template to_vector<float>(), more = b.template to_vector<float>();
    out.insert(out.end(), more.begin(), more.end());
    for (int sum : c.template to_vector<int>()) out.push_back(float(sum));
    if (mapped)
        for (const KernelInfo& kernel : f.program()->kernels) *mapped &= !kernel.mapping.empty();
    return out;
}

class OpenKernels : public testing::TestWithParam<Body> {};
INSTANTIATE_TEST_SUITE_P(Bodies, OpenKernels, testing::ValuesIn(kBodies),
                         [](const auto& body) { return body.param.name; });

TEST_P(OpenKernels, GiveWhatTheOracleGivesWhoeverMapsThem) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (int n : {1, 5, 64, 1030}) {
            bool mapped = true;
            EXPECT_EQ(values_of(GetParam(), n, Session::interpreter(profile), &mapped),
                      values_of(GetParam(), n, Session::oracle(), nullptr))
                << n;
            EXPECT_EQ(mapped, !GetParam().ordered) << n;
        }
}

/// The tile of an invocation that stores `count` elements, each at a place of its own.
std::string mapping_of_stores(int count) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    constexpr int kLength = 1 << 18;
    const auto f = compile(
        [=](Tensor x) {
            Tensor out = zeros({count * kLength});
            kernel({kLength}, [&](Tensor i) {
                for (int k = 0; k < count; ++k) out((i ^ 5) + k * kLength) = x(i) + float(k);
            });
            return out;
        },
        {f32(kLength)});
    return f.program()->kernels.back().mapping;
}

TEST(OpenKernels, NeighboursAreOneInvocationsWhereItHoldsWhatTheyStore) {
    EXPECT_NE(mapping_of_stores(1).find("tile 4"), std::string::npos) << mapping_of_stores(1);
    EXPECT_NE(mapping_of_stores(8).find("tile 4"), std::string::npos) << mapping_of_stores(8);
    EXPECT_EQ(mapping_of_stores(8).find("strides"), std::string::npos) << mapping_of_stores(8);
    EXPECT_EQ(mapping_of_stores(16).find("tile"), std::string::npos) << mapping_of_stores(16);
}

}  // namespace
}  // namespace firn
