// Lazy expressions that come with many sizes: few programs serve them.
#include "compiler/frontend/lazy_plans.h"
#include "compiler/ir/text.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

/// Two sizes have programs of their own, the third one that serves all.
constexpr size_t kPrograms = 3;

Ints counted_to(int n) {
    Ints out;
    for (int k = 0; k < n; ++k) out.push_back(k);
    return out;
}

/// The result of an expression of a size, and the expected one.
struct SizedCase {
    const char* name;
    std::function<Tensor(int)> run;
    size_t programs = kPrograms;
    friend std::ostream& operator<<(std::ostream& out, const SizedCase& test) {
        return out << test.name;
    }
};

const SizedCase kSizedCases[] = {
    {"zeros", [](int n) { return zeros({n}); }},
    {"range", [](int n) { return tensor(counted_to(200))(range(n)); }},
    {"elementwise",
     [](int n) {
         return tensor(counted_to(n), {n}) * 3 + reshape(arange(n * 4), {n, 4})(all, 1);
     }},
    {"sums",
     [](int n) {
         Tensor x = reshape(cast<float>(arange(n * (n + 3))), {n, n + 3});
         return sum(x * 0.25f, {.axis = 0}) / (n + 1.0f);
     },
     5},
    {"neighbours",
     [](int n) {
         Tensor x = arange(n + 2) * 7;
         return x(range(1, n + 1)) - x(range(0, n)) + x(range(2, n + 2));
     }},
    {"reversed", [](int n) { return flip(arange(n), {.axis = 0}) + n; }},
    {"joined",
     [](int n) {
         return concat({arange(n), arange(2 * n), zeros({3}, i32)});
     }},
    {"loops",
     [](int n) {
         Tensor x = arange(n), sum = zeros({n}, i32);
         for (Tensor i : loop(n)) sum += x(i) + i;
         return sum;
     }},
    {"products",
     [](int n) {
         return matmul(cast<float>(reshape(arange(n * 5), {n, 5})),
                       cast<float>(reshape(arange(5 * (n + 1)), {5, n + 1})));
     }},
    {"by_hand",
     [](int n) {
         Tensor x = arange(n), c = zeros({n}, i32);
         kernel({n}, [&](Tensor i) { c(i) = x(n - 1 - i) * 2 + i; });
         return c;
     }},
    {"in_groups",
     [](int n) {
         Tensor c = zeros({n}, i32);
         kernel({n}, {.group = {4}}, [&](Tensor i) { c(i) = local_index(0) * 100 + i; });
         return c;
     },
     7},
};

class LazySizes : public ::testing::TestWithParam<SizedCase> {};
INSTANTIATE_TEST_SUITE_P(Expressions, LazySizes, ::testing::ValuesIn(kSizedCases),
                         [](const auto& info) { return info.param.name; });

/// 0 and 1 may give other graphs: repeated and empty tensors are recorded otherwise.
TEST_P(LazySizes, ShareAProgram) {
    const Session oracle = Session::oracle(), session = Session::interpreter();
    for (int n : {6, 9, 17, 5, 12, 31, 4, 8, 40, 7, 1, 0, 2, 33, 64}) {
        std::vector<double> expected;
        {
            SessionScope scope(oracle);
            expected = cast<double>(GetParam().run(n)).to_vector<double>();
        }
        SessionScope scope(session);
        EXPECT_EQ(cast<double>(GetParam().run(n)).to_vector<double>(), expected) << n;
    }
    EXPECT_LE(session.plan_count(), GetParam().programs + 3) << "with those of 0, 1 and 2";
}

TEST(LazySizesOfOneTensor, TakeTwoProgramsAndOneForAll) {
    SessionScope scope(Session::interpreter());
    for (int n = 10; n < 60; ++n) zeros({n}).to_vector<float>();
    EXPECT_EQ(current_session().plan_count(), kPrograms);
}

