// Kernel code from texts: their meaning, and texts that are no kernel.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/kernel/place.h"
#include "compiler/language.h"
#include "compiler/mapping/mapping.h"
#include "compiler/plan/plan_kernel.h"

namespace firn {
namespace {

constexpr const char* kSaxpy = R"(kernel saxpy
  b0 f32[n] storage of 0
  b1 f32[n] storage written of 1
  p0 f32 argument 2
  x0 grid < n
{
  %0 = Load f32 b0 x0      # comments are skipped
  %1 = Mul f32 p0 %0
  %2 = Load f32 b1 x0
  %3 = Add f32 %1 %2
  ! %4 = Store f32 b1 x0 %3
}
)";

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
    std::vector<std::byte> out(4 * values.size());
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
    std::vector<float> out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

TEST(KernelText, RunsAsItIsWritten) {
    KernelCode code = parse_kernel(kSaxpy);
    verify(code, KernelStage::Lowered, "parse");
    place(code);
    std::vector<std::byte> x = bytes_of({1, 2, 3}), y = bytes_of({10, 20, 30});
    SizeEnv env;
    env["n"] = 3;
    interpret_kernel(code, {x, y}, {scalar_float(2, f32)}, env, 8);
    EXPECT_EQ(floats_of(y), (std::vector<float>{12, 24, 36}));
}

TEST(KernelText, LoopsAndBranchesRun) {
    KernelCode code = parse_kernel(R"(kernel sums
  b0 f32[8] storage of 0
  b1 f32[4] storage written of 1
  x0 grid < 4
  k1 serial < 8 count 8 most 8
{
  %0 = Less bool x0 3
  ! %1 = Branch %0 {
    %2 = For k1 0.0 {
      arg %3 f32
      %4 = Load f32 b0 k1
      %5 = Add f32 %3 %4
      yield %5
    }
    %6 = Result f32 %2
    ! %7 = Store f32 b1 x0 %6
  } else {
    ! %8 = Store f32 b1 x0 -1.0
  }
}
)");
    place(code);
    std::vector<std::byte> x = bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), y = bytes_of({0, 0, 0, 0});
    interpret_kernel(code, {x, y}, {}, {}, 8);
    EXPECT_EQ(floats_of(y), (std::vector<float>{36, 36, 36, -1}));
}

// The facts of a range that place() needs are in the text too.
TEST(KernelText, KeepsWhichLoopsAreRests) {
    const std::string head =
        "kernel x\n  b0 f32[8] storage of 0\n  b1 f32[4] storage written of 1\n  x0 grid < 4\n  k1 "
        "serial count p0 most 3";
    const std::string body = R"(
{
  %0 = For k1 0.0 {
    arg %1 f32
    %2 = Load f32 b0 x0
    %3 = Add f32 %1 %2
    yield %3
  }
  %4 = Result f32 %0
  ! %5 = Store f32 b1 x0 %4
}
)";
    const auto placed = [&](const std::string& rest) {
        const std::string declared = head + rest + "\n";
        KernelCode code =
            parse_kernel(declared.substr(0, declared.find("  x0")) + "  p0 i32 argument 0\n" +
                         declared.substr(declared.find("  x0")) + body.substr(1));
        code = parse_kernel(print(code));
        place(code);
        return code.regions.back().order.size();
    };
    EXPECT_EQ(placed(""), 1u);  // the load stands before the loop
    EXPECT_EQ(placed(" rest"), 2u);
}

