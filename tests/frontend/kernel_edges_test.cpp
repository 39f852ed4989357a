// Kernels by hand with invocations beyond the end of the tensors that they read and store in place:
// those that fill up a group, and those of a kernel that is larger than its tensors.
#include <algorithm>
#include <functional>

#include "compiler/program/program.h"
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class KernelEdges : public Kernels {};
INSTANTIATE_TEST_SUITE_P(Executors, KernelEdges, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

Tensor read_clamped(const Tensor& y, const Tensor& at) { return y(at); }
Tensor read_wrapped(const Tensor& y, const Tensor& at) { return wrap(y)(at); }
Tensor read_mirrored(const Tensor& y, const Tensor& at) { return mirror(y)(at); }

/// Returns the clamped index on an axis with n elements.
int clamped(int at, int n) { return std::clamp(at, 0, n - 1); }
int wrapped(int at, int n) { return ((at % n) + n) % n; }
int mirrored(int at, int n) {
    const int in_two = wrapped(at, 2 * n);
    return in_two < n ? in_two : 2 * n - 1 - in_two;
}

/// Every invocation i of `count`, and of those that fill up its group, stores to y(i) and, turned
/// round, to another tensor what y(i) was at entry.
void expect_entry(int n, int count, int group,
                  const std::function<Tensor(const Tensor&, const Tensor&)>& read,
                  const std::function<int(int, int)>& place) {
    const int all = group ? (count + group - 1) / group * group : count;
    const Floats x = floats(n, 0.25f);
    Floats y_expected, w_expected(static_cast<size_t>(all));
    for (float each : x) y_expected.push_back(3.0f * each + 100.0f);
    for (int i = 0; i < all; ++i) w_expected[size_t(all - 1 - i)] = 3.0f * x[size_t(place(i, n))];
    const auto run = [&](const Tensor& at) {
        Tensor y = 3.0f * at, w = zeros({all});
        const KernelOptions options{.group = group ? std::vector<int>{group} : std::vector<int>{}};
        kernel({count}, options, [&](Tensor i) {
            const Tensor before = read(y, i);
            y(i) = before + 100.0f;
            w(all - 1 - i) = before;
        });
        return concat({y, w});
    };
    y_expected.insert(y_expected.end(), w_expected.begin(), w_expected.end());
    EXPECT_EQ(run(tensor(x)).to_vector<float>(), y_expected) << n << " " << count << " " << group;
    EXPECT_EQ(compile(run, {f32("n")})(tensor(x)).to_vector<float>(), y_expected)
        << "compiled, " << n << " " << count << " " << group;
}

TEST_P(KernelEdges, ReadWhatWasThereAtEntry) {
    for (const int n : {1, 3, 5, 70})
        for (const int group : {0, 4, 32})
            for (const int more : {0, 6}) {
                expect_entry(n, n + more, group, read_clamped, clamped);
                expect_entry(n, n + more, group, read_wrapped, wrapped);
                expect_entry(n, n + more, group, read_mirrored, mirrored);
            }
}

TEST_P(KernelEdges, OfTwoAxes) {
    const Floats x = floats(15, 0.25f);
    Tensor y = 3.0f * tensor(x, {3, 5}), w = zeros({4, 8});
    kernel({3, 5}, {.group = {2, 4}}, [&](Tensor i, Tensor j) {
        const Tensor before = y(i, j);
        y(i, j) = before * before;
        w(3 - i, 7 - j) = before;
    });
    const Floats got = y.to_vector<float>(), turned = w.to_vector<float>();
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) {
            const float before = 3.0f * x[size_t(5 * clamped(i, 3) + clamped(j, 5))];
            if (i < 3 && j < 5) {
                EXPECT_EQ(got[size_t(5 * i + j)], before * before);
            }
            EXPECT_EQ(turned[size_t(8 * (3 - i) + 7 - j)], before) << i << " " << j;
        }
}

