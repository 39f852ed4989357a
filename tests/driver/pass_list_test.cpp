// The list of all passes, and the dials that leave some of them out.
#include "compiler/driver/pass_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/driver/explain.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

std::string user_error(const std::string& skip, const std::string& stop_after = {}) {
    try {
        skipped_passes(skip, stop_after);
    } catch (const UserError& error) {
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PassList, EveryRowNamesItsFile) {
    const std::filesystem::path root = std::filesystem::path(FIRN_SOURCE_DIR) / "compiler";
    for (const ListedPass& pass : listed_passes())
        EXPECT_TRUE(std::filesystem::is_regular_file(root / (std::string(pass.info.file) + ".cpp")))
            << pass.label;
}

TEST(PassList, EveryRowHasALabelOfItsOwn) {
    SkippedPasses labels;
    for (const ListedPass& pass : listed_passes()) EXPECT_TRUE(labels.insert(pass.label).second);
    EXPECT_TRUE(labels.contains("simplify:2"));
    EXPECT_TRUE(labels.contains("fuse_loops"));
}

template <class Stage, class Passes>
void expect_linear(Stage stage, Stage last, const Passes& passes) {
    for (const auto& pass : passes) {
        EXPECT_EQ(pass.takes, stage) << pass.info.name;
        stage = pass.gives;
    }
    EXPECT_EQ(stage, last);
}
TEST(PassList, EachTakesWhatTheOneBeforeGives) {
    expect_linear(GraphStage::Recorded, GraphStage::Fitted, graph_passes());
    expect_linear(KernelStage::Lowered, KernelStage::Placed, kernel_passes());
}

TEST(PassList, HasTheRowsOfKernelsWithinThoseOfTheirList) {
    std::vector<std::string> labels;
    for (const ListedPass& pass : listed_passes()) labels.push_back(pass.label);
    const auto place = [&](const char* label) {
        return std::find(labels.begin(), labels.end(), label) - labels.begin();
    };
    const char* const order[] = {"assume_sizes", "store_parts", "lower_graph",      "make_ready",
                                 "fuse_loops",   "place:1",     "put_side_by_side", "map_kernels",
                                 "map",          "place:2",     "put_in_sequence"};
    for (size_t k = 1; k < std::size(order); ++k)
        EXPECT_LT(place(order[k - 1]), place(order[k])) << order[k];
}

TEST(SkippedPasses, ANameIsAllItsRowsAndALabelIsOne) {
    EXPECT_EQ(skipped_passes("nested_choices,fuse_loops"),
              (SkippedPasses{"fuse_loops", "nested_choices:1", "nested_choices:2"}));
    EXPECT_EQ(skipped_passes("nested_choices:2"), (SkippedPasses{"nested_choices:2"}));
    EXPECT_TRUE(skipped_passes("").empty());
}
TEST(SkippedPasses, BehindARowAreThoseThatMayBeLeftOut) {
    EXPECT_TRUE(skipped_passes("", "emit_kernels").empty());
    EXPECT_EQ(skipped_passes("", "reuse_arguments"),
              (SkippedPasses{"put_in_sequence", "share_dispatches"}));
    EXPECT_EQ(skipped_passes("", "nested_choices:1").count("nested_choices:2"), 1u);
    EXPECT_EQ(skipped_passes("", "simplify").count("simplify:2"), 0u);
}
TEST(SkippedPasses, AnUnknownNameListsThePasses) {
    expect_parts(user_error("simplfy"),
                 {"FIRN_SKIP: no pass is named 'simplfy'", "nested_choices, simplify,",
                  "put_in_sequence", "FIRN_HELP=2"});
    expect_parts(user_error("", "simplfy"), {"FIRN_STOP_AFTER: no pass is named 'simplfy'"});
}
TEST(SkippedPasses, OneThatProgramsNeedIsRefusedWithTheReason) {
    expect_parts(user_error("fuse_loops,simplify"), {"'simplify:2' may not be left out: "});
    expect_parts(user_error("settle_stores"),
                 {"'settle_stores' may not be left out: the last store at an element wins"});
}

/// A session that reads the environment anew.
std::string explained(const char* variable, const char* value) {
    setenv(variable, value, 1);
    std::string out;
    {
        SessionScope scope(Session::interpreter());
        const auto f = compile([](Tensor x) { return x * 1.0f + 0.0f * x; }, {f32(64)});
        f(ones({64}));
        out = explain(*f.program());
    }
    unsetenv(variable);
    return out;
}
TEST(SkippedPasses, AreReadOnceByTheSession) {
    expect_parts(explained("FIRN_SKIP", "nested_choices"),
                 {"without the passes nested_choices:1, nested_choices:2\n"});
    expect_parts(explained("FIRN_STOP_AFTER", "reuse_arguments"),
                 {"without the passes put_in_sequence, share_dispatches\n"});
    EXPECT_EQ(explained("FIRN_SKIP", "").find("without the passes"), std::string::npos);
}
TEST(SkippedPasses, AWrongNameIsAnErrorOfEveryUseOfTheSession) {
    setenv("FIRN_SKIP", "simplfy", 1);
    const Session session = Session::interpreter();
    EXPECT_THROW(session.executor(), UserError);
    EXPECT_THROW(session.executor(), UserError);
    unsetenv("FIRN_SKIP");
}

TEST(Rounds, AreToldWithTheirReasons) {
    SessionScope scope(Session::interpreter());
    const auto f = compile([](Tensor x) { return stack({sin(x), cos(x), x * x}); }, {f32(1 << 16)});
    expect_parts(explain(*f.program()),
                 {"scheduled 2 times: values that are joined from parts are stored part by part"});
}

}  // namespace
}  // namespace firn
