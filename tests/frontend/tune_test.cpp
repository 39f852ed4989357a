// Tuning: mappings that are tried, dropped, kept and found again.
#include "compiler/driver/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/frontend/record.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/language.h"
#include "compiler/mapping/mapping.h"

namespace firn {
namespace {

// The cache is off, so that no other test finds these results.
[[maybe_unused]] const int kNoCache = setenv("FIRN_NO_CACHE", "1", 1);

/// Small whole numbers, so that sums are exact in any order.
Tensor numbers(const Shape& shape) {
    Tensor flat = arange(element_count(shape).constant());
    return reshape(cast<float>(flat * 7 % 11 - 5), shape);
}

struct Program_ {
    const char* name;
    Tensor (*function)(Tensor, Tensor);
    Shape first, second;
};
const Program_ kTunedPrograms[] = {
    {"product", [](Tensor a, Tensor b) { return matmul(a, b); }, {16, 24}, {24, 8}},
    {"product_of_transposed",
     [](Tensor a, Tensor b) { return matmul(a, transpose(b)); },
     {16, 24},
     {8, 24}},
    {"sums", [](Tensor a, Tensor b) { return sum(a, {.axis = 0}) + sum(b); }, {40, 24}, {9}},
    {"stencil",
     [](Tensor a, Tensor b) {
         auto [i, j] = indices<2>(a.shape());
         return zero(a)(i - 1, j) + a(i, j + 1) * b(0);
     },
     {13, 12},
     {1}},
    {"places",
     [](Tensor a, Tensor b) {
         Tensor out = zeros({7}, i32);
         scatter_add(out(cast<int>(abs(a)) % 7), cast<int>(b(0)));
         return cast<float>(out);
     },
     {50},
     {3}},
};

class Tuned : public ::testing::TestWithParam<Program_> {};
INSTANTIATE_TEST_SUITE_P(Programs, Tuned, ::testing::ValuesIn(kTunedPrograms),
                         [](const auto& info) { return std::string(info.param.name); });

auto compiled(const Program_& program) {
    auto spec = [](const Shape& shape) { return ArgSpec{f32, shape}; };
    return compile([&](Tensor a, Tensor b) { return program.function(a, b); },
                   {spec(program.first), spec(program.second)});
}

TEST_P(Tuned, EveryMappingThatIsTriedKeepsTheResults) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch =
        1e-9;  // so that no kernel is part of a sequence, which has no mapping of its own
    SessionScope scope(Session::interpreter(profile));
    auto f = compiled(GetParam());
    Tensor a = numbers(GetParam().first), b = numbers(GetParam().second);
    const std::vector<float> before = f(a, b).to_vector<float>();
    const TuneReport report =
        f.tune({a, b}, {.seconds = 5, .progress = [](const TuneProgress&) { return true; }});
    ASSERT_FALSE(report.kernels.empty());
    for (const TunedKernel& kernel : report.kernels) {
        EXPECT_GT(kernel.tried, 5) << kernel.name;
        EXPECT_LE(kernel.after_ms, kernel.before_ms) << kernel.name;
        for (const std::string& dropped : kernel.dropped) ADD_FAILURE() << dropped;
    }
    EXPECT_EQ(f(a, b).to_vector<float>(), before);
}

TuneReport tuned(const TuneOptions& options) {
    auto f = compiled(kTunedPrograms[0]);
    return f.tune({numbers(kTunedPrograms[0].first), numbers(kTunedPrograms[0].second)}, options);
}

TEST(Tune, TheCallerCanEndIt) {
    SessionScope scope(Session::interpreter());
    int seen = 0;
    const TuneReport report = tuned({.seconds = 100, .progress = [&](const TuneProgress& at) {
                                         EXPECT_EQ(at.number, 1u);
                                         EXPECT_GT(at.best_ms, 0);
                                         return ++seen < 3;
                                     }});
    EXPECT_EQ(seen, 3);
    EXPECT_EQ(report.kernels.at(0).tried, 3);
    EXPECT_FALSE(report.complete);
}

TEST(Tune, WhoWatchesTheThreadIsToldAndCanEndIt) {
    SessionScope scope(Session::interpreter());
    std::vector<WorkProgress> told;
    watch_work([&](const WorkProgress& now) {
        told.push_back(now);
        return false;  // the next time that it is told would be 1/30 s later
    });
    const TuneReport report = tuned({.seconds = 100, .progress = {}});
    watch_work({});
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told.at(0).text.rfind("tuning, ", 0), 0u) << told.at(0).text;
    EXPECT_GE(told.at(0).share, 0);
    EXPECT_FALSE(report.complete);
}