/// Through a shared array, by an atomic, by an array of the invocation's own, by a loop's count.
TEST_P(KernelEdges, AnyWayOut) {
    const auto run = [](const auto& body) {
        Tensor y = 1.0f * tensor(Floats{2, 3, 4}), w = zeros({8});
        kernel({3}, {.group = {4}}, [&](Tensor i) {
            const Tensor before = y(i);
            y(i) = 10.0f * before;
            body(i, before, w);
        });
        return w.to_vector<float>();
    };
    EXPECT_EQ(run([](const Tensor& i, const Tensor& before, Tensor& w) {
                  Shared row = shared(f32, 4);
                  row(local_index(0)) = before;
                  barrier();
                  w(i) = row(3 - local_index(0));
              }),
              (Floats{4, 4, 3, 2, 0, 0, 0, 0}));
    EXPECT_EQ(
        run([](const Tensor& i, const Tensor& before, Tensor& w) { atomic_add(w(i / 2), before); }),
        (Floats{5, 8, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(run([](const Tensor& i, const Tensor& before, Tensor& w) {
                  Local kept = local(f32, 2);
                  kept(1) = before;
                  w(7 - i) = kept(1);
              }),
              (Floats{0, 0, 0, 0, 4, 4, 3, 2}));
    EXPECT_EQ(run([](const Tensor& i, const Tensor& before, Tensor& w) {
                  Tensor iterations = 0;
                  for (Tensor k : loop(50)) {
                      if_(k.as(f32) >= before, [] { break_(); });
                      iterations += 1;
                  }
                  w(i) = iterations.as(f32);
              }),
              (Floats{2, 3, 4, 4, 0, 0, 0, 0}));
    EXPECT_EQ(run([](const Tensor& i, const Tensor& before, Tensor& w) {
                  if_(before > 3.5f, [&] { w(2 * i) = 1.0f; });
              }),
              (Floats{0, 0, 0, 0, 1, 0, 1, 0}));
}

/// Values that invocations beyond the end also compute for places beyond the end need no copy.
TEST(KernelEdgesProgram, StaysInPlace) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    auto run = compile(
        [](Tensor x) {
            Tensor y = 2.0f * x, z = x;
            kernel({x.size(0)}, {.group = {4}}, [&](Tensor i) {
                const Tensor before = y(i);
                Tensor grown = before;
                for (Tensor k : loop(3)) grown = grown * before + k.as(f32);
                y(i) = grown;
                if_(grown > 1.0f, [&] { z(i) = before; });
            });
            return y + z;
        },
        {f32("n")});
    (void)run(ones({5})).to_vector<float>();
    int copies = 0;
    for (const Step& step : run.program()->steps)
        copies += std::holds_alternative<CopyStep>(step.step);
    EXPECT_EQ(copies, 0);
}

TEST_P(KernelEdges, GiveTheirOwnStoreWhereItCounts) {
    Tensor y = zeros({5}), z = zeros({5});
    kernel({5}, {.group = {4}}, [&](Tensor i) {
        y(i) = 2.0f * i.as(f32);
        z(i) = y(i) + 1.0f;
    });
    EXPECT_EQ(z.to_vector<float>(), (Floats{1, 3, 5, 7, 9}));
}

class RefusedKernelEdges : public OracleTest {};

TEST_F(RefusedKernelEdges, WhereTheStoreIsReadBeyondTheEnd) {
    Tensor y = zeros({5}), w = zeros({8});
    expect_parts(user_error([&] {
                     kernel({5}, {.group = {4}}, [&](Tensor i) {
                         y(i) = 2.0f * i.as(f32);
                         w(7 - i) = y(i);
                     });
                 }),
                 {"outside of the tensor", "zero(x)", "kernel_edges_test.cpp"});
    kernel({5}, {.group = {4}}, [&](Tensor i) {
        y(i) = 2.0f * i.as(f32);
        w(7 - i) = zero(y)(i);
    });
    EXPECT_EQ(w.to_vector<float>(), (Floats{0, 0, 0, 8, 6, 4, 2, 0}));
}

}  // namespace
}  // namespace firn
