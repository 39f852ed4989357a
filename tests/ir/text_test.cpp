// Printing, parsing and verifying Graphs.
#include "compiler/ir/text.h"

#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"

namespace firn {
namespace {

/// A graph with every kind of node and attribute.
const char* const kEverything = R"(graph(%0: f32[n, 4], %1: i32 scalar, %2: f32[m], %3: u8[3]) {
    guard n == m "add: [n, 4] and [m] \"quoted\" \\ \nline"
    %4: i32 = Constant 0
    %5: i32 = SizeValue m*n
    %6: i32 = Constant 1
    %7: f32 = Constant 1.5
    %8: f32[n, 4] = Expand %7
    %9: f32[n, 4] = Add %0, %8
    %10: f32[4, n] = Permute %9 axes=[1, 0]
    %11: f32[2, n - 2] = Slice %10 begin=[3, 1] step=[-2, 1]
    %12: f32[3, n - 1] = Pad %11 before=[1, 0] after=[0, 1] value=-inf
    %13: i32[3, n - 1] = Index axis=1
    %14: i32[3, n - 1] = Index axis=0
    %15: f32[3, n - 1] = Gather %0, %13, %14 modes=[wrap, constant] fill=nan
    %16: f32[3, n - 1] = Mul %12, %15
    %17: f32[3, n - 1] = Scatter %16, %12, %14, %13 op=max unique complete by_hand part finds_last
    %18: f32[n - 1] = Reduce %17 op=sum axes=[0]
    %19: bool = Constant true
    %20 = Loop %4, %5, %6, %18, %19 active=1 (%21: i32, %22: f32[n - 1], %23: bool) {
        %24: bool = Less %21, %1
        %25 = If %24 {
            %26: f32[n - 1] = Sin %22
            yield %26
        } else {
            yield %22
        }
        %27: f32[n - 1] = Result %25 index=0
        yield %27, %24
    }
    %28: f32[n - 1] = Result %20 index=0
    %29: u32[n - 1] = Bitcast %28
    %30: f32[4*n] = Reshape %0
    %31: i32[3] = Cast %3
    return %29, %30, %31, %2
}
)";

std::string printed(const std::string& text) {
    NodeTable table;
    return print(parse(table, text));
}

std::string parse_error(const std::string& text) {
    NodeTable table;
    try {
        parse(table, text);
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Text, EveryNodeSurvivesARoundTrip) { EXPECT_EQ(printed(kEverything), kEverything); }

/// The number of the next node is no operand of one that has none.
TEST(Text, ANodeWithoutOperandsBeforeAnother) {
    const std::string text = R"(graph() {
    %0: f32[3] = Empty
    %1: f32[3] = Sin %0
    return %1
})";
    EXPECT_EQ(printed(text + "\n"), text + "\n");
}

TEST(Text, BuffersPrintByFirstUse) {
    std::string text = R"(graph() {
    %0: f32[4] = Buffer #0
    %1: f32[4] = Buffer #1
    %2: f32[4] = Add %0, %1
    return %2
}
)";
    EXPECT_EQ(printed(text), text);
}

TEST(Text, AGraphWithoutArgumentsOrNodes) {
    EXPECT_EQ(printed("graph() {\n    return\n}\n"), "graph() {\n    return\n}\n");
}

TEST(Text, SizesOfTheTurnsOfALoop) {
    std::string text = R"(graph(%0: i32[n]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 3
    %3: i32 = Constant 1
    %4: i32[n] = Expand %1
    %5 = Loop %1, %2, %3, %1, %4 sizes=[?0(n)] (%6: i32, %7: i32, %8: i32[n]) {
        %9: i32[?0(n)] = Index axis=0
        %10: i32 = Reduce %9 op=sum axes=[0]
        %11: i32[n] = Expand %10
        yield %6, %11
    }
    %12: i32[n] = Result %5 index=1
    return %12
}
)";
    EXPECT_EQ(printed(text), text);
}

