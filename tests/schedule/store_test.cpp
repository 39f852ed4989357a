// Stores at computed indices: by the device's own atomics if it has them.
#include <gtest/gtest.h>

#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

std::string glsl_of_sums(DeviceProfile profile, bool adds, DType dtype = f32) {
    profile.float_atomic_add = adds;
    auto sums = [&](const Tensors& a) {
        Tensor out = zeros({64}, dtype);
        scatter_add(out(a[0]), a[1]);
        return Tensors{out};
    };
    std::string all;
    const auto program = program_for(profile, sums, {i32("n"), f32("n")});
    for (const KernelInfo& kernel : program->kernels) all += kernel.artefact.text;
    return all;
}

TEST(Stores, FloatsAddByTheDevicesOwnOperationWhereItHasOne) {
    const std::string text = glsl_of_sums(gpu_profile(), true);
    EXPECT_NE(text.find("atomicAdd"), std::string::npos);
    EXPECT_NE(text.find("GL_EXT_shader_atomic_float"), std::string::npos);
}

TEST(Stores, FloatsAddByCompareAndExchangeElsewhere) {
    const std::string text = glsl_of_sums(gpu_profile(), false);
    EXPECT_NE(text.find("atomicCompSwap"), std::string::npos);
    EXPECT_EQ(text.find("GL_EXT_shader_atomic_float"), std::string::npos);
}

TEST(Stores, IntegersNeedNoExtension) {
    const std::string text = glsl_of_sums(cpu_profile(), true, i32);
    EXPECT_NE(text.find("atomicAdd"), std::string::npos);
    EXPECT_EQ(text.find("GL_EXT_shader_atomic_float"), std::string::npos);
}

TEST(Stores, APromiseSavesTheOwnerPass) {
    auto with = [](bool unique) {
        return [unique](const Tensors& a) {
            Tensor out = zeros({64});
            store(out(a[0]), a[1], {.unique = unique});
            return Tensors{out};
        };
    };
    const SizeEnv env{{"n", 100}};
    EXPECT_EQ(stats(*program_for(cpu_profile(), with(true), {i32("n"), f32("n")}), env).dispatches,
              2);
    EXPECT_EQ(stats(*program_for(cpu_profile(), with(false), {i32("n"), f32("n")}), env).dispatches,
              3);
}

TEST(Stores, OneValueNeedsNoOwner) {
    auto mark = [](const Tensors& a) {
        Tensor out = zeros({64});
        out(a[0]) = 1.0f;
        return Tensors{out};
    };
    EXPECT_EQ(stats(*program_for(cpu_profile(), mark, {i32("n")}), {{"n", 100}}).dispatches, 2);
}

int64_t dispatches(Tensors (*f)(const Tensors&), const std::vector<ArgSpec>& specs) {
    return stats(*program_for(cpu_profile(), f, specs), {{"n", 4096}}).dispatches;
}

TEST(Stores, OneKernelStoresByPositionAndComputesAtTheSamePositions) {
    const auto both = [](const Tensors& a) {
        Tensor out = a[2];
        store(out(a[0]), a[1], {.unique = true});
        return Tensors{out, sqrt(a[1])};
    };
    EXPECT_EQ(dispatches(both, {i32("n"), f32("n"), f32("n")}), 1);  // behind a copy
}

TEST(Stores, WhatIsStoredMayBeAResultOfTheSameKernel) {
    const auto both = [](const Tensors& a) {
        Tensor out = a[2];
        const Tensor root = sqrt(a[1]);
        store(out(a[0]), root + 1.0f, {.unique = true});
        return Tensors{out, root};
    };
    EXPECT_EQ(dispatches(both, {i32("n"), f32("n"), f32("n")}), 1);  // behind a copy
}

/// The tensor before the store is computed before: it reads no result of the store's kernel that
/// does not exist yet.
TEST(Stores, WhatATensorBeginsAsIsThereBeforeTheStoresKernel) {
    const auto run = [](Session session) {
        SessionScope scope(std::move(session));
        const auto f = compile(
            [](Tensor at, Tensor x) {
                const Tensor root = sqrt(x);
                Tensor out = root * 2.0f;
                store(out(at), root + 1.0f, {.unique = true});
                return std::tuple{out, root};
            },
            {i32(20), f32(20)});
        const auto [out, root] = f(arange(20) * 7 % 23, cast<float>(arange(20) * arange(20)));
        return out.to_vector<float>();
    };
    EXPECT_EQ(run(Session::interpreter(cpu_profile())), run(Session::oracle()));
}

TEST(Stores, WhatReadsAVersionComesBehindIt) {
    const auto then = [](const Tensors& a) {
        Tensor out = a[2];
        store(out(a[0]), a[1], {.unique = true});
        return Tensors{out, sqrt(out)};
    };
    EXPECT_EQ(dispatches(then, {i32("n"), f32("n"), f32("n")}), 2);
}