TEST(KernelText, SaysWhereItIsNoKernel) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "line 0: expected 'kernel'"},
        {"program x\n", "expected 'kernel'"},
        {"kernel x\n", "expected a declaration"},
        {"kernel x\n{\n", "expected '}'"},
        {"kernel x\n{\n}\n}\n", "expected nothing after the kernel"},
        {"kernel x\n  b1 f32[4] storage of 0\n{\n}\n", "line 2: expected the next buffer in order"},
        {"kernel x\n  b0 f33[4] storage of 0\n{\n}\n", "expected a type"},
        {"kernel x\n  b0 f32[4] heap of 0\n{\n}\n", "expected where the buffer is"},
        {"kernel x\n  b0 f32[*] storage of 0\n{\n}\n", "expected a size"},
        {"kernel x\n  x0 circle < 4\n{\n}\n", "expected a kind of range"},
        {"kernel x\n{\n  %0 = Add i32 1 %1\n}\n", "there is no node %1 above"},
        {"kernel x\n{\n  %0 = Add i32 1 2\n  %0 = Add i32 1 2\n}\n",
         "line 4: this number is taken"},
        {"kernel x\n{\n  %0 = Jump i32 1\n}\n", "expected an operation"},
        {"kernel x\n{\n  %0 = Add i32 x0 1\n}\n", "there is no range x0"},
        {"kernel x\n{\n  %0 = Add i32 p0 1\n}\n", "there is no parameter p0"},
        {"kernel x\n{\n  %0 = Load i32 b0 1\n}\n", "expected a buffer"},
        {"kernel x\n{\n  %0 = Add i32x4 1 2\n}\n", "expected a type without a width"},
        {"kernel x\n{\n  %0 = Add i32 one 1\n}\n", "expected a value instead of 'one'"},
        {"kernel x\n{\n  %0 = For k0 1 {\n  }\n}\n", "expected a range"},
        {"kernel x\n  leaves %0 1.0 foo\n{\n}\n", "expected ',', 'in' or 'mod' instead of 'foo'"},
        {"kernel x\n  leaves %0 1 in\n{\n}\n", "expected two numbers"},
        {"kernel x\n  leaves %1000000000 1,\n{\n}\n", "expected the number of a node"},
        {"kernel x\n  x2000000000 grid < 4\n{\n}\n", "expected a declaration"},
        {"kernel x\n  leaves %0 1,\n{\n  %1 = Add i32 1 2\n}\n", "'leaves' has no number for 2"},
        {"kernel x\n{\n  %99999999999 = Add i32 1 2\n}\n", "expected the number of a node"},
    };
    for (const auto& [text, message] : cases) {
        try {
            parse_kernel(text);
            ADD_FAILURE() << text;
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos)
                << text << error.what();
        }
    }
}

void expect_broken(const std::string& text, KernelStage stage, const char* rule) {
    try {
        verify(parse_kernel(text), stage, "a test");
        ADD_FAILURE() << text;
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find(rule), std::string::npos) << error.what();
    }
}

TEST(KernelVerifier, FindsWhatNoStageMayLeave) {
    const std::string head =
        "kernel x\n  b0 f32[4] storage of 0\n  b1 f32[4] storage written of 1\n  x0 grid < 4\n  k1 "
        "serial count 4\n";
    const std::string store = "  ! %9 = Store f32 b1 x0 1.0\n}\n";
    expect_broken(head + "{\n  %0 = Add f32 1.0\n" + store, KernelStage::Lowered,
                  "wrong number of operands");
    expect_broken(head + "{\n  %0 = Select f32 true 1.0 1\n" + store, KernelStage::Lowered,
                  "different types");
    expect_broken(head + "{\n  ! %0 = Store f32 b0 x0 1.0\n}\n", KernelStage::Lowered,
                  "writes a read-only buffer");
    expect_broken(head + "{\n  ! %0 = Store f32x4 b1 x0 1.0\n}\n", KernelStage::Lowered,
                  "another number of values");
    expect_broken(head + "{\n  %0 = For k1 0.0 {\n    arg %1 f32\n  }\n" + store,
                  KernelStage::Lowered, "another number of initial values");
    expect_broken(head + "{\n  %0 = For k1 0.0 {\n    arg %1 i32\n    yield %1\n  }\n" + store,
                  KernelStage::Lowered, "types differ");
}

TEST(KernelVerifier, FindsAttributesThatOperationsDoNotHave) {
    const auto expect_attribute = [](KernelOp op, const KernelAttr& attr) {
        KernelCode code = parse_kernel(kSaxpy);
        for (KernelNode& n : code.nodes)
            if (n.op == op) n.attr = attr;
        try {
            verify(code, KernelStage::Lowered, "a test");
            ADD_FAILURE() << info(op).name;
        } catch (const InternalError& error) {
            EXPECT_NE(std::string(error.what()).find("the attribute of its operation"),
                      std::string::npos)
                << error.what();
        }
    };
    expect_attribute(KernelOp::Mul, ParamAttr{0});
    expect_attribute(KernelOp::Load, LaneAttr{0});
    expect_attribute(KernelOp::Store, {});
    expect_attribute(KernelOp::Range, scalar_int(0));
}