TEST(Text, DoesNotDependOnHistory) {
    NodeTable table;
    Builder b{table};
    auto build = [&](bool reversed) {
        Ref x = input(b, 0, f32, {4}, false);
        Ref s, c;
        if (reversed) c = elementwise(b, Op::Cos, {x});
        s = elementwise(b, Op::Sin, {x});
        if (!reversed) c = elementwise(b, Op::Cos, {x});
        return print(Graph{{x}, {elementwise(b, Op::Add, {s, c})}, {}});
    };
    std::string first = build(false);
    EXPECT_EQ(build(true), first);
}

TEST(Text, LinesAreTrailingCommentsThatParsingSkips) {
    NodeTable table;
    Ref x = input({table}, 0, f32, {4}, false);
    Graph g{{x}, {elementwise({table, {"src/fluid.cpp", 88}}, Op::Sin, {x})}, {}};
    std::string text = print(g, {.lines = true});
    EXPECT_NE(text.find("%1: f32[4] = Sin %0  # fluid.cpp:88\n"), std::string::npos) << text;
    EXPECT_EQ(printed(text), print(g));
}

TEST(Text, MessagesOfGuardsKeepTheirSigns) {
    NodeTable table;
    const Ref x = input({table}, 0, f32, {Size::symbol("n")}, false);
    const Graph g{{x}, {x}, {{Size::symbol("n"), Size(4), "in path \\new\nsaid \"no\" \\"}}};
    EXPECT_EQ(parse(table, print(g)).guards.at(0).message, g.guards[0].message);
}

TEST(ParseError, NumbersThatAreTooLarge) {
    EXPECT_NE(parse_error("graph() {\n    %0: i32[4] = Index axis=4294967296\n    return %0\n}\n")
                  .find("a number of 32 bits"),
              std::string::npos);
    const std::string buffer = "graph() {\n    %0: f32[4] = Buffer #9999999999\n    return %0\n}\n";
    EXPECT_EQ(parse_error(buffer), "no error");  // and no memory for as many
}

TEST(ParseError, NamesLineAndColumn) {
    EXPECT_EQ(parse_error("graph(%0: f32[4]) {\n    %1: f32[4] = Sine %0\n    return %1\n}\n"),
              "parse: line 2, column 18: expected an operation of ops.def, found 'Sine %0'");
}

TEST(ParseError, UnknownNode) {
    EXPECT_NE(parse_error("graph() {\n    return %3\n}\n").find("the number of a node above"),
              std::string::npos);
}

TEST(ParseError, UnknownType) {
    EXPECT_NE(parse_error("graph(%0: f31) {\n    return %0\n}\n").find("expected a type"),
              std::string::npos);
}

TEST(ParseError, NumbersCountUp) {
    EXPECT_NE(parse_error("graph(%1: f32) {\n    return %1\n}\n").find("number 0"),
              std::string::npos);
}

TEST(ParseError, TextThatEndsEarly) {
    EXPECT_NE(parse_error("graph(%0: f32) {\n").find("found 'the end'"), std::string::npos);
}

TEST(ParseError, AnUnsoundGraph) {
    EXPECT_NE(parse_error("graph(%0: f32[4]) {\n    %1: f32[5] = Sin %0\n    return %1\n}\n")
                  .find("an elementwise input has exactly the node's shape"),
              std::string::npos);
}

