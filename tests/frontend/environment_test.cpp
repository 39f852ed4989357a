// The table of environment variables.
#include "compiler/frontend/environment.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/frontend/record.h"
#include "compiler/kernel/kernel_code.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

TEST(Environment, HelpNamesEveryVariable) {
    std::string help = environment_help();
    for (const EnvironmentVariable& row : kEnvironment)
        EXPECT_NE(help.find(row.name), std::string::npos) << row.name;
}

TEST(Environment, VariableOutsideTheTableIsABug) {
    EXPECT_THROW(environment("FIRN_NO_SUCH"), InternalError);
}

TEST(Environment, NumberThatIsNoneIsAnError) {
    setenv("FIRN_DEBUG", "much", 1);
    expect_parts(user_error([] { environment_number("FIRN_DEBUG", 0); }),
                 {"FIRN_DEBUG=much", "FIRN_HELP=1"});
    unsetenv("FIRN_DEBUG");
}

TEST(Environment, UnknownExecutorIsAnError) {
    setenv("FIRN_EXECUTOR", "abacus", 1);
    Session session(std::make_shared<SessionState>());
    EXPECT_NE(user_error([&] { session.executor(); }).find("abacus"), std::string::npos);
    unsetenv("FIRN_EXECUTOR");
}

TEST(Environment, OracleIsChosenByName) {
    setenv("FIRN_EXECUTOR", "oracle", 1);
    SessionScope scope(Session{std::make_shared<SessionState>()});
    EXPECT_EQ((tensor({1, 2}) + 1).to_vector<int>(), (Ints{2, 3}));
    EXPECT_EQ(current_session().plan_count(), 0u);
    unsetenv("FIRN_EXECUTOR");
}

TEST(Environment, NoProgramsForSingleSizesWhereThatIsSaid) {
    setenv("FIRN_EXECUTOR", "interpret", 1);
    for (const char* said : {"0", "1"}) {
        setenv("FIRN_SPECIALISE", said, 1);
        SessionScope scope(Session{std::make_shared<SessionState>()});
        const auto twice = compile([](Tensor x) { return 2.0f * x; }, {f32("n")});
        twice(ones({1000}));
        EXPECT_EQ(twice.program()->kernels.at(0).param_types.empty(), said[0] == '1') << said;
    }
    unsetenv("FIRN_SPECIALISE");
    unsetenv("FIRN_EXECUTOR");
}

TEST(Environment, EachCompilationAppendsItsExcessToAFile) {
    const std::string before = environment("FIRN_EXCESS").value_or("");
    const auto file = std::filesystem::path(::testing::TempDir()) / "firn_excess_test";
    std::filesystem::remove(file);
    setenv("FIRN_EXCESS", file.c_str(), 1);
    {
        SessionScope scope(Session::interpreter());
        for (int n : {3, 4}) {
            const auto twice = compile([](Tensor x) { return 2.0f * x; }, {f32(n)});
            twice(tensor(std::vector<float>(static_cast<size_t>(n), 1)));
        }
    }
    setenv("FIRN_EXCESS", before.c_str(), 1);
    std::ifstream in(file);
    int lines = 0;
    for (std::string line; std::getline(in, line); ++lines)
        EXPECT_EQ(line.substr(0, 6), "1\t0\t0\t");
    EXPECT_EQ(lines, 2);
}

TEST(Environment, DumpWritesGraphKernelsGlslAndExplain) {
    auto folder = std::filesystem::path(::testing::TempDir()) / "firn_dump_test";
    std::filesystem::remove_all(folder);
    setenv("FIRN_DUMP_DIR", folder.c_str(), 1);
    {
        SessionScope scope(Session::interpreter());
        (tensor({1.0f, 2.0f}) * 3.0f).to_vector<float>();
        auto iterations = compile(
            [](Tensor x, Tensor count) {
                for (Tensor t : loop(count)) x = roll(x, 1) + 1;
                return x;
            },
            {f32(40), i32()});
        EXPECT_EQ(iterations(zeros({40}), 3).to_vector<float>(), std::vector<float>(40, 3));
    }
    unsetenv("FIRN_DUMP_DIR");
    std::set<std::string> kinds;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        kinds.insert(entry.path().extension());
        if (entry.path().extension() != ".kernel") continue;
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        EXPECT_NO_THROW(parse_kernel(text.str())) << text.str();
        const std::string pass = entry.path().stem().extension();
        kinds.insert({pass, pass.substr(4)});  // the latter behind ".00_"
    }
    for (const char* pass : {"lower", "place", "map"}) EXPECT_TRUE(kinds.count(pass)) << pass;
    std::filesystem::remove_all(folder);
    EXPECT_TRUE(kinds.count(".lowered"));
    for (const char* kind : {".comp", ".explain", ".graph", ".kernel"})
        EXPECT_TRUE(kinds.count(kind)) << kind;
}

TEST(Environment, HelpIsPrintedInEverySessionThatRuns) {
    setenv("FIRN_HELP", "1", 1);
    ::testing::internal::CaptureStderr();
    Session::interpreter().executor();
    unsetenv("FIRN_HELP");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), environment_help());
}

// Prints the program before it runs; and the passes before an error if it cannot be compiled.
TEST(Environment, DebugPrintsGraphsAndKernelsAfterEveryPass) {
    setenv("FIRN_DEBUG", "5", 1);
    ::testing::internal::CaptureStderr();
    {
        SessionScope scope(Session::interpreter());
        auto twice = compile([](Tensor x) { return sum(x * 2.0f); }, {f32("n")});
        twice(zeros({64}));
    }
    unsetenv("FIRN_DEBUG");
    expect_parts(
        ::testing::internal::GetCapturedStderr(),
        {"-- recorded", "-- after assume_sizes", "-- after simplify", "-- after lower, kernel k0",
         "-- after map, kernel k0", "-- after count_back_edges, kernel k0",
         "-- pass simplify: ", "-- pass map, kernel k0"});
}

TEST(Environment, DebugPrintsKernelsAndGraphs) {
    setenv("FIRN_DEBUG", "3", 1);
    ::testing::internal::CaptureStderr();
    {
        SessionScope scope(Session::interpreter());
        (tensor({1.0f, 2.0f}) * 3.0f).to_vector<float>();
    }
    unsetenv("FIRN_DEBUG");
    expect_parts(::testing::internal::GetCapturedStderr(),
                 {"-- recorded", "-- after", "1 kernels", "#version 460",
                  "lazy ran: 1 dispatches, 2 operations, ", "8 written", " ms x 1"});
}

}  // namespace
}  // namespace firn