TEST(Tune, ItEndsWhenTheTimeIsOver) {
    SessionScope scope(Session::interpreter());
    const TuneReport report = tuned({.seconds = 0, .progress = {}});
    EXPECT_EQ(report.kernels.at(0).tried, 0);
    EXPECT_EQ(report.kernels.at(0).after, report.kernels.at(0).before);
    EXPECT_FALSE(report.complete);
}

/// Runs on the kernel interpreter, where every program after the first one from `plant` on is fast
/// and does something else.
class Planted : public Executor {
  public:
    explicit Planted(std::function<void(std::vector<float>&)> change)
        : change_(std::move(change)) {}
    const DeviceProfile& profile() const override { return inner_->profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        return inner_->allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t at, std::span<const std::byte> data) override {
        inner_->write(memory, at, data);
    }
    void read(const Memory& memory, uint64_t at, std::span<std::byte> data) override {
        inner_->read(memory, at, data);
    }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        inner_->run(program, call);
        if (planting_ && !first_) first_ = program;
        planted_ = planting_ && program != first_;
        if (!planted_) return;
        std::vector<float> values(call.results[0]->bytes() / 4);
        inner_->read(*call.results[0], 0, std::as_writable_bytes(std::span(values)));
        change_(values);
        inner_->write(*call.results[0], 0, std::as_bytes(std::span(values)));
    }
    void plant() { planting_ = true; }
    void wait() override {}
    void set_profiling(bool on) override { inner_->set_profiling(on); }
    std::vector<KernelTime> take_kernel_times() override {
        std::vector<KernelTime> times = inner_->take_kernel_times();
        for (KernelTime& time : times) time.milliseconds = planted_ ? 1 : 2;
        return times;
    }

  private:
    std::unique_ptr<Executor> inner_ = make_interpreter();
    std::function<void(std::vector<float>&)> change_;
    std::shared_ptr<const Program> first_;
    bool planting_ = false, planted_ = false;
};

/// Returns tuning's report for mappings whose results are changed so: sums of rows, each of another
/// magnitude.
TunedKernel with_planted(std::function<void(std::vector<float>&)> change) {
    const auto executor = std::make_shared<Planted>(std::move(change));
    Session session(executor);
    session.state()->emission = Emission::Nothing;
    SessionScope scope(session);
    auto f = compile([](Tensor x) { return sum(x, {.axis = 1}); }, {f32(8, 96)});
    auto [i, j] = indices<2>({8, 96});
    // The last row's terms are large and cancel but for rounding.
    Tensor x = select(i == 7, cos(j * 1.0f) * 1e6f - cos((95 - j) * 1.0f) * 1e6f,
                      pow(10.0f, -cast<float>(i)) * sin(j * 1.0f + 0.1f));
    x.to_vector<float>();
    executor->plant();
    TuneReport report = f.tune({x}, {.seconds = 2, .progress = [](const TuneProgress& at) {
                                         return at.number == 0 || at.tried < 4;
                                     }});
    return report.kernels.at(0);
}

TEST(Tune, AMappingThatZeroesASmallElementIsDropped) {
    const TunedKernel kernel = with_planted([](std::vector<float>& sums) { sums[6] = 0; });
    EXPECT_EQ(kernel.after, kernel.before);
    ASSERT_EQ(int(kernel.dropped.size()), kernel.tried);
    EXPECT_NE(kernel.dropped[0].find(
                  "its results differ by more than rounding explains: element 6 is 0 instead of "),
              std::string::npos)
        << kernel.dropped[0];
}
TEST(Tune, AnElementThatIsOffByAFewTenThousandthsIsDropped) {
    for (size_t row : {0, 3, 6})
        EXPECT_FALSE(
            with_planted([row](std::vector<float>& sums) { sums[row] *= 1.0005f; }).dropped.empty())
            << row;
}
TEST(Tune, NanAndInfinityWhereNoneWereAreDropped) {
    EXPECT_FALSE(with_planted([](std::vector<float>& sums) { sums[2] = NAN; }).dropped.empty());
    EXPECT_FALSE(
        with_planted([](std::vector<float>& sums) { sums[7] = INFINITY; }).dropped.empty());
}
TEST(Tune, WhatRoundingExplainsIsKept) {
    const TunedKernel kernel = with_planted([](std::vector<float>& sums) {
        for (size_t row = 0; row < 7; ++row) sums[row] = std::nextafter(sums[row], HUGE_VALF);
        sums[7] += 0.25f;  // its terms are a million, with roundings as large
    });
    for (const std::string& dropped : kernel.dropped) ADD_FAILURE() << dropped;
    EXPECT_NE(kernel.after, kernel.before);
}
TEST(Tune, AMappingThatFailsIsDroppedAndTheSearchGoesOn) {
    int failed = 0;
    const TunedKernel kernel = with_planted([&](std::vector<float>&) {
        if (++failed == 1) throw UserError("this mapping reads what it must not");
    });
    ASSERT_EQ(kernel.dropped.size(), 1u);
    EXPECT_NE(kernel.dropped[0].find("reads what it must not"), std::string::npos);
    EXPECT_EQ(kernel.tried, 4);
    EXPECT_NE(kernel.after, kernel.before);
}
TEST(Tune, AnEqualKernelThatIsCompiledLaterIsMappedAlike) {
    Session session = Session::interpreter();
    SessionScope scope(session);
    auto first = compiled(kTunedPrograms[0]);
    first.tune({numbers(kTunedPrograms[0].first), numbers(kTunedPrograms[0].second)},
               {.seconds = 0, .progress = {}});
    const KernelInfo& kernel = first.program()->kernels.at(0);
    Mapping other = *parse_mapping(kernel.mapping);
    other.group.x = 16, other.group.y = 2;
    session.state()->tuned[kernel.tuning_key] = text(other);
    auto second = compiled(kTunedPrograms[0]);
    EXPECT_EQ(second.program()->kernels.at(0).mapping, text(other));
    EXPECT_TRUE(second.program()->kernels.at(0).tuned);
    EXPECT_NE(second.explain().find("tuned to " + text(other)), std::string::npos);
    // A mapping that no kernel can have is ignored, as if it had never been found.
    for (const std::string& damaged :
         {std::string("tile 5"), std::string(), std::string("tile 8 group 4096x4")}) {
        session.state()->tuned[kernel.tuning_key] = damaged;
        EXPECT_FALSE(compiled(kTunedPrograms[0]).program()->kernels.at(0).tuned) << damaged;
    }
}

