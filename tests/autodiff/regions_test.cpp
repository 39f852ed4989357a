// Gradients through loops and branches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"
#include "tests/autodiff/derivatives_check.h"
#include "tests/host_functions.h"

namespace firn {
namespace {

TEST(Gradients, ThroughLoops) {
    const Tensor x = some({5}), w = some({5}, 0.3f, 0.9f);
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(4)) y = sin(y * a[1]) + 0.1f * cast<float>(k) * a[0];
            return y;
        },
        {x, w});
    // Several values, of which one is a sum, and one is no number of the loss.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], total = sum(a[0]), count = 0;
            for (Tensor k : loop(1, 8, 3)) {
                y = y * a[1] + total;
                total = total + sum(y * y) * 0.1f;
                count = count + k;
            }
            return y * cast<float>(count) + total;
        },
        {x, w}, false);
    // Inside one another, and one that has no iterations.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(3)) {
                for (Tensor j : loop(2)) y = sin(y + a[1] * cast<float>(k + j));
                y = y * a[0];
            }
            for (Tensor k : loop(3, 3)) y = y * y;
            return y;
        },
        {x, w}, false);
    // Neighbours, and stores into a carried value.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(5)) {
                auto [i] = indices<1>(y.shape());
                y = 0.5f * (wrap(y)(i - 1) + y(i + 1)) + y * a[1];
                y(k) = sin(y(k)) * 2.0f;
            }
            return y;
        },
        {x, w}, false);
    // Nothing is kept where the gradient needs no state.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(6)) y = y + a[1] * 0.5f;
            return y;
        },
        {x, w});
}

TEST(Gradients, ThroughLoopsOfAnyLength) {
    SessionScope scope(Session::interpreter());
    const auto f = compile(
        [](Tensor x, Tensor w) {
            Tensor y = x;
            for (Tensor k : loop(x.size(0))) y = sin(y * w) + x;
            return grad(sum(y), w);
        },
        {f32("n"), f32()});
    for (int n : {1, 2, 9}) {
        const std::vector<float> values = numbers(n);
        const float got = Tensor(f(tensor(values), 0.7f)).item<float>();
        const auto loss = [&](double w) {
            double total = 0;
            for (float start : values) {
                double y = start;
                for (int k = 0; k < n; ++k) y = std::sin(y * w) + start;
                total += y;
            }
            return total;
        };
        EXPECT_NEAR(got, (loss(0.7 + 1e-6) - loss(0.7 - 1e-6)) / 2e-6, 1e-3) << n;
    }
}

/// Loops whose bounds are the counters of loops around: sin(x) as often as all of them together
/// run.
struct Triangle {
    const char* name;
    Tensor (*of)(Tensor x);
    int (*iterations)(int n);
};

const Triangle kTriangles[] = {
    {"up to the loop around",
     [](Tensor x) {
         for (Tensor a : loop(1, x.size(0)))
             for (Tensor k : loop(a)) x = sin(x);
         return x;
     },
     [](int n) { return n * (n - 1) / 2; }},
    {"from the loop around on",
     [](Tensor x) {
         for (Tensor a : loop(x.size(0)))
             for (Tensor k : loop(a + 1, x.size(0))) x = sin(x);
         return x;
     },
     [](int n) { return n * (n - 1) / 2; }},
    {"three loops",
     [](Tensor x) {
         for (Tensor a : loop(x.size(0)))
             for (Tensor b : loop(a))
                 for (Tensor k : loop(b, a)) x = sin(x);
         return x;
     },
     [](int n) { return (n + 1) * n * (n - 1) / 6; }},
    {"a multiple",
     [](Tensor x) {
         for (Tensor a : loop(x.size(0)))
             for (Tensor k : loop(a, 3 * a, 2)) x = sin(x);
         return x;
     },
     [](int n) { return n * (n - 1) / 2; }},
    {"a part",
     [](Tensor x) {
         for (Tensor a : loop(x.size(0)))
             for (Tensor k : loop(a / 2 + a % 2)) x = sin(x);
         return x;
     },
     [](int n) { return n / 2 * ((n + 1) / 2); }},
    {"a break",
     [](Tensor x) {
         for (Tensor a : loop(1, x.size(0)))
             for (Tensor k : loop(a)) {
                 if_(k >= 2, [] { break_(); });
                 x = sin(x);
             }
         return x;
     },
     [](int n) { return std::max(2 * n - 3, 0); }},
};

