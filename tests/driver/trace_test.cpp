// The trace of every pass for a compiled program, and the graph of its values.
#include "compiler/driver/trace.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/compile.h"
#include "compiler/driver/program_source.h"
#include "compiler/driver/tune.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// A program that keeps its source, as those of a device do.
template <class Fn, size_t N>
std::shared_ptr<const Program> program_of(Fn f, const ArgSpec (&specs)[N],
                                          const DeviceProfile& profile = cpu_profile(),
                                          CompileOptions options = {.emission = Emission::Text}) {
    SessionScope scope(Session::interpreter(profile));
    const auto function = compile(f, specs);
    const auto source = source_of(function.graph(), options);
    options.source = source;
    return compile_graph(source->table, source->graph, profile, options);
}

int row_of(const Program& program, const std::string& value) {
    for (size_t k = 0; k < program.verdicts.size(); ++k)
        if (program.verdicts[k].value.rfind(value, 0) == 0) return static_cast<int>(k);
    ADD_FAILURE() << "no value " << value;
    return 0;
}

TEST(Trace, HasTheTextsOfTheCompileBefore) {
    SessionScope scope(Session::interpreter());
    const auto f =
        compile([](Tensor x) { return sum(sqrt(x) * 2.0f, {.axis = 1}); }, {f32("n", "m")});
    CompileOptions options{.emission = Emission::Text};
    options.trace = std::make_shared<CompileTrace>();
    options.source = source_of(f.graph(), options);
    const auto program =
        compile_graph(current_session().state()->nodes, f.graph(), cpu_profile(), options);
    const CompileTrace again = trace_of(*program);
    ASSERT_EQ(again.graph.size(), options.trace->graph.size());
    for (size_t k = 0; k < again.graph.size(); ++k)
        EXPECT_EQ(again.graph[k].text, options.trace->graph[k].text) << again.graph[k].name;
    ASSERT_EQ(again.kernels.size(), program->kernels.size());
    for (size_t k = 0; k < again.kernels.size(); ++k) {
        EXPECT_EQ(again.kernels[k].name, program->kernels[k].name);
        EXPECT_EQ(again.kernels[k].passes.size(), options.trace->kernels[k].passes.size());
    }
}
TEST(Trace, EndsWithWhatIsEmittedWhereTuningMappedItOtherwise) {
    const auto program = program_of([](Tensor x) { return sqrt(x); }, {f32("n")});
    const auto mapping = parse_mapping(program->kernels.at(0).mapping);
    ASSERT_TRUE(mapping);
    const std::vector<Mapping> others = other_mappings(*program, 0, *mapping, {});
    ASSERT_FALSE(others.empty());
    const CompileTrace trace = trace_of(*with_mapping(*program, 0, others[0], {}));
    const auto& passes = trace.kernels.at(0).passes;
    EXPECT_EQ(passes.back().name, "emitted");
    EXPECT_TRUE(passes.back().text != passes.at(passes.size() - 2).text);
}
TEST(Trace, OfAProgramWithoutItsSourceIsRefused) {
    SessionScope scope(Session::interpreter());
    const auto f = compile([](Tensor x) { return sqrt(x); }, {f32("n")});
    try {
        trace_of(*f.program());
        FAIL() << "no error";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("without the graph that it was compiled from"),
                  std::string::npos);
    }
}

TEST(ValueGraph, ReadsSkipWhatHasNoVerdict) {
    const auto program = program_of(
        [](Tensor x, Tensor s) {
            const Tensor scaled = x * (s + 1.0f);  // a number: it has no verdict
            return sqrt(scaled);
        },
        {f32("n"), f32()});
    const CompileTrace trace = trace_of(*program);
    ASSERT_EQ(trace.values.size(), program->verdicts.size());
    const auto& product = trace.values[static_cast<size_t>(row_of(*program, "Mul"))];
    EXPECT_EQ(product.arguments, (std::vector<int>{0, 1}));
    // The picture also leaves out values that are the same for every element.
    EXPECT_TRUE(trace.values[static_cast<size_t>(row_of(*program, "Expand"))].dispatches.empty());
    const auto& root = trace.values[static_cast<size_t>(row_of(*program, "Sqrt"))];
    EXPECT_EQ(root.reads, std::vector<int>{row_of(*program, "Mul")});
}
TEST(ValueGraph, WhatIsInlinedBelongsToEveryKernelThatAsks) {
    // A product costs less than memory: the sum has it, and what needs the sum has it again.
    const auto program = program_of(
        [](Tensor x) {
            const Tensor twice = x * 2.0f;
            return twice - sum(twice);
        },
        {f32(512, 512)}, gpu_profile());
    const CompileTrace trace = trace_of(*program);
    const auto row = static_cast<size_t>(row_of(*program, "Mul"));
    ASSERT_EQ(program->verdicts[row].verdict, "inlined");
    std::vector<int> askers;
    for (size_t k = 0; k < trace.values.size(); ++k) {
        const auto& reads = trace.values[k].reads;
        if (std::find(reads.begin(), reads.end(), static_cast<int>(row)) == reads.end()) continue;
        askers.insert(askers.end(), trace.values[k].dispatches.begin(),
                      trace.values[k].dispatches.end());
    }
    std::sort(askers.begin(), askers.end());
    std::vector<int> own = trace.values[row].dispatches;
    std::sort(own.begin(), own.end());
    EXPECT_EQ(own, askers);
    EXPECT_GE(own.size(), 2u);
}
TEST(ValueGraph, EveryValueInMemoryHasItsDispatch) {
    const auto program = program_of(
        [](Tensor x) {
            for (Tensor k : loop(5)) x = cumsum(x) * 0.5f + k.as(f32);
            return std::tuple{x, sum(x)};
        },
        {f32("n")});
    const CompileTrace trace = trace_of(*program);
    int dispatches = 0;
    for_dispatches(program->steps, [&](const DispatchStep&) { ++dispatches; });
    ASSERT_EQ(trace.values.size(), program->verdicts.size());
    for (size_t k = 0; k < trace.values.size(); ++k) {
        if (program->verdicts[k].verdict == "materialised") {
            EXPECT_FALSE(trace.values[k].dispatches.empty()) << program->verdicts[k].value;
        }
        for (int dispatch : trace.values[k].dispatches) EXPECT_LT(dispatch, dispatches);
    }
}
TEST(ValueGraph, WhatALoopCarriesIsReadFromItsStartAndFromItsEnd) {
    const auto program = program_of(
        [](Tensor x) {
            Tensor y = sqrt(x);
            for (Tensor k : loop(5)) y = cumsum(y) * 0.5f;
            return y;
        },
        {f32("n")});
    const CompileTrace trace = trace_of(*program);
    // Some value of the loop reads the root, and one that stands behind it: the next iteration's.
    const int root = row_of(*program, "Sqrt");
    bool from_start = false, from_end = false;
    for (size_t k = 0; k < trace.values.size(); ++k)
        for (int source : trace.values[k].reads) {
            from_start |= source == root;
            from_end |= source >= static_cast<int>(k);
        }
    EXPECT_TRUE(from_start);
    EXPECT_TRUE(from_end);
}

}  // namespace
}  // namespace firn