/// A chain of stencils on a device with expensive launches: it would be one kernel that recomputes
/// everything again and again.
auto dear_launches() {
    return compile(
        [](Tensor x) {
            auto [i, j] = indices<2>(x.shape());
            for (int step = 0; step < 2; ++step) {
                Tensor next = x;
                for (int d = 1; d < 4; ++d)
                    next += 0.5f * (x(i, j + d) + x(i + d, j)) - x(i - d, j - d);
                x = next;
            }
            return x;
        },
        {f32(40, 40)});
}

int64_t materialised(const std::shared_ptr<const Program>& program) {
    return std::count_if(program->verdicts.begin(), program->verdicts.end(),
                         [](const VerdictInfo& v) { return v.verdict == "materialised"; });
}

TEST(Tune, CutsThatTheCostsGetWrongAreFoundAndKept) {
    DeviceProfile profile = cpu_profile();
    profile.seconds_per_launch *= 20;
    profile.subgroup_size = 64;  // few lanes at once are slow in the interpreter
    Session session = Session::interpreter(profile);
    SessionScope scope(session);
    auto f = dear_launches();
    const Tensor x = numbers({40, 40});
    const std::vector<float> before = f(x).to_vector<float>();
    ASSERT_EQ(materialised(f.program()), 1);
    TuneReport report;
    for (int attempt = 0; attempt < 5; ++attempt) {  // others may take the core meanwhile
        report = f.tune(
            {x}, {.seconds = 5, .progress = [](const TuneProgress& at) { return at.number == 0; }});
        if (report.cuts.after_ms < 0.7 * report.cuts.before_ms) break;
    }
    EXPECT_LT(report.cuts.after_ms, 0.7 * report.cuts.before_ms) << report.text();
    EXPECT_GT(materialised(f.program()), 1);
    EXPECT_EQ(f(x).to_vector<float>(), before);
    EXPECT_NE(report.text().find("costs multiplied by " + report.cuts.after), std::string::npos);

    auto later = dear_launches();
    EXPECT_EQ(later.program()->cuts, report.cuts.after);
    EXPECT_NE(
        later.explain().find("cuts are tuned, their costs are multiplied by: " + report.cuts.after),
        std::string::npos);
    for (auto& [key, words] : session.state()->tuned) words = "load 0";
    EXPECT_EQ(materialised(dear_launches().program()), 1);
}

TEST(Tune, WithoutKernelsThereIsNothingToTune) {
    SessionScope scope(Session::oracle());
    EXPECT_THROW(tuned({}), UserError);
}