/// States are kept of as many iterations as the call's sizes allow: the memory is theirs, not that
/// of the largest size that a symbol can be.
TEST(Gradients, KeepStatesOfTrianglesForTheSizeOfTheCall) {
    for (const Session& session : {Session::interpreter(cpu_profile()),
                                   Session::interpreter(gpu_profile()), Session::oracle()}) {
        SessionScope scope(session);
        for (const Triangle& triangle : kTriangles) {
            SCOPED_TRACE(triangle.name);
            const auto f =
                compile([&](Tensor x) { return grad(sum(triangle.of(x)), x); }, {f32("n")});
            for (int n : {1, 6, 11}) {
                const std::vector<float> at = numbers(n);
                const std::vector<float> got = flat(f(tensor(at)));
                for (size_t k = 0; k < at.size(); ++k) {
                    double y = at[k], slope = 1;
                    for (int t = triangle.iterations(n); t-- > 0; y = std::sin(y))
                        slope *= std::cos(y);
                    EXPECT_NEAR(got[k], slope, 1e-4) << n;
                }
                // Three tapes of up to 2 n slots, and a page besides.
                if (session.compiles()) {
                    EXPECT_LE(f.stats().peak_bytes, 3 * 4 * n * (2 * n + 2) + 4096) << n;
                }
            }
        }
    }
}

/// Cholesky's decomposition, element by element.
Tensor cholesky_by_hand(const Tensor& a) {
    const Size n = a.size(0);
    Tensor l = zeros({n, n}, a.dtype());
    for (Tensor j : loop(n)) {
        Tensor square = a(j, j);
        for (Tensor k : loop(j)) square = square - l(j, k) * l(j, k);
        const Tensor root = sqrt(square);
        l(j, j) = root;
        for (Tensor i : loop(j + 1, n)) {
            Tensor rest = a(i, j);
            for (Tensor k : loop(j)) rest = rest - l(i, k) * l(j, k);
            l(i, j) = rest / root;
        }
    }
    return l;
}

TEST(Gradients, OfADecompositionByHand) {
    constexpr int n = 4;
    std::vector<double> a(n * n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) a[i * n + j] = (i == j) * 3.0 + 1.0 / (1 + i + j);
    const auto loss = [](Tensor x) {
        const Tensor l = cholesky_by_hand(x);
        return sum(l * l * l);
    };
    for (const Session& session : {Session::interpreter(cpu_profile()),
                                   Session::interpreter(gpu_profile()), Session::oracle()}) {
        SessionScope scope(session);
        const auto value = compile(loss, {f64("n", "n")});
        const auto gradient = compile([&](Tensor x) { return grad(loss(x), x); }, {f64("n", "n")});
        const std::vector<double> got = Tensor(gradient(tensor(a, {n, n}))).to_vector<double>();
        for (size_t k = 0; k < a.size(); ++k) {
            const auto moved = [&](double by) {
                std::vector<double> at = a;
                at[k] += by;
                return Tensor(value(tensor(at, {n, n}))).item<double>();
            };
            EXPECT_NEAR(got[k], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-6) << k;
        }
        if (!session.compiles()) continue;
        EXPECT_LE(gradient.stats().peak_bytes, 1 << 16);
    }
}

TEST(Gradients, ThroughBranches) {
    for (float limit : {-5.0f, 5.0f})
        expect_derivatives(
            [&](const Tensors& a) {
                Tensor y = a[0];
                if_(
                    sum(a[0]) > limit, [&] { y = y * a[1]; }, [&] { y = sin(y); });
                return y;
            },
            {some({5}), some({5}, 0.3f, 0.9f)});
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            if_(a[0] > 0.1f, [&] { y = log(y) * a[1]; });
            return y;
        },
        {some({5}), some({5}, 0.3f, 0.9f)});
}

/// A value that a body reads from outside counts once, though another is computed from it.

TEST(Gradients, OfWhatLoopsAndBranchesReadTwice) {
    const Tensors xs{some({4}), some({4}, 0.3f, 0.9f)};
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], scale = sin(a[1]), both = scale * a[1];
            for (Tensor k : loop(3)) y = tanh(y * both + scale);
            return y;
        },
        xs, false);
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = exp(a[0]), z = sin(y);
            if_(
                sum(a[1]) > 0.0f, [&] { z = z * y; }, [&] { y = z; });
            return y * z;
        },
        xs, false);
}

