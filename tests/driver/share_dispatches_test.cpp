// Equal kernels of a list share dispatches: which, the places of their tensors, and their results.
#include "compiler/plan/share_dispatches.h"

#include <gtest/gtest.h>

#include <map>

#include "compiler/language.h"
#include "compiler/program/walk_steps.h"
#include "tests/mapping/listed_steps.h"

namespace firn {
namespace {

using test::names, test::steps;

constexpr int kBuffers = 24;

/// A placed kernel that copies its input. Those of one `factor` are equal.
ListedKernel listed(const std::string& name, int from, int to, int factor = 1) {
    static std::map<int, std::shared_ptr<const KernelInfo>> emitted;
    ListedKernel out;
    out.code = parse_kernel(
        "kernel\n  group_size 100 1 1\n  groups 1; 1; 1\n  placed\n"
        "  b0 f32[100] storage of " +
        std::to_string(from) + "\n  b1 f32[100] storage written of " + std::to_string(to) +
        "\n  l0 invocation < 100\n{\n  %1 = Load f32 b0 l0\n  %2 = Mul f32 %1 " +
        std::to_string(factor) + ".0\n  ! %3 = Store f32 b1 l0 %2\n}\n");
    out.lines = {name};
    out.work = {Size(100), Size(400), Size(400)};
    auto& info = emitted[factor];
    if (!info) info = std::make_shared<KernelInfo>();
    out.emitted = info;
    return out;
}

KernelList list_of(std::vector<ListedStep> steps) {
    KernelList list{std::make_shared<Program>(), std::move(steps)};
    for (int k = 0; k < kBuffers; ++k)
        list.program->buffers.push_back(
            {"t" + std::to_string(k), f32, Size(100), {}, BufferRole::Temporary, {}});
    list.program->buffers[0].role = BufferRole::Argument;
    list.program->buffers[kBuffers - 1].role = BufferRole::Argument;
    return list;
}

KernelList shared(KernelList list, const DeviceProfile& profile = cpu_profile()) {
    share_dispatches(list, {profile, {}, {}});
    return list;
}
std::string after(std::vector<ListedStep> steps, const DeviceProfile& profile = cpu_profile()) {
    return names(shared(list_of(std::move(steps)), profile).steps);
}

const KernelCode& code_of(const KernelList& list, size_t step) {
    return std::get<ListedKernel>(list.steps.at(step).step).code;
}
std::vector<int> buffers_of(const KernelCode& code) {
    std::vector<int> out;
    for (const KernelBuffer& b : code.buffers) out.push_back(b.buffer);
    return out;
}

TEST(ShareDispatches, EqualKernelsThatDoNotNeedEachOtherBecomeOne) {
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", 0, 2), listed("c", 0, 3))), "a b c");
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", 1, 2), listed("c", 2, 3))), "a; b; c");
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", 0, 2, 2))), "a; b") << "are not equal";
}

TEST(ShareDispatches, RowsOfKernelsAreOneRow) {
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("p", 1, 2, 2), listed("b", 0, 3),
                          listed("q", 3, 4, 2))),
              "a b; p q");
}

TEST(ShareDispatches, WhatTheSecondNeedsComesBeforeTheFirst) {
    const ListedKernel a = listed("a", 4, 1), b = listed("b", 2, 3);
    EXPECT_EQ(after(steps(a, listed("p", 0, 2, 2), b)), "p; a b");
    EXPECT_EQ(after(steps(a, listed("p", 1, 2, 2), b)), "a; p; b") << "which needs the first";
    EXPECT_EQ(after(steps(a, listed("p", 0, 5, 2), b)), "a b; p") << "which no later step needs";
}

TEST(ShareDispatches, NoneCrossesACopyALoopOrASizeThatNeedsIt) {
    const ListedKernel a = listed("a", 4, 1), b = listed("b", 4, 2);
    EXPECT_EQ(after(steps(a, CopyStep{5, 6}, b)), "a b; copy");
    EXPECT_EQ(after(steps(a, CopyStep{5, 4}, b)), "a; copy; b");
    EXPECT_EQ(after(steps(a, ListedLoop{{}, steps(listed("l", 5, 6, 2))}, b)), "a b; (l)");
    EXPECT_EQ(after(steps(a, ListedLoop{{}, steps(listed("l", 5, 4, 2))}, b)), "a; (l); b");
    EXPECT_EQ(after(steps(a, ListedSize{"n", 7}, b)), "a; size; b");
}

TEST(ShareDispatches, KernelsOfALoopShareItsDispatches) {
    EXPECT_EQ(after(steps(ListedLoop{{}, steps(listed("a", 0, 1), listed("b", 0, 2))})), "(a b)");
}