/// Fixed sizes are no symbols, and sizes that are equal at first may differ later.
TEST(LazySizesOfOneTensor, WhatIsEqualAtFirstMayDifferLater) {
    SessionScope scope(Session::interpreter());
    const auto run = [](int n, int m) {
        Tensor x = reshape(arange(n * m), {n, m});
        EXPECT_EQ(sum(x * 2).item<int>(), n * m * (n * m - 1)) << n << " " << m;
    };
    for (int n = 3; n < 9; ++n) run(n, n);
    const size_t equal = current_session().plan_count();
    for (int n = 3; n < 9; ++n) run(n, n + 1), run(n + 4, n), run(n, 5);
    EXPECT_LE(current_session().plan_count(), equal + 3);
}

/// The program of all sizes is as right for one that keeps coming, but not as fast.
TEST(LazySizesOfOneTensor, OnesThatKeepComingHaveAProgram) {
    SessionScope scope(Session::interpreter());
    for (int n = 10; n < 20; ++n) zeros({n}).to_vector<float>();
    EXPECT_EQ(current_session().plan_count(), kPrograms);
    for (int calls = 0; calls < 10; ++calls) zeros({15}).to_vector<float>();
    EXPECT_EQ(current_session().plan_count(), kPrograms + 1);
}

TEST(LazySizesOfOneTensor, NumbersThatAreNoSizesAreNotTakenForSuch) {
    SessionScope scope(Session::interpreter());
    const Tensor x = tensor(Ints{1, 2, 3});
    for (int k : {5, 17, 2, 900, -4, 33})
        EXPECT_EQ((x * k).to_vector<int>(), (Ints{k, 2 * k, 3 * k})) << k;
}

// --- forms ---------------------------------------------------------------------------------------

std::optional<SizedNumbers> sized(const std::string& text,
                                  const std::vector<std::vector<int64_t>>& examples) {
    NodeTable table;
    return sized_numbers(parse(table, text), examples);
}

TEST(SizeForms, SayWhatIsEqualAndWhatIsComputed) {
    const std::string text =
        "graph(%0: f32[7, 3]) {\n    %1: f32[21] = Reshape %0\n    return %1\n}\n";
    const auto out = sized(text, {{7, 3, 21}, {8, 3, 24}, {11, 3, 33}});
    ASSERT_TRUE(out);
    EXPECT_EQ(out->sizes[0].text(), "n0");
    EXPECT_EQ(out->sizes[1].text(), "3");
    EXPECT_EQ(out->sizes[2].text(), "3*n0");
    EXPECT_TRUE(out->fit({0, 3, 0}));
    EXPECT_FALSE(out->fit({5, 3, 16})) << "which is no such graph";
    const auto two = sized(text, {{7, 3, 21}, {8, 5, 40}, {11, 4, 44}});
    ASSERT_TRUE(two);
    EXPECT_EQ(two->sizes[2].text(), "n0*n1");
}

TEST(SizeForms, KeepTheGraph) {
    NodeTable table;
    const std::string text =
        "graph(%0: f32[7]) {\n    %1: f32[9] = Pad %0 before=[0] after=[2] value=0.0\n"
        "    %2: f32[5] = Slice %1 begin=[4] step=[1]\n    return %2\n}\n";
    const Graph graph = parse(table, text);
    const SizeForm form = *form_of(graph);
    EXPECT_EQ(form.numbers, (std::vector<int64_t>{7, 9, 0, 2, 5, 4}));
    EXPECT_NE(form.text.find("f32[#] = Slice %1 begin=[#] step=[1]"), std::string::npos)
        << form.text;
    const auto out =
        sized_numbers(graph, {{7, 9, 0, 2, 5, 4}, {8, 10, 0, 2, 6, 4}, {20, 22, 0, 2, 18, 4}});
    ASSERT_TRUE(out);
    EXPECT_EQ(print(with_sizes(table, graph, *out)),
              "graph(%0: f32[n0 + 2]) {\n"
              "    %1: f32[n0 + 4] = Pad %0 before=[0] after=[2] value=0.0\n"
              "    %2: f32[n0] = Slice %1 begin=[4] step=[1]\n    return %2\n}\n");
}

}  // namespace
}  // namespace firn