/// y <- y y + c per element until it is far: each element by its own number of iterations.
Tensor orbit(const Tensor& start, const Tensor& c) {
    Tensor y = start;
    for (Tensor k : loop(6)) {
        y = y * y + c;
        if_(y > 2.0f, [&] { break_(); });
        y = y * cos(0.1f * cast<float>(k));
    }
    return y;
}

TEST(Gradients, ThroughLoopsThatElementsLeaveEarly) {
    const Tensors xs{some({7}, -1.2f, 1.3f), some({7}, -0.4f, 0.9f)};
    expect_derivatives([](const Tensors& a) { return orbit(a[0], a[1]); }, xs, false);
    // Neighbours read elements that have left; some skip the end of an iteration.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor k : loop(5)) {
                auto [i] = indices<1>(y.shape());
                if_((i + k) % 3 == 0, [&] { continue_(); });
                y = 0.6f * (wrap(y)(i - 1) + y(i + 1)) * a[1];
                if_(abs(y) > 0.9f, [&] { break_(); });
                scatter_add(y(i + 1), 0.2f * sin(y));
            }
            return y;
        },
        xs, false);
    // The condition is one for all elements.
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], left = a[0](2);
            while_([&] { return sum(y * y) > 0.3f; },
                   [&] { y = sin(y) * a[1], left = left * mean(y); }, {.max_steps = 9});
            return y * left;
        },
        xs);
    // An element that is no number after it left takes no part.
    SessionScope scope(Session::oracle());
    const Tensor x = tensor({4.0f, 0.25f});
    Tensor y = x;
    while_([&] { return y > 1.0f; }, [&] { y = log(y - 0.5f); }, {.max_steps = 20});
    EXPECT_EQ(grad(sum(y), x).to_vector<float>()[1], 1);
}

TEST(Gradients, ThroughLoopsThatElementsLeaveEarlyByKernels) {
    const auto run = [](const Session& session) {
        SessionScope scope(session);
        const auto f = compile(
            [](Tensor x, Tensor c) {
                return grad(sum(square(orbit(x, c))), {x, c});
            },
            {f32("n"), f32("n")});
        std::vector<float> out;
        for (const Tensor& each :
             std::vector<Tensor>(f(some({300}, -1.2f, 1.3f), some({300}, -0.4f, 0.9f))))
            for (float value : each.to_vector<float>()) out.push_back(value);
        return out;
    };
    const std::vector<float> expected = run(Session::oracle());
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const std::vector<float> got = run(Session::interpreter(profile));
        for (size_t k = 0; k < got.size(); ++k)
            ASSERT_NEAR(got[k], expected[k], 1e-4 * std::max(1.0f, std::abs(expected[k]))) << k;
    }
}

TEST(Gradients, ThroughLoopsThatCountByData) {
    const Tensors xs{some({5}, 0.3f, 1.4f)};
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], most = cast<int>(sum(a[0]));  // 4
            for (Tensor k : loop(1, min(most, 9), 2)) y = sin(y * a[0] + cast<float>(k));
            // The bound of the inner loop follows from the outer one.
            for (Tensor k : loop(3))
                for (Tensor j : loop(k, 2 * k)) y = y * cos(y + cast<float>(j));
            // One that needs no state needs no bound.
            for (Tensor k : loop(most)) y = 1.1f * y + a[0];
            return y;
        },
        xs);
}

/// One state of several is needed, and its recomputation needs others; the body counts for itself,
/// overwrites a value that it reads, and leaves older values alone.
Tensor simulation(const Tensor& start, const Tensor& w, int64_t every) {
    Tensor y = start, before = sin(start), age = zeros(start.shape(), i32), total = sum(start);
    for (Tensor k : loop(2, 19, 2, {.checkpoint = every})) {
        auto [i] = indices<1>(y.shape());
        y = 0.4f * (y(i - 1) + y(k)) * w + 0.1f * cast<float>(age);
        y(k) = y(k % 2) * y(k);
        age = age + select(i < k, 1, 0);
        total = total + before(k);
    }
    return y * total + before * cast<float>(age);
}

TEST(Gradients, FromCheckpointsOfMoreThanIsAskedFor) {
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0], age = 0;
            for (Tensor k : loop(8, {.checkpoint = 3})) {
                y = 0.5f * y * y + 0.2f * cast<float>(age);
                age = (age + 2) % 5;
            }
            return y;
        },
        {some({5})});
}