TEST(Explain, SaysWhatEachKernelDoesAndHowLongItTook) {
    SessionScope scope(Session::interpreter());
    auto f = compile([](Tensor x) { return exp(x) * 2; }, {f32("n", "m")});
    f(ones({10, 30}));
    const std::string asked = f.explain(), run = f.explain({ones({10, 30})});
    for (const std::string& text : {asked, run}) {
        EXPECT_NE(text.find("  rates 14 GB/s, 110 GFLOP/s, 40 us per launch, by its class\n"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("over x "), std::string::npos) << text;
        EXPECT_NE(
            text.find("1 dispatch, 600 operations, 1200 bytes read, 1200 written; predicted 0.04"),
            std::string::npos)
            << text;
        EXPECT_NE(text.find("tile "), std::string::npos) << text;
    }
    EXPECT_EQ(asked.find("measured"), std::string::npos);
    EXPECT_NE(run.find(" ms, measured "), std::string::npos) << run;
}

TEST(Explain, SaysWhichLoopsEndByData) {
    SessionScope scope(Session::interpreter());
    const auto text = [](bool bounded) {
        auto f = compile(
            [=](Tensor x, Tensor count) {
                Tensor times = bounded ? min(count(0), 8) : count(0);
                for (Tensor iteration : loop(times)) x = x * 0.5f + 1.0f;
                return x;
            },
            {f32(64), i32(1)});
        return f.explain();
    };
    for (const char* part :
         {"the data decides when the loop ends", "loop(min(count, 8))", "tune_test.cpp:"})
        EXPECT_NE(text(false).find(part), std::string::npos) << part;
    EXPECT_EQ(text(true).find("the data decides"), std::string::npos);
}

TEST(Explain, SaysWhichStoresCouldBeUnique) {
    SessionScope scope(Session::interpreter());
    const auto text = [](auto&& make) {
        auto f = compile(
            [=](Tensor x, Tensor to, Tensor v) {
                make(x, to, v);
                return x;
            },
            {f32("n"), i32("m"), f32("m")});
        return f.explain();
    };
    const std::string hint = "do not show that the store is unique";
    const auto open = [](Tensor& x, Tensor& to, Tensor& v) { x(to) = v; };
    for (const std::string& part : {hint, std::string("(tune_test.cpp:"),
                                    std::string("last-of-stores"), std::string(".unique = true")})
        EXPECT_NE(text(open).find(part), std::string::npos) << part;
    const std::string looped = text([](Tensor& x, Tensor& to, Tensor& v) {
        for (Tensor k : loop(10)) x(to + k) = v * x(to);
    });
    EXPECT_NE(looped.find(hint), std::string::npos) << looped;
    const std::string promised =
        text([](Tensor& x, Tensor& to, Tensor& v) { store(x(to), v, {.unique = true}); });
    EXPECT_EQ(promised.find(hint), std::string::npos) << promised;
    const std::string seen =
        text([](Tensor& x, Tensor& to, Tensor& v) { x(2 * index_of(to, 0) + 1) = v; });
    EXPECT_EQ(seen.find(hint), std::string::npos) << seen;
    const std::string combined =
        text([](Tensor& x, Tensor& to, Tensor& v) { scatter_max(x(to), v); });
    EXPECT_EQ(combined.find(hint), std::string::npos) << combined;
}

TEST(TuningCache, KeepsAMappingForItsKernelDeviceAndDriver) {
    const std::string directory = ::testing::TempDir() + "firn_tuning_" + std::to_string(getpid());
    CompileOptions options;
    options.cache_directory = directory;
    Mapping m;
    m.tile = {4, 2};
    DeviceProfile profile = cpu_profile(), other_driver = profile;
    other_driver.driver = "newer";
    const std::string key = tuning_key("glsl", profile, {}),
                      newer = tuning_key("glsl", other_driver, {}),
                      other_size = tuning_key("glsl", profile, {.facts = {{{"n", 4}}, {}}}),
                      other = tuning_key("glsl ", profile, {}),
                      shorter = tuning_key("glsl", profile, {.skipped = {"fuse_loops"}});
    EXPECT_FALSE(find_tuned(key, options));
    keep_tuned(key, m, directory);
    ASSERT_TRUE(find_tuned(key, options));
    EXPECT_EQ(text(*find_tuned(key, options)), text(m));
    for (const std::string& foreign : {newer, other_size, other, shorter})
        EXPECT_FALSE(find_tuned(foreign, options));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
        if (entry.is_regular_file())
            std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
    EXPECT_FALSE(find_tuned(key, options));
    std::filesystem::remove_all(directory);
}

TEST(CutWeights, TextAndBack) {
    const CutWeights weights{0.25, 1, 4};
    EXPECT_EQ(text(weights), "load 0.25 memory 1 launch 4");
    EXPECT_EQ(parse_cut_weights(text(weights)), weights);
    for (const char* wrong : {"", "load 1", "load 1 memory 1 launch 0",
                              "load 1 memory 1 launch nan", "load 1 memory 1 launch 1 more"})
        EXPECT_FALSE(parse_cut_weights(wrong)) << wrong;
}

}  // namespace
}  // namespace firn
