// Programs that are kept on disk: which are found again, and that they are the programs they were.
#include "compiler/driver/program_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "compiler/base/disk_cache.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/trace.h"
#include "compiler/driver/tune.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"
#include "compiler/plan/tuned.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// An empty folder of this test's own.
class ProgramCache : public testing::Test {
  protected:
    ProgramCache()
        : folder_(fs::temp_directory_path() / ("firn_programs_" + std::to_string(getpid()))) {
        fs::remove_all(folder_);
        options_.name = "steps";
        options_.cache_directory = folder_.string();
        options_.reuse = true;
    }
    ~ProgramCache() override { fs::remove_all(folder_); }

    size_t entries() const {
        if (!fs::exists(folder_)) return 0;
        size_t count = 0;
        for (const auto& each : fs::directory_iterator(folder_))
            count += each.path().extension() == ".program";
        return count;
    }

    /// Records sums over rows that follow one another: so many kernels take longer than a program
    /// must that is kept.
    std::shared_ptr<ProgramSource> source(int steps = 12) const {
        SessionScope scope(Session::interpreter(profile_));
        const auto f = compile(
            [&](Tensor x) {
                for (int k = 0; k < steps; ++k)
                    x = sin(x + float(k)) - sum(x, {.axis = k % 2, .keep_dims = true}) * 0.5f;
                return x;
            },
            {f32("n", "m")});
        return source_of(f.graph(), options_);
    }
    std::shared_ptr<const Program> compiled(int steps = 12) const {
        return compile_source(source(steps), profile_, options_);
    }

    fs::path folder_;
    DeviceProfile profile_ = cpu_profile();
    CompileOptions options_;
};

bool from_disk(const Program& program) { return !program.kernels.at(0).code; }

void expect_same(const Program& a, const Program& b) {
    ASSERT_EQ(a.kernels.size(), b.kernels.size());
    for (size_t k = 0; k < a.kernels.size(); ++k) {
        EXPECT_EQ(a.kernels[k].name, b.kernels[k].name);
        EXPECT_EQ(a.kernels[k].artefact.text, b.kernels[k].artefact.text);
        EXPECT_EQ(a.kernels[k].artefact.words, b.kernels[k].artefact.words);
    }
    const SizeEnv sizes{{"n", 33}, {"m", 70}};
    EXPECT_EQ(explain(a, sizes), explain(b, sizes));
}