TEST(KernelVerifier, FindsWhatMappingMayNotLeave) {
    const std::string grid =
        "kernel x\n  b0 f32[4] storage written of 0\n  x0 grid < 4\n{\n  ! %0 = Store f32 b0 x0 "
        "1.0\n}\n";
    EXPECT_NO_THROW(verify(parse_kernel(grid), KernelStage::Lowered, "a test"));
    expect_broken(grid, KernelStage::Mapped, "still of the kind grid");
}

TEST(KernelVerifier, FindsValuesThatAreAskedWhereTheyAreNotKnown) {
    const std::string head =
        "kernel x\n  placed\n  b0 f32[4] storage written of 0\n  t0 invocation < 4\n  k1 serial "
        "count 4\n{\n  %0 = Less bool t0 2\n";
    expect_broken(
        head +
            "  ! %1 = Branch %0 {\n    %2 = Add i32 t0 1\n    ! %3 = Store f32 b0 %2 1.0\n  }\n"
            "  ! %4 = Store f32 b0 %2 1.0\n}\n",
        KernelStage::Placed, "asks for node");
    expect_broken(head + "  ! %4 = Store f32 b0 k1 1.0\n}\n", KernelStage::Placed,
                  "(Range), which is not known there");
}

/// Mapping a kernel read from a lowered kernel's text gives the GLSL of the kernel itself.
void expect_same_glsl(const DeviceProfile& profile,
                      const std::function<Tensor(Tensor, Tensor)>& function,
                      const std::vector<ArgSpec>& specs) {
    SessionScope scope(Session::interpreter(profile));
    const auto program =
        compile([&](const std::vector<Tensor>& args) { return function(args[0], args[1]); }, specs)
            .program();
    int compared = 0;
    for_dispatches(program->steps, [&](const DispatchStep& step) {
        const KernelInfo& kernel = program->kernels[static_cast<size_t>(step.kernel)];
        const std::string text = kernel_info(*kernel.code, profile).artefact.text;
        EXPECT_EQ(kernel_info(parse_kernel(print(*kernel.code)), profile).artefact.text, text);
        ++compared;
        if (!step.lowered) return;
        const KernelCode again = map_kernel(parse_kernel(print(*step.lowered)),
                                            *parse_mapping(kernel.mapping), profile, {});
        EXPECT_EQ(kernel_info(again, profile).artefact.text, text);
    });
    EXPECT_GT(compared, 0);
}

TEST(KernelText, KeepsWhatCodeIsMadeOf) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        expect_same_glsl(profile, [](Tensor a, Tensor b) { return matmul(a, b); },
                         {f32(64, 96), f32(96, 32)});
        expect_same_glsl(profile, [](Tensor a, Tensor b) { return softmax(a + b); },
                         {f32(10, 999), f32(10, 999)});
        expect_same_glsl(profile, [](Tensor a, Tensor b) { return conv2d(a, b); },
                         {f32(1, 3, 16, 16), f32(4, 3, 3, 3)});
        expect_same_glsl(profile,
                         [](Tensor a, Tensor b) {
                             auto [i, j] = indices<2>(a.shape());
                             return 0.5f * (a(i - 1, j) + a(i, j + 1)) + b;
                         },
                         {f32(40, 60), f32(40, 60)});
        expect_same_glsl(profile,
                         [](Tensor a, Tensor b) {
                             Tensor z = a;
                             for (Tensor t : loop(50)) {
                                 if_(abs(z) > 2.0f, [&] { break_(); });
                                 z = z * z + sin(b);
                             }
                             return z;
                         },
                         {f32(64), f32(64)});
        expect_same_glsl(profile,
                         [](Tensor a, Tensor b) {
                             kernel({256}, {.group = {64}}, [&](Tensor i) {
                                 Shared tile = shared(f32, {64});
                                 tile(63 - local_index(0)) = a(i);
                                 barrier();
                                 b(i) = tile(local_index(0)) + subgroup_add(a(i));
                             });
                             return b;
                         },
                         {f32(256), f32(256)});
    }
}

}  // namespace
}  // namespace firn