TEST(ShareDispatches, TensorsThatOthersNameStayWhereTheyAre) {
    const int argument = kBuffers - 1;
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", argument, 2))), "a; b");
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", 0, 2), CopyStep{1, 3})), "a; b; copy");
    ListedLoop rotates{{}, steps(listed("a", 0, 1), listed("b", 0, 2))};
    rotates.loop.rotation = {{1, 2}, {2, 1}};
    EXPECT_EQ(after(steps(rotates)), "(a; b)");
}

/// Predicted to take 800 bytes' time: a tenth of that is less than a launch's share.
TEST(ShareDispatches, LongKernelsKeepTheirDispatches) {
    DeviceProfile profile = cpu_profile();
    profile.bytes_per_second = 800 / profile.seconds_per_launch / 7;
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", 0, 2)), profile), "a b");
    profile.bytes_per_second = 800 / profile.seconds_per_launch / 9;
    EXPECT_EQ(after(steps(listed("a", 0, 1), listed("b", 0, 2)), profile), "a; b");
}

TEST(ShareDispatches, NoMoreShareOneThanTheCacheHolds) {
    DeviceProfile profile = cpu_profile();
    profile.cache_bytes = 2 * 800;
    const auto three = steps(listed("a", 0, 1), listed("b", 0, 2), listed("c", 0, 3));
    EXPECT_EQ(after(three, profile), "a b; c");
    profile.cache_bytes = 799;
    EXPECT_EQ(after(three, profile), "a; b; c");
}

TEST(ShareDispatches, OfManySixteenShareOne) {
    std::vector<ListedStep> many;
    for (int k = 1; k <= 17; ++k) many.push_back({listed(std::to_string(k), 0, k)});
    const KernelList list = shared(list_of(std::move(many)));
    ASSERT_EQ(list.steps.size(), 2u);
    EXPECT_EQ(code_of(list, 0).groups[2], Size(16));
    EXPECT_EQ(code_of(list, 1).groups[2], Size(1));
}

/// Two that fill the parts of one tensor wait for one another: that is a launch's worth.
TEST(ShareDispatches, NothingIsSharedForAsManyBarriers) {
    const ListedKernel one = listed("p", 0, 1, 2), other = listed("q", 0, 2, 3);
    EXPECT_EQ(after(steps(one, other, listed("a", 1, 3), listed("b", 2, 4))), "p; q; a; b");
    EXPECT_EQ(after(steps(one, other, listed("a", 1, 3), listed("b", 2, 4), listed("c", 3, 5, 4),
                          listed("d", 4, 6, 4))),
              "p; q; a b; c d");
}

TEST(ShareDispatches, PartsBeginAtWholeLinesAndEachCopyHasItsOwn) {
    const KernelList list =
        shared(list_of(steps(listed("a", 0, 1), listed("b", 0, 2), listed("r", 2, 3, 2))));
    const BufferInfo& whole = list.program->buffers.at(kBuffers);
    EXPECT_EQ(whole.elements, Size(256));
    EXPECT_EQ(buffers_of(code_of(list, 0)), (std::vector<int>{0, kBuffers}));
    EXPECT_EQ(code_of(list, 0).groups[2], Size(2));
    const std::string text = print(code_of(list, 1));
    EXPECT_NE(text.find("Add i32 l0 128"), std::string::npos) << text;
    EXPECT_EQ(buffers_of(code_of(list, 1)), (std::vector<int>{kBuffers, 3}));
}

TEST(ShareDispatches, WorkIsThatOfAllAndNoneCanBeMappedAgain) {
    ListedKernel a = listed("a", 0, 1), b = listed("b", 0, 2);
    a.ready = b.ready = std::make_shared<KernelCode>(a.code);
    const KernelList list = shared(list_of(steps(a, b)));
    const auto& made = std::get<ListedKernel>(list.steps.at(0).step);
    EXPECT_EQ(made.work.bytes_read, Size(800));
    EXPECT_EQ(made.ready, nullptr);
    EXPECT_EQ(made.emitted, nullptr);
}

/// Equal kernels that are not run together stay equal.
TEST(ShareDispatches, WhatIsAlikeFindsItsPartByAParameter) {
    const int argument = kBuffers - 1;
    ListedKernel first = listed("p", 0, 1, 2), second = listed("q", argument, 2, 2);
    const KernelList list =
        shared(list_of(steps(first, second, listed("a", 1, 3), listed("b", 2, 4),
                             listed("c", 3, 5, 4), listed("d", 4, 6, 4))));
    ASSERT_EQ(names(list.steps), "p; q; a b; c d");
    EXPECT_EQ(code_of(list, 0).params.at(0).size, Size(0));
    EXPECT_EQ(code_of(list, 1).params.at(0).size, Size(128));
}