TEST(Stores, AVersionComesBehindWhatItStartsAs) {
    const auto before = [](const Tensors& a) {
        Tensor out = sqrt(a[2]), first = out;
        store(out(a[0]), a[1], {.unique = true});
        return Tensors{first, out};
    };
    EXPECT_EQ(dispatches(before, {i32("n"), f32("n"), f32("n")}), 2);
}

TEST(Stores, TheStateThatAGradientKeepsLeavesTheKernelOfTheNext) {
    const auto gradient = [](const Tensors& a) {
        Tensor u = a[0];
        for (Tensor iteration : loop(100)) u += 0.1f * (wrap(u)(index(u, 0) - 1) * u);
        return Tensors{grad(sum(u), a[0])};
    };
    const int64_t around = 4;  // what begins, and the loss
    EXPECT_LE(dispatches(gradient, {f32("n")}), 2 * 100 + around);
}

/// Every iteration keeps its states at a place of its own: no condition is needed, and no old value
/// is copied.
TEST(Stores, StatesAreKeptInWholeBlocks) {
    const auto gradient = [](const Tensors& a) {
        Tensor u = a[0], v = a[1];
        for (Tensor iteration : loop(100)) {
            const Tensor to_u = 0.1f * (wrap(u)(index(u, 0) - 1) * v);
            v = v * u;
            u = u + to_u;
        }
        return Tensors{grad(sum(u * v), a[0])};
    };
    const auto program = program_for(cpu_profile(), gradient, {f32(65536), f32(65536)});
    for (const KernelInfo& kernel : program->kernels) {
        if (kernel.artefact.text.find("uniform Params") == std::string::npos) continue;
        EXPECT_EQ(kernel.artefact.text.find("if ("), std::string::npos) << kernel.artefact.text;
    }
    const int64_t tapes = 2 * 100, others = 12;  // states of 65536 elements
    EXPECT_LE(stats(*program, {}).peak_bytes, (tapes + others) * 65536 * 4);
    // A kernel that keeps a state counts as one that writes a state.
    EXPECT_LE(stats(*program, {}).bytes_written, (6 * 100 + others) * 65536 * 4);
}

/// An iteration's result is stored into the tape, and nowhere else.
TEST(Stores, AStateThatIsKeptIsStoredOnce) {
    const auto gradient = [](const Tensors& a) {
        Tensor u = a[0];
        for (Tensor iteration : loop(100)) u += 0.1f * (wrap(u)(index(u, 0) - 1) * u);
        return Tensors{grad(sum(u), a[0])};
    };
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = program_for(profile, gradient, {f32(65536)});
        const int64_t others = 8;  // the initial value, the loss and the results
        EXPECT_LE(stats(*program, {}).bytes_written, (2 * 100 + others) * 65536 * 4);
        EXPECT_LE(stats(*program, {}).peak_bytes, (101 + others) * 65536 * 4);
    }
}

/// A row is stored in place, unless the iteration reads old elements of that row.
TEST(Stores, ARowIsStoredInPlaceWhereAnIterationReadsOthers) {
    const auto run = [](Session session, int other) {
        SessionScope scope(std::move(session));
        const auto f = compile(
            [other](Tensor t) {
                const Tensor j = arange(64);
                for (Tensor k : loop(8)) {
                    const Tensor before = zero(t)(k + other, j - 1);
                    t(k + 1, j) = 0.5f * zero(t)(k, j - 1) + before;
                }
                return t;
            },
            {f32(10, 64)});
        std::vector<float> values(640);
        for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k % 17) - 8;
        const auto out = f(tensor(values, {10, 64})).to_vector<float>();
        return std::pair(out, f.stats().peak_bytes);
    };
    std::vector<int64_t> copies;
    for (int other : {1, 2}) {
        const auto [values, bytes] = run(Session::interpreter(cpu_profile()), other);
        EXPECT_EQ(values, run(Session::oracle(), other).first) << other;
        copies.push_back(bytes);
    }
    EXPECT_EQ(copies, (std::vector<int64_t>{10 * 64 * 4, 0}));
}

/// Neighbours with one condition are stored together behind it.
TEST(Stores, WholeBlocksAreStoredBehindOneCondition) {
    const auto row = [](const Tensors& a) {
        Tensor out = a[1];
        store(out(a[2], index(a[0], 0)), a[0] * 2.0f, {.unique = true});
        return Tensors{out};
    };
    const auto program = program_for(cpu_profile(), row, {f32(4096), f32(64, 4096), i32()});
    ASSERT_EQ(program->kernels.size(), 1u);
    const std::string& text = program->kernels[0].artefact.text;
    const size_t branch = text.find("if (");
    ASSERT_NE(branch, std::string::npos) << text;
    EXPECT_NE(text.find(" = vec4(", branch), std::string::npos) << text;
}

