// Functions of whole tensors as functions of parts: the same numbers for every layout of processes.
#include "compiler/decompose/decompose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string>

#include "compiler/frontend/record.h"
#include "tests/decompose/processes.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;
using Step = std::function<Tensors(const Tensors&)>;

struct Case {
    const char* name;
    Step step;
    int fields = 1;  // arguments of shape [n, m]
    bool periodic = false;
    double tolerance = 0;  // sums over processes have another order
    friend std::ostream& operator<<(std::ostream& out, const Case& each) {
        return out << each.name;
    }
};

Tensor wrapped(const Tensor& u, const Tensor& i, const Tensor& j) { return wrap(u)(i, j); }

/// The arguments as whole tensors on the host, deterministic and not smooth.
std::vector<float> field(int64_t n, int64_t m, int number) {
    std::vector<float> out;
    for (int64_t k = 0; k < n * m; ++k)
        out.push_back(static_cast<float>((k * 37 + number * 11 + k * k % 13) % 101) / 16.0f - 3.0f);
    return out;
}

std::vector<ArgSpec> specs(int fields, const Size& n, const Size& m) {
    return std::vector<ArgSpec>(static_cast<size_t>(fields), ArgSpec{f32, {n, m}});
}

struct Sizes {
    int64_t n, m;
};

std::vector<std::vector<float>> run_whole(const Case& test, Sizes sizes) {
    Session session = Session::oracle();
    SessionScope scope(session);
    auto f = compile(test.step, specs(test.fields, Size::symbol("n"), Size::symbol("m")));
    Tensors args;
    for (int k = 0; k < test.fields; ++k)
        args.push_back(tensor(field(sizes.n, sizes.m, k), {Size(sizes.n), Size(sizes.m)}));
    std::vector<std::vector<float>> out;
    for (const Tensor& each : f(args)) out.push_back(each.to_vector<float>());
    return out;
}

GridTies ties_of(const std::shared_ptr<Mail>& mail, const Layout& layout, int rank, bool periodic) {
    GridTies ties;
    ties.exchange = [=](size_t axis, int64_t to_below, int64_t to_above, int64_t from_below,
                        int64_t from_above) {
        const auto beside = [&](int by) {
            std::vector<int> place = layout.place(rank);
            place[axis] += by;
            const int along = layout.along[axis];
            if (periodic) place[axis] = (place[axis] + along) % along;
            return place[axis] < 0 || place[axis] >= along ? -1 : layout.rank(place);
        };
        return std::make_shared<Exchanging>(mail, rank,
                                            Exchanging::Other{beside(-1), to_below, from_below},
                                            Exchanging::Other{beside(1), to_above, from_above});
    };
    ties.combine = [=](ReduceOp op, const std::vector<bool>& axes) {
        std::vector<int> group;
        for (int other = 0; other < layout.count(); ++other) {
            bool together = true;
            for (size_t a = 0; a < axes.size(); ++a)
                together &= axes[a] || layout.place(other)[a] == layout.place(rank)[a];
            if (together) group.push_back(other);
        }
        return std::make_shared<Combining>(mail, rank, op, group);
    };
    return ties;
}

/// What one process computes, put into the whole results.
void run_part(const Case& test, Sizes sizes, const Layout& layout, int rank,
              const std::shared_ptr<Mail>& mail, std::vector<std::vector<float>>& results,
              std::mutex& mutex) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    std::vector<GridPart> part;
    const std::vector<int64_t> totals{sizes.n, sizes.m};
    for (size_t a = 0; a < 2; ++a)
        part.push_back(grid_part(totals[a], layout.along[a], layout.place(rank)[a], test.periodic));
    auto f = compile(test.step, specs(test.fields, Size::symbol("n"), Size::symbol("m")));
    const std::vector<GridAxis> grid{{"n", test.periodic}, {"m", test.periodic}};
    const GridTies ties = ties_of(mail, layout, rank, test.periodic);
    auto local = compile(
        [&](const Tensors& args) {
            std::vector<Ref> nodes;
            for (const Tensor& arg : args) nodes.push_back(arg.node({}));
            Tensors out;
            for (const Ref& result :
                 decomposed(builder(*current_state(), {}), f.graph(), grid, part, ties, nodes))
                out.push_back(Tensor::from_node(result));
            return out;
        },
        specs(test.fields, Size(part[0].length), Size(part[1].length)));
    Tensors args;
    for (int k = 0; k < test.fields; ++k) {
        const std::vector<float> all = field(sizes.n, sizes.m, k);
        std::vector<float> own;
        for (int64_t i = 0; i < part[0].length; ++i)
            for (int64_t j = 0; j < part[1].length; ++j)
                own.push_back(
                    all[static_cast<size_t>((part[0].first + i) * sizes.m + part[1].first + j)]);
        args.push_back(tensor(own, {Size(part[0].length), Size(part[1].length)}));
    }
    const Tensors made = local(args);
    const std::lock_guard lock(mutex);
    for (size_t k = 0; k < made.size(); ++k) {
        const std::vector<float> own = made[k].to_vector<float>();
        const auto put = [&](int64_t to, int64_t from) {
            results[k].at(static_cast<size_t>(to)) = own.at(static_cast<size_t>(from));
        };
        if (made[k].shape().empty()) {
            put(0, 0);
        } else if (made[k].shape().size() == 1) {
            for (int64_t i = 0; i < part[0].length; ++i) put(part[0].first + i, i);
        } else {
            for (int64_t i = 0; i < part[0].length; ++i)
                for (int64_t j = 0; j < part[1].length; ++j)
                    put((part[0].first + i) * sizes.m + part[1].first + j, i * part[1].length + j);
        }
    }
}