TEST(ShareDispatches, OfSymbolicSizesPartsBeginWhereParametersSay) {
    KernelList list = list_of(steps(listed("a", 0, 1), listed("b", 0, 2)));
    const Size n = Size::symbol("n");
    for (BufferInfo& buffer : list.program->buffers) buffer.elements = n;
    SymbolFacts facts;
    const DeviceProfile profile = cpu_profile();
    KernelList unbounded = list;
    facts.largest["n"] = INT32_MAX;
    share_dispatches(unbounded, {profile, facts, {}});
    EXPECT_EQ(names(unbounded.steps), "a; b") << "two may be more than a binding takes";
    facts.largest["n"] = 100;
    share_dispatches(list, {profile, facts, {}});
    ASSERT_EQ(names(list.steps), "a b");
    EXPECT_EQ(code_of(list, 0).params.at(0).size, ceil_div(n, Size(64)) * Size(64));
}

// --- Whole programs.

using Tensors = std::vector<Tensor>;
using Recorded = Tensors (*)(const Tensors&);

int64_t dispatches(const Program& program, const SizeEnv& env) {
    int64_t out = 0;
    for (const FlatStep& step : flatten(program, env).steps) out += step.dispatch != nullptr;
    return out;
}

std::vector<std::vector<float>> values(Recorded f, const std::vector<ArgSpec>& specs, int64_t n,
                                       const Session& session) {
    SessionScope scope(session);
    const auto compiled = compile([&](const Tensors& a) { return f(a); }, specs);
    std::vector<Arg> args;
    for (size_t k = 0; k < specs.size(); ++k)
        args.push_back(rand({n, n}, {.seed = static_cast<int64_t>(k + 1)}));
    std::vector<std::vector<float>> out;
    for (const Tensor& result : compiled.call(args)) out.push_back(result.to_vector<float>());
    return out;
}

void expect_values_of_oracle(Recorded f, const std::vector<ArgSpec>& specs, int64_t n) {
    const auto got = values(f, specs, n, Session::interpreter(cpu_profile())),
               expected = values(f, specs, n, Session::oracle());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t r = 0; r < got.size(); ++r) {
        ASSERT_EQ(got[r].size(), expected[r].size());
        for (size_t k = 0; k < got[r].size(); ++k)
            EXPECT_NEAR(got[r][k], expected[r][k], 1e-3f) << r << " " << k;
    }
}

int64_t dispatches_of(Recorded f, const std::vector<ArgSpec>& specs, const SizeEnv& env = {}) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    return dispatches(*compile([&](const Tensors& a) { return f(a); }, specs).program(), env);
}

Tensors one_transform(const Tensors& a) { return {ifftn(Complex{a[0], a[0] * 2.0f}).re + 1.0f}; }
Tensors three_transforms(const Tensors& a) {
    const Tensor& x = a[0];
    return {ifftn(Complex{x, x * 2.0f}).re * ifftn(Complex{x * 2.0f, x}).re +
            ifftn(Complex{x * x, x}).re};
}

/// As many as one, except for the first passes, which read their inputs in different ways.
TEST(SharedDispatches, TransformsOfSeveralFieldsAreLaunchedAsThoseOfOne) {
    const std::vector<ArgSpec> specs{f32(32, 32)};
    EXPECT_LE(dispatches_of(three_transforms, specs), dispatches_of(one_transform, specs) + 2);
    expect_values_of_oracle(three_transforms, specs, 32);
}

/// Twice three equal kernels that each read two of three tensors.
Tensors irregular(const Tensors& a) {
    const auto scaled = [](const Tensor& x, float by) {
        Tensor out = zeros(x.shape());
        kernel(x.shape(), [&](const Tensor& i, const Tensor& j) { out(i, j) = by * x(i, j); });
        return out;
    };
    const auto mixed = [](const Tensor& x, const Tensor& y) {
        Tensor out = zeros(x.shape());
        kernel(x.shape(), [&](const Tensor& i, const Tensor& j) {
            out(i, j) = x(i, x.size(1) - 1 - j) - 3.0f * y(x.size(0) - 1 - i, j);
        });
        return out;
    };
    const Tensor x = scaled(a[0], 2.0f), y = scaled(a[0], 3.0f), z = scaled(a[0], 5.0f);
    const Tensor u = mixed(x, y), v = mixed(z, x), w = mixed(y, z);
    return {mixed(u, v) + 2.0f * mixed(w, u) + 4.0f * mixed(v, w)};
}

TEST(SharedDispatches, CopiesMayHaveTheSamePartsInAnyOrder) {
    expect_values_of_oracle(irregular, {f32(32, 32)}, 32);
    EXPECT_EQ(dispatches_of(irregular, {f32(32, 32)}), 1) << "one group takes them all";
    EXPECT_EQ(dispatches_of(irregular, {f32(256, 256)}), 3 + 1 + 1 + 1);
}

}  // namespace
}  // namespace firn