/// Without LoopOptions::checkpoint, for a loop whose states do not all fit.
TEST(Gradients, ChooseCheckpoints) {
    const auto peak = [](int iterations, int64_t every) {
        SessionScope scope(Session::interpreter());
        const auto f = compile(
            [=](Tensor x) {
                Tensor y = x;
                for (Tensor k : loop(iterations, {.checkpoint = every}))
                    y = wrap(y)(index(y, 0) + 1) * y;
                return grad(sum(y), x);
            },
            {f32(4'096)});
        return double(f.stats().peak_bytes) / (4 * 4'096);  // in states
    };
    EXPECT_GE(peak(100, 0), 100);
    EXPECT_LE(peak(100, 10), 40);
    EXPECT_LE(peak(10'000, 0), 220);
    EXPECT_GE(peak(10'000, 1), 10'000);
}

/// If even the root of the number of iterations is too many: checkpoints between checkpoints.
TEST(Gradients, ChooseLevelsOfCheckpoints) {
    const auto run = [](int most_states) {
        DeviceProfile profile = cpu_profile();
        if (most_states) profile.max_storage_range = static_cast<uint64_t>(most_states) * 1'024 * 4;
        SessionScope scope(Session::interpreter(profile));
        const auto f = compile(
            [](Tensor x) {
                Tensor y = x;
                for (Tensor k : loop(100)) y = wrap(y)(index(y, 0) + 1) + 0.05f * sin(3 * y);
                return grad(sum(y), x);
            },
            {f32(1'024)});
        const auto values = f(some({1'024}, -0.9f, 0.9f)).to_vector<float>();
        return std::pair(values, f.explain());
    };
    const auto keeps = [](const std::string& text, int states) {
        return text.find("Scatter f32[" + std::to_string(states) + ", 1024]") != std::string::npos;
    };
    const auto [all, of_all] = run(0);
    EXPECT_TRUE(keeps(of_all, 101)) << of_all;
    EXPECT_GT(std::abs(all[5]), 1e-6f);
    // The third root of 100 in two levels, the fourth in three.
    for (const auto& [most, first, others] : {std::array{8, 4, 5}, std::array{5, 2, 4}}) {
        const auto [some_kept, text] = run(most);
        EXPECT_TRUE(keeps(text, first) && keeps(text, others) && !keeps(text, 10)) << text;
        ASSERT_EQ(some_kept.size(), all.size());
        for (size_t k = 0; k < all.size(); ++k)
            EXPECT_NEAR(some_kept[k], all[k], 1e-5f * (1 + std::abs(all[k])));
    }
}

/// The printed graph parses back with them.
TEST(Gradients, KeepTheirCheckpointsInTexts) {
    SessionScope scope(Session::oracle());
    const auto f = compile(
        [](Tensor x) {
            for (Tensor k : loop(20, {.checkpoint = 4})) x = sin(x);
            return x;
        },
        {f32(64)});
    const std::string text = print(f.graph());
    EXPECT_NE(text.find(" checkpoint=4"), std::string::npos) << text;
    NodeTable table;
    EXPECT_EQ(print(parse(table, text)), text);
}

/// explain() says which states are kept: every fourth, and four between.
TEST(Gradients, SayWhichStatesTheyKeep) {
    SessionScope scope(Session::interpreter());
    const auto f = compile(
        [](Tensor x) {
            Tensor y = x;
            for (Tensor k : loop(20, {.checkpoint = 4})) y = wrap(y)(index(y, 0) + 1) * y;
            return grad(sum(y), x);
        },
        {f32(64)});
    const std::string text = f.explain();
    EXPECT_NE(text.find("states-of-iterations  Scatter f32[5, 64]"), std::string::npos) << text;
    EXPECT_NE(text.find("states-of-iterations  Scatter f32[5, 64]"), std::string::npos) << text;
}

/// Results of long sums that the backward iterations need are kept, if all iterations keep their
/// states; no more than there is room for, and no sum that is the same in all of them.
TEST(Gradients, LoopsKeepWhatTheirProductsGave) {
    const auto explained = [](int64_t room, int64_t checkpoint) {
        DeviceProfile profile = cpu_profile();
        profile.max_storage_range = static_cast<uint64_t>(room);
        SessionScope scope(Session::interpreter(profile));
        const auto f = compile(
            [=](const Tensors& a) {
                Tensor x = a[0];
                for (Tensor k : loop(5, {.checkpoint = checkpoint})) {
                    const Tensor inside = matmul(x, a[1]), same = matmul(a[0], a[1]);
                    x = x + 0.1f * matmul(max(inside, 0.0f) * sin(same), a[1].T());
                }
                return grad(sum(x), a[1]);
            },
            {f32(48, 32), f32(32, 64)});
        return f.explain();
    };
    const std::string kept = "states-of-iterations  Scatter f32[5, 48, 64]";
    const auto count = [&](const std::string& text) {
        size_t found = 0;
        for (size_t at = 0; (at = text.find(kept, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    const int64_t bytes = 5 * 48 * 64 * 4;
    EXPECT_EQ(count(explained(1 << 27, 0)), 1u);
    EXPECT_EQ(count(explained(bytes, 0)), 1u);
    EXPECT_EQ(count(explained(bytes - 4, 0)), 0u);
    EXPECT_EQ(count(explained(1 << 27, 2)), 0u);
}

TEST(Gradients, OfLoopsThatKeepWhatTheirProductsGave) {
    expect_derivatives(
        [](const Tensors& a) {
            Tensor x = a[0];
            for (Tensor k : loop(3)) {
                const Tensor inside = matmul(x, a[1]);
                x = x + 0.1f * sin(inside) * sum(square(inside), {.axis = 1, .keep_dims = true});
            }
            return x;
        },
        {some({3, 17}), some({17, 17}, -0.3f, 0.3f)}, false);
}

/// Carried values of kernels live only in the tape, also those behind the last iteration, even
/// without any. Slots begin at whole vectors, and at none.
/// A sum in a loop within a loop has a value for each iteration of the inner one: the outer one
/// keeps none of them.
TEST(Gradients, OfLongSumsInLoopsWithinLoops) {
    expect_derivatives(
        [](const Tensors& a) {
            Tensor y = a[0];
            for (Tensor i : loop(2)) {
                Tensor z = y;
                for (Tensor j : loop(3))
                    z = tanh(0.1f * z + 0.3f * sum(sin(z - cast<float>(i))) / 16.0f);
                y = z * z + 0.2f * a[0];
            }
            return y;
        },
        {some({16})}, false);
}

TEST(Gradients, OfKernelsThatCarryTheirStateInATape) {
    const auto run = [](Session session, int64_t size, int trips, std::string* text) {
        SessionScope scope(std::move(session));
        const auto f = compile(
            [](Tensor x, Tensor n) {
                Tensor u = x, v = cos(x);
                for (Tensor k : loop(min(n, 7))) {
                    v = 0.5f * v + wrap(u)(index(u, 0) - 1) * u;
                    u = 0.3f * u + sin(wrap(v)(index(v, 0) + 1)) * cast<float>(k + 1);
                }
                return Tensors{u, v, grad(sum(u * v * v), x)};
            },
            {f32(size), i32()});
        std::vector<float> out;
        for (const Tensor& y : f(some({size}), trips))
            for (float value : y.to_vector<float>()) out.push_back(value);
        if (text) *text = f.explain();
        return out;
    };
    for (int64_t size : {8, 6})
        for (int trips : {0, 1, 2, 7, 9}) {
            const auto expected = run(Session::oracle(), size, trips, nullptr);
            for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
                std::string text;
                // An error of one unit in a sine grows a thousandfold in these iterations.
                const auto values = run(with_host_functions(profile), size, trips, &text);
                // The values behind the last iteration are read from the tape; a single one is no
                // loop.
                EXPECT_EQ(text.find("materialised: result  Gather") != std::string::npos,
                          size == 8 && trips != 1)
                    << trips << text;
                ASSERT_EQ(values.size(), expected.size());
                for (size_t k = 0; k < values.size(); ++k)
                    EXPECT_NEAR(values[k], expected[k], 1e-4f * (1 + std::abs(expected[k])))
                        << trips << " iterations, value " << k;
            }
        }
}

TEST(Gradients, FromCheckpoints) {
    const Tensors xs{some({6}), some({6}, 0.5f, 1.2f)};
    for (int64_t every : {1, 2, 3, 4, 9, 50})
        expect_derivatives([&](const Tensors& a) { return simulation(a[0], a[1], every); }, xs,
                           every == 4);
    for (int64_t every : {2, 5})
        expect_derivatives(
            [&](const Tensors& a) {
                Tensor y = a[0];
                for (Tensor k : loop(7, {.checkpoint = every})) {
                    if_(y > 0.8f, [&] { break_(); });
                    for (Tensor j : loop(3, {.checkpoint = 2})) y = y + 0.3f * sin(y * a[1]);
                }
                return y;
            },
            xs, false);
}

}  // namespace
}  // namespace firn
