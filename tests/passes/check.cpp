// Arguments from a fixed list of ugly values, results compared bit by bit (any nan is as good as
// another).
#include "tests/passes/check.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "compiler/ir/interpret.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

HostTensor ugly_argument(const Node& arg, const SizeEnv& env, int salt) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double floats[] = {1.5,  -0.0,  -2, 0.0,   kInf, std::nan(""),
                             0.25, -kInf, 3,  -1e-3, 7,    1e30};
    const int64_t integers[] = {3, 0, -1, 1, INT32_MAX, INT32_MIN, 7, 2};
    std::vector<int64_t> shape;
    for (const Size& size : arg.shape) shape.push_back(size.evaluate(env));
    HostTensor out = HostTensor::make(arg.dtype, shape);
    for (int64_t k = 0; k < out.elements(); ++k) {
        int64_t at = k * 5 + salt;
        if (arg.dtype.is_float())
            out.set(k, scalar_float(floats[at % 12], arg.dtype));
        else if (arg.as<InputAttr>().scalar)
            out.set(k, scalar_int(4, arg.dtype));
        else
            out.set(k, scalar_int(integers[at % 8], arg.dtype));
    }
    return out;
}

bool same(const Scalar& a, const Scalar& b) {
    return a == b || (std::isnan(a.f) && std::isnan(b.f) && a.dtype == b.dtype);
}

void expect_same_results(const Graph& before, const Graph& after) {
    SizeEnv env = {{"n", 5}, {"k", 5}, {"m", 3}};
    for (int salt = 0; salt < 12; ++salt) {
        std::vector<HostTensor> args;
        for (const Ref& arg : before.args)
            args.push_back(ugly_argument(*arg, env, salt + 7 * static_cast<int>(args.size())));
        std::vector<HostTensor> expected = interpret(before, args, env),
                                got = interpret(after, args, env);
        for (size_t r = 0; r < expected.size(); ++r) {
            ASSERT_EQ(got[r].shape, expected[r].shape);
            for (int64_t k = 0; k < expected[r].elements(); ++k)
                ASSERT_TRUE(same(got[r].at(k), expected[r].at(k)))
                    << "result " << r << ", element " << k << ": " << text(got[r].at(k))
                    << ", before the pass " << text(expected[r].at(k));
        }
    }
}

}  // namespace

void check(Pass pass, const std::string& before, const std::string& after) {
    NodeTable table;
    Graph graph = parse(table, before);
    ASSERT_EQ(print(graph), before) << "the text is not in printing order";
    Graph result = pass(table, graph, nullptr);
    verify(result, "the pass");
    EXPECT_EQ(print(result), after);
    expect_same_results(graph, result);
}

std::string numbered(const std::string& text) {
    std::string out;
    std::map<std::string, size_t> numbers;
    for (size_t k = 0; k < text.size(); ++k) {
        out += text[k];
        if (text[k] != '%') continue;
        std::string name;
        while (std::isalnum(static_cast<unsigned char>(text[k + 1]))) name += text[++k];
        out += std::to_string(numbers.try_emplace(name, numbers.size()).first->second);
    }
    return out;
}

Graph simplified(NodeTable& table, const Graph& graph, const GraphPassOptions& options) {
    return run_graph_passes(graph, GraphStage::Recorded, GraphStage::Simplified,
                            {table, SymbolFacts{}}, options);
}

}  // namespace firn