TEST_F(ProgramCache, FindsAProgramAgainAsItWas) {
    const auto made = compiled(), found = compiled();
    EXPECT_FALSE(from_disk(*made));
    EXPECT_TRUE(from_disk(*found));
    expect_same(*made, *found);
}
TEST_F(ProgramCache, FindsNothingWhereSomethingElseWasAskedFor) {
    compiled();
    const struct {
        const char* what;
        std::function<void()> change;
    } others[] = {
        {"a name", [&] { options_.name = "other"; }},
        {"an assumption", [&] { options_.facts.exact["m"] = 64; }},
        {"an argument that is given away", [&] { options_.donated = {true}; }},
        {"a pass less", [&] { options_.skipped = {"share_dispatches"}; }},
        {"other cuts", [&] { options_.cuts = CutWeights{}; }},
        {"a driver", [&] { profile_.driver = "another"; }},
        {"a limit", [&] { profile_.max_group_size = 64; }},
        {"a rate", [&] { profile_.bytes_per_second *= 2; }},
    };
    for (const auto& [what, change] : others) {
        const CompileOptions options = options_;
        const DeviceProfile profile = profile_;
        change();
        EXPECT_FALSE(from_disk(*compiled())) << what;
        EXPECT_TRUE(from_disk(*compiled())) << what;
        options_ = options, profile_ = profile;
    }
    EXPECT_FALSE(from_disk(*compiled(13)));
}
TEST_F(ProgramCache, FindsNothingWhereTheUsersLineOfAnArgumentDiffers) {
    const auto from_line = [&](int line) {
        const auto recorded = source();
        recorded->graph.args.at(0)->lines = {{"scene.cpp", line}};
        return from_disk(*compile_source(recorded, profile_, options_));
    };
    EXPECT_FALSE(from_line(1));
    EXPECT_TRUE(from_line(1));
    EXPECT_FALSE(from_line(2));
}
TEST_F(ProgramCache, CompilesAnewWhereTuningHasFoundSomethingSince) {
    const auto made = compiled();
    const KernelInfo& kernel = made->kernels.at(0);
    const auto mapping = parse_mapping(kernel.mapping);
    ASSERT_TRUE(mapping && !kernel.tuning_key.empty());
    const std::vector<Mapping> others = other_mappings(*made, 0, *mapping, {});
    ASSERT_FALSE(others.empty());
    keep_tuned(kernel.tuning_key, others[0], options_.cache_directory);
    const auto tuned = compiled();
    EXPECT_TRUE(tuned->kernels.at(0).tuned);
    EXPECT_TRUE(from_disk(*compiled()));
    EXPECT_EQ(compiled()->kernels.at(0).mapping, text(others[0]));
}
TEST_F(ProgramCache, CompilesAnewWhereAnEntryIsDamaged) {
    const auto made = compiled();
    for (const auto& each : fs::directory_iterator(folder_))
        if (each.path().extension() == ".program") fs::resize_file(each.path(), 1000);
    const auto again = compiled();
    EXPECT_FALSE(from_disk(*again));
    expect_same(*made, *again);
    EXPECT_TRUE(from_disk(*compiled()));
}
TEST_F(ProgramCache, CompilesAnewWhereAnEntryIsNoProgram) {
    compiled();
    for (const auto& each : fs::directory_iterator(folder_))
        if (each.path().extension() == ".program") {
            const std::string name = each.path().stem().string();
            cache_store(options_.cache_directory, "program", name,
                        std::as_bytes(std::span("nothing that a program would begin with")));
        }
    EXPECT_FALSE(from_disk(*compiled()));
}
TEST_F(ProgramCache, KeepsNothingThatCompilesAtOnce) {
    compiled(1);
    EXPECT_EQ(entries(), 0u);
}
TEST_F(ProgramCache, IsNotUsedWhereOnlyACompileHasWhatIsNeeded) {
    compiled();
    ASSERT_EQ(entries(), 1u);
    CompileTimes times;
    options_.times = &times;
    EXPECT_FALSE(from_disk(*compiled()));
    options_.times = nullptr;
    options_.trace = std::make_shared<CompileTrace>();
    EXPECT_FALSE(from_disk(*compiled()));
    options_.trace.reset();
    options_.reuse = false;
    EXPECT_FALSE(from_disk(*compiled()));
    options_.reuse = true;
    options_.cache_directory.clear();
    EXPECT_FALSE(from_disk(*compiled()));
}
TEST_F(ProgramCache, GivesTheCodeOfKernelsBack) {
    const auto made = compiled(), found = compiled();
    const auto whole = with_code(found);
    EXPECT_EQ(with_code(made), made);
    EXPECT_FALSE(from_disk(*whole));
    expect_same(*made, *whole);
    EXPECT_FALSE(
        other_mappings(*whole, 0, *parse_mapping(whole->kernels.at(0).mapping), {}).empty());
}
TEST_F(ProgramCache, TracesAProgramFromDisk) {
    const auto made = compiled(), found = compiled();
    ASSERT_TRUE(from_disk(*found));
    const CompileTrace a = trace_of(*made), b = trace_of(*found);
    ASSERT_EQ(a.graph.size(), b.graph.size());
    EXPECT_EQ(a.graph.back().text, b.graph.back().text);
    ASSERT_EQ(a.kernels.size(), b.kernels.size());
    EXPECT_EQ(a.kernels.at(0).passes.back().text, b.kernels.at(0).passes.back().text);
}

}  // namespace
}  // namespace firn