/// The message of verify for one broken node above a float and an integer input.
std::string broken(const std::function<Ref(NodeTable&, const Ref&, const Ref&)>& make) {
    NodeTable table;
    Ref x = input({table}, 0, f32, {4, 2}, false), i = input({table}, 1, i32, {4, 2}, false);
    try {
        verify(Graph{{x, i}, {make(table, x, i)}, {}}, "a_pass");
    } catch (const InternalError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Verify, NamesTheRuleThePassAndTheNode) {
    EXPECT_EQ(broken([](NodeTable& t, const Ref& x, const Ref&) {
                  return t.intern(Op::Sin, f32, {4}, {x}, {}, {"a/fluid.cpp", 3});
              }),
              "internal error: after a_pass: an elementwise input has exactly the node's shape: "
              "Sin : f32[4] (f32[4, 2]) fluid.cpp:3");
}

struct BrokenCase {
    const char* rule;
    std::function<Ref(NodeTable&, const Ref&, const Ref&)> make;
};

const BrokenCase kBroken[] = {
    {"value inputs have one dtype",
     [](NodeTable& t, const Ref& x, const Ref& i) {
         return t.intern(Op::Add, f32, {4, 2}, {x, i});
     }},
    {"the result is a bool",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Less, f32, {4, 2}, {x, x});
     }},
    {"the inputs are floats",
     [](NodeTable& t, const Ref&, const Ref& i) {
         return t.intern(Op::Sin, i32, {4, 2}, {i});
     }},
    {"the inputs are integers or bools",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::BitNot, f32, {4, 2}, {x});
     }},
    {"an operation has its number of inputs",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Add, f32, {4, 2}, {x});
     }},
    {"a Select's condition is a bool",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Select, f32, {4, 2}, {x, x, x});
     }},
    {"a Reshape keeps the number of elements",
     [](NodeTable& t, const Ref& x, const Ref&) { return t.intern(Op::Reshape, f32, {7}, {x}); }},
    {"an Expand repeats dimensions of size 1",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Expand, f32, {4, 3}, {x});
     }},
    {"a Permute names every axis once",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Permute, f32, {4, 4}, {x}, PermuteAttr{{0, 0}});
     }},
    {"a Slice stays inside",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Slice, f32, {3, 2}, {x}, SliceAttr{{2, 0}, {1, 1}});
     }},
    {"a Pad grows every axis by its widths",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Pad, f32, {5, 2}, {x}, PadAttr{{1, 0}, {1, 0}, scalar_float(0)});
     }},
    {"there is one index per source axis",
     [](NodeTable& t, const Ref& x, const Ref& i) {
         return t.intern(Op::Gather, f32, {4, 2}, {x, i},
                         GatherAttr{{Bounds::Clamp}, scalar_float(0)});
     }},
    {"indices are i32 and of one shape",
     [](NodeTable& t, const Ref& x, const Ref& i) {
         return t.intern(Op::Gather, f32, {4, 2}, {x, i, x},
                         GatherAttr{{Bounds::Clamp, Bounds::Clamp}, scalar_float(0)});
     }},
    {"a Reduce's axes are sorted, exist and disappear",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Reduce, f32, {4}, {x}, ReduceAttr{ReduceOp::Sum, {0}});
     }},
    {"a position is along one axis",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Reduce, i32, {}, {x}, ReduceAttr{ReduceOp::Argmax, {0, 1}});
     }},
    {"a node has the attribute of its operation",
     [](NodeTable& t, const Ref& x, const Ref&) {
         return t.intern(Op::Permute, f32, {2, 4}, {x});
     }},
    {"every Input is an argument",
     [](NodeTable& t, const Ref&, const Ref&) { return input({t}, 2, f32, {}, false); }},
};

class VerifyRule : public testing::TestWithParam<BrokenCase> {};
TEST_P(VerifyRule, IsReported) {
    EXPECT_NE(broken(GetParam().make).find(GetParam().rule), std::string::npos)
        << broken(GetParam().make);
}
INSTANTIATE_TEST_SUITE_P(Rules, VerifyRule, testing::ValuesIn(kBroken));

/// A graph of `deep` branches inside one another.
std::string nested(int deep) {
    std::string text = "graph(%0: f32[4], %1: bool) {\n";
    for (int k = 0; k < deep; ++k) text += "%" + std::to_string(2 + k) + " = If %1 {\n";
    for (int k = deep - 1, node = 2 + deep; k >= 0; --k, ++node) {
        text += (k == deep - 1 ? "yield %0" : "yield %" + std::to_string(node - 1)) +
                "\n} else {\nyield %0\n}\n";
        text += "%" + std::to_string(node) + ": f32[4] = Result %" + std::to_string(2 + k) +
                " index=0\n";
    }
    return text + "return %" + std::to_string(1 + 2 * deep) + "\n}\n";
}

TEST(ParseError, BodiesTooDeepInsideOneAnother) {
    const std::string text = printed(nested(kMostNested));
    EXPECT_EQ(printed(text), text);
    EXPECT_NE(parse_error(nested(100'000)).find("expected at most 200 bodies inside one another"),
              std::string::npos);
}

}  // namespace
}  // namespace firn