std::vector<std::vector<float>> run_parts(const Case& test, Sizes sizes, const Layout& layout) {
    std::vector<std::vector<float>> results = run_whole(test, sizes);
    for (std::vector<float>& each : results) std::fill(each.begin(), each.end(), -777.0f);
    auto mail = std::make_shared<Mail>();
    std::mutex mutex;
    std::exception_ptr error;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < layout.count(); ++rank)
        threads.emplace_back([&, rank] {
            try {
                run_part(test, sizes, layout, rank, mail, results, mutex);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!error) error = std::current_exception();
                mail->end();
            }
        });
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
    return results;
}

class Decomposed : public ::testing::TestWithParam<Case> {};

Tensor index0(const Tensor& u) { return indices<2>(u.shape())[0]; }
Tensor index1(const Tensor& u) { return indices<2>(u.shape())[1]; }

INSTANTIATE_TEST_SUITE_P(
    Steps, Decomposed,
    ::testing::Values(
        Case{"alone", [](const Tensors& x) { return Tensors{x[0] * 2.0f + x[1]}; }, 2},
        Case{"star",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{x[0](i - 1, j) + x[0](i + 1, j) + x[0](i, j - 1) + x[0](i, j + 1) -
                                4.0f * x[0] + x[1]};
             },
             2},
        Case{"around",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{wrapped(x[0], i - 1, j) - wrapped(x[0], i, j + 2)};
             },
             1, true},
        Case{"corners",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{x[0](i - 1, j - 1) + 3.0f * x[0](i + 1, j + 1) -
                                x[0](i + 1, j - 1)};
             }},
        Case{"corners_around",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{wrapped(x[0], i - 1, j + 1) * 2.0f + wrapped(x[0], i + 1, j)};
             },
             1, true},
        Case{"two_stars",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 auto star = [&](const Tensor& u) {
                     return u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
                 };
                 return Tensors{star(star(x[0])), x[0] * 0.5f};
             }},
        Case{"one_sided",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{x[0] - x[0](i - 1, j)};
             }},
        Case{"one_sided_up",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{x[0](i, j + 1) - x[0]};
             }},
        Case{"frame",
             [](const Tensors& x) {
                 Tensor out = zeros_like(x[0]);
                 const IndexRange inner = range(1, -1);
                 out(inner, inner) = x[0](range(0, -2), inner) + x[0](range(2, none), inner);
                 return Tensors{out};
             }},
        Case{"padded",
             [](const Tensors& x) {
                 const IndexRange inner = range(1, -1);
                 return Tensors{pad(x[0](inner, inner) * 2.0f,
                                    {.before = {1, 1}, .after = {1, 1}, .value = 9.0f})};
             }},
        Case{"zeros_outside",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{zero(x[0])(i - 2, j) + mirror(x[0])(i, j + 1) +
                                reflect(x[0])(i - 1, j + 2)};
             }},
        Case{"rows_of_ends",
             [](const Tensors& x) {
                 Tensor out = x[0] * 2.0f;
                 out(0) = 1.0f;
                 out(x[0].size(0) - 1) = 7.0f;
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{out(i + 1, j) + out};
             }},
        Case{"coordinates",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{x[0] + i.as(f32) * 0.25f + (j * i).as(f32) +
                                Tensor(x[0].size(0)).as(f32)};
             }},
        Case{"mean",
             [](const Tensors& x) {
                 return Tensors{x[0] - mean(x[0]), max(x[0]), min(x[0] * x[0])};
             },
             1, false, 1e-5},
        Case{"rows",
             [](const Tensors& x) {
                 return Tensors{sum(x[0], {.axis = 1}),
                                x[0] / (1.0f + max(abs(x[0]), {.axis = 1, .keep_dims = true}))};
             },
             1, false, 1e-5},
        Case{"inner_sum",
             [](const Tensors& x) {
                 const IndexRange inner = range(1, -2);
                 return Tensors{sum(x[0](inner, inner)) + x[0], sum(x[0](range(2, none)))};
             },
             1, false, 1e-5},
        Case{"stencil_sum",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{sum(abs(x[0](i + 1, j) - x[0])) + x[0]};
             },
             1, false, 1e-5},
        Case{"jacobi",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 Tensor u = x[0];
                 for ([[maybe_unused]] Tensor k : loop(4))
                     u = 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - x[1]);
                 return Tensors{u + x[0]};
             },
             2},
        Case{"until_small",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 Tensor u = x[0], change = 100.0f;
                 while_([&] { return change > 0.75f; },
                        [&] {
                            const Tensor next = 0.5f * (u(i - 1, j) + u(i, j + 1));
                            change = max(abs(next - u));
                            u = next;
                        });
                 return Tensors{u, change};
             }},
        Case{"bounded_gather",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 const Tensor y = i.as(f32) + clamp(x[1], -2.0f, 2.0f);
                 const Tensor at = clamp(y, 0.0f, Tensor(x[0].size(0)).as(f32) - 1.0f);
                 const Tensor low = floor(at).as(i32);
                 const Tensor part = at - floor(at);
                 return Tensors{x[0](low, j) * (1.0f - part) + x[0](low + 1, j) * part};
             },
             2},
        Case{"iterated_alone",
             [](const Tensors& x) {
                 Tensor z = x[0];
                 for ([[maybe_unused]] Tensor k : loop(5)) z = z * z * 0.25f + x[1];
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 return Tensors{z(i - 1, j) + z};
             },
             2},
        Case{"branches",
             [](const Tensors& x) {
                 const Tensor i = index0(x[0]), j = index1(x[0]);
                 Tensor out = x[0];
                 if_(
                     max(x[0]) > 1.0f, [&] { out = x[0](i - 1, j); },
                     [&] { out = x[0](i + 1, j); });
                 if_(x[0] > 0.0f, [&] { out += 1.0f; });
                 return Tensors{out};
             }},
        Case{"transposed",
             [](const Tensors& x) {
                 const Tensor t = transpose(x[0]);
                 const auto [j, i] = indices<2>(t.shape());
                 return Tensors{transpose(t(j - 1, i) + t)};
             }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(Decomposed, GivesWhatOneProcessGives) {
    const std::vector<Layout> layouts{{{1, 1}}, {{2, 1}}, {{3, 1}}, {{1, 2}}, {{2, 2}}, {{3, 2}}};
    for (const Sizes sizes : {Sizes{13, 11}, Sizes{9, 6}})
        for (const Layout& layout : layouts) {
            SCOPED_TRACE(std::to_string(layout.along[0]) + " x " + std::to_string(layout.along[1]) +
                         " processes, " + std::to_string(sizes.n) + " x " +
                         std::to_string(sizes.m));
            const auto whole = run_whole(GetParam(), sizes),
                       parts = run_parts(GetParam(), sizes, layout);
            for (size_t k = 0; k < whole.size(); ++k)
                for (size_t at = 0; at < whole[k].size(); ++at)
                    ASSERT_NEAR(whole[k][at], parts[k][at],
                                GetParam().tolerance * (1 + std::abs(whole[k][at])))
                        << "result " << k << ", element " << at;
        }
}

std::string refusal(const Step& step, bool periodic = false, Sizes sizes = {8, 8}) {
    return user_error([&] { run_parts({"refused", step, 1, periodic}, sizes, {{2, 1}}); });
}

TEST(DecomposedRefusals, ReadsThatNothingBounds) {
    expect_parts(
        refusal([](const Tensors& x) { return Tensors{x[0](x[0].as(i32), index1(x[0]))}; }),
        {"the read of axis 0 of [n, m] is bounded by no number of neighbours",
         "clamp(displacement, -4, 4)", "decompose_test.cpp:"});
    expect_parts(refusal([](const Tensors& x) { return Tensors{x[0] - x[0](0)}; }),
                 {"bounded by no number of neighbours"});
}

TEST(DecomposedRefusals, ReadsAroundAnAxisThatIsNotPeriodic) {
    const Step around = [](const Tensors& x) {
        return Tensors{wrapped(x[0], index0(x[0]) - 1, index1(x[0]))};
    };
    expect_parts(refusal(around), {"axis n is not periodic", "decompose_test.cpp:"});
    const Step clamped = [](const Tensors& x) {
        return Tensors{x[0](index0(x[0]) - 1, index1(x[0]))};
    };
    expect_parts(refusal(clamped, true), {"axis n is periodic", "decompose_test.cpp:"});
}

TEST(DecomposedRefusals, RimsWiderThanAPart) {
    expect_parts(
        refusal([](const Tensors& x) { return Tensors{x[0](index0(x[0]) - 6, index1(x[0]))}; }),
        {"a rim of 6 positions along axis n is wider than the 4 that some process has",
         "use fewer processes"});
}

TEST(DecomposedRefusals, OtherSizes) {
    expect_parts(refusal([](const Tensors& x) {
                     return Tensors{reshape(x[0], {x[0].size(0) * x[0].size(1)})};
                 }),
                 {"grid:", "decompose_test.cpp:"});
    expect_parts(refusal([](const Tensors& x) { return Tensors{x[0](range(1, none), all)}; }),
                 {"leaves positions of the grid out"});
}

}  // namespace
}  // namespace firn