TEST(Stores, ARowAtAnyPlaceNeedsNoOwner) {
    const auto rows = [](const Tensors& a) {
        Tensor out = zeros({50, 4096}), x = a[0];
        for (Tensor iteration : loop(50)) {
            x = wrap(x)(index(x, 0) + 1) * 0.5f;
            out(iteration * 3 % 50) = x;
        }
        return Tensors{out};
    };
    const auto all = program_for(cpu_profile(), rows, {f32(4096)});
    for (const KernelInfo& kernel : all->kernels)
        EXPECT_EQ(kernel.artefact.text.find("atomicMax"), std::string::npos)
            << kernel.artefact.text;
    EXPECT_LE(stats(*all, {}).dispatches, 2 * 50 + 2);
}

/// Springs between neighbours so far apart, each a store at both ends.
Tensor springs(const Tensor& x, int reach) {
    Tensor force = zeros(x.shape());
    for (int k = 1; k <= reach; ++k) {
        const IndexRange head = range(none, -k), tail = range(k, none);
        const Tensor pull = sqrt(abs(x(tail) - x(head)));
        force(head) += pull;
        force(tail) -= pull;
    }
    return force;
}

// A store's read of its own element uses that element's index, and not the index that was clamped
// for its value: each of a chain of stores reads the old value once, not twice.
TEST(Stores, AChainOfStoresGrowsWithItsLength) {
    const auto text_of = [](int reach) {
        const auto f = [=](const Tensors& a) { return Tensors{springs(a[0], reach)}; };
        const auto program = program_for(cpu_profile(), f, {f32(4096)});
        size_t all = 0;
        for (const KernelInfo& kernel : program->kernels) all += kernel.artefact.text.size();
        return all;
    };
    EXPECT_LT(text_of(4), 4 * text_of(1));
    EXPECT_LT(text_of(8), 8 * text_of(1));
}

template <class F>
void expect_stores_of_the_oracle(F function) {
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        return function().template to_vector<float>();
    };
    EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
}

TEST(Stores, AChainOfStoresLeavesWhatItShould) {
    expect_stores_of_the_oracle([] { return springs(rand({37}, {.seed = 2}), 6); });
}

// The last element of the slice is read behind its end too, by an index that is kept inside like
// that of the store: there it is the slice's own, not the element beside it.
TEST(Stores, WhatIsReadBesideAStoreKeepsItsIndex) {
    const auto beside = [](bool first) {
        Tensor x = arange(8).as(f32) * 10.0f;
        const Tensor slice = x(range(none, -3)), read = slice(arange(8));
        if (first) x += read;
        x(range(none, -3)) = slice * 2.0f + 1.0f;
        return first ? x : x + read;
    };
    expect_stores_of_the_oracle([&] { return beside(true); });
    expect_stores_of_the_oracle([&] { return beside(false); });
    expect_stores_of_the_oracle([] {
        Tensor x = arange(8).as(f32), grown = x(range(none, -3));
        for (Tensor iteration : loop(50)) grown = grown * 1.5f - iteration.as(f32);
        x(range(none, -3)) = grown;
        return x + grown(arange(8));
    });
    expect_stores_of_the_oracle([] {
        Tensor x = arange(8).as(f32), row = reshape(x, {1, 8}) * tensor({1.0f, 3.0f}, {2, 1});
        const Tensor part = row(all, range(1, -2)), sums = cumsum(part, {.axis = 1});
        row(all, range(1, -2)) = part + sums;
        row(all, range(2, -1)) += row(all, range(2, -1)) * 0.5f;
        return row + sums(all, arange(8)) + part(all, arange(8));
    });
}

/// Writes a few elements of a tensor of which each element needs the sum of its column: by a store,
/// by stores that combine, or by a kernel.
template <class Write>
std::string verdict_of_column_sums(Write write) {
    const auto f = [&](const Tensors& a) {
        Tensor y = a[0] / sum(exp(a[0]), {.axis = 0});
        write(y, a[1]);
        return Tensors{y};
    };
    return verdict_of(*program_for(cpu_profile(), f, {f32(192, 256), i32(3)}), "Reduce f32[256]");
}

// A kernel of its own computes the tensor that a store begins with, at all elements.
TEST(Stores, WhatAStoreBeginsWithIsJudgedByAllItsElements) {
    const auto expect = [](auto write) {
        EXPECT_EQ(verdict_of_column_sums(write), "materialised: dearer-recomputed");
    };
    expect([](Tensor& y, const Tensor& at) { y(at(0), at(1)) = 2.0f; });
    expect([](Tensor& y, const Tensor& at) { scatter_add(y(at, at), 2.0f); });
    expect([](Tensor& y, const Tensor& at) { kernel({3}, [&](Tensor i) { y(at(i), i) = 2.0f; }); });
}

// Few elements are stored to at many positions: what each begins with is computed once.
TEST(Stores, WhatAStoreBeginsWithIsNotJudgedByItsPositions) {
    const auto f = [](const Tensors& a) {
        Tensor y = exp(a[0]) * tanh(a[0]);
        scatter_add(y(a[1]), 1.0f);
        return Tensors{y};
    };
    const auto program = program_for(cpu_profile(), f, {f32(64), i32(1 << 20)});
    EXPECT_EQ(verdict_of(*program, "Mul f32[64]"), "inlined: asked-once");
}

}  // namespace
}  // namespace firn
