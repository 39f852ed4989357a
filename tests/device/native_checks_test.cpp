// Native code that checks its accesses: what is outside ends the call, and what is inside runs.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "compiler/program/make_call.h"
#include "compiler/program/native_abi.h"
#include "compiler/program/outside_access.h"
#include "tests/device/native_levels.h"

namespace firn {
namespace {

class NativeChecks : public NativeLevel {
  protected:
    static Session checked() {
        const Session session = cpu_session();
        session.check_promises(true);
        return session;
    }
};
INSTANTIATE_TEST_SUITE_P(Levels, NativeChecks, native_levels(), level_name);

template <class Error, class F>
std::string error_of(const F& run) {
    try {
        run();
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

/// Calls a program with tensors of f32; a tensor has the elements 0, 1, 2 and so on.
struct Called {
    Call call;

    Called(Executor& executor, const std::shared_ptr<const Program>& program) {
        std::vector<std::shared_ptr<Memory>> arguments;
        std::vector<std::vector<int64_t>> shapes;
        for (const ArgumentInfo& argument : program->arguments) {
            std::vector<int64_t> shape;
            for (const Size& size : argument.shape) shape.push_back(size.constant());
            const int64_t count =
                std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
            std::vector<float> values(static_cast<size_t>(count));
            std::iota(values.begin(), values.end(), 0.0f);
            arguments.push_back(
                executor.allocate(static_cast<uint64_t>(count * 4 + 15) / 16 * 16, "x"));
            executor.write(*arguments.back(), 0, std::as_bytes(std::span(values)));
            shapes.push_back(shape);
        }
        call = make_call(executor, *program, arguments, shapes,
                         std::vector<Scalar>(program->arguments.size()));
        executor.run(program, call);
    }
};

/// What a call says where a buffer has `missing` elements fewer than its kernels take it to have:
/// the first argument or the first result.
std::string with_less(const Session& session, const Function& f, bool argument, int missing) {
    auto program = std::make_shared<Program>(*f.program());
    const int buffer = argument ? program->arguments.at(0).buffer : program->results.at(0).buffer;
    BufferInfo& shorter = program->buffers[static_cast<size_t>(buffer)];
    shorter.elements = shorter.elements - Size(missing);
    return error_of<OutsideAccess>([&] { Called(session.executor(), program); });
}

/// The last element and no other lies outside a buffer that lacks one.
void expect_ends(const Session& session, const Function& f, bool argument, const char* access,
                 int64_t elements) {
    EXPECT_EQ(with_less(session, f, argument, 0), "(no error)") << elements;
    expect_parts(with_less(session, f, argument, 1),
                 {"kernel '", "of program '", std::string(access) + " element ",
                  "element " + std::to_string(elements - 1) + ", byte " +
                      std::to_string(4 * elements - 4) + " of tensor '",
                  "f32)",
                  "which has " + std::to_string(elements - 1) + " elements, " +
                      std::to_string(4 * elements - 4) + " bytes"});
}

TEST_P(NativeChecks, RowsEndWithTheirTensor) {
    const Session session = checked();
    SessionScope scope(session);
    for (const int64_t n : {1, 2, 7, 16, 33, 64, 100, 4097}) {
        const Function f = compile([](Tensor x) { return 2 * x + 1; }, {f32(Size(n))});
        expect_ends(session, f, false, "stores to", n);
        // A kernel may load what is not used of an empty tensor.
        if (n > 1) expect_ends(session, f, true, "loads", n);
    }
    for (const int64_t m : {1, 3, 17, 40}) {
        const Function f =
            compile([](Tensor x) { return transpose(x) + 1; }, {f32(Size(5), Size(m))});
        expect_ends(session, f, false, "stores to", 5 * m);
        expect_ends(session, f, true, "loads", 5 * m);
    }
}

TEST_P(NativeChecks, EachOfNeighboursThatALaneLoadsTogether) {
    const Session session = checked();
    SessionScope scope(session);
    for (const int count : {2, 3, 4}) {
        const Function f = compile(
            [=](Tensor x, Tensor at) {
                const Tensor first = at.as(i32);
                Tensor sum = x(first);
                for (int k = 1; k < count; ++k) sum = 2 * sum + x(first + k);
                return sum;
            },
            {f32(Size(63 + count)), f32(Size(64))});
        EXPECT_NE(f.program()->kernels.at(0).artefact.text.find("label %neighbours"),
                  std::string::npos);
        expect_ends(session, f, true, "loads", 63 + count);
    }
}

/// Has the atomics of a program combine with a buffer of so many elements.
std::shared_ptr<Program> with_atomics_on(const Program& given, int64_t elements) {
    auto program = std::make_shared<Program>(given);
    for_dispatches(program->steps, [&](DispatchStep& step) {
        const KernelInfo& kernel = program->kernels[static_cast<size_t>(step.kernel)];
        if (kernel.artefact.text.find("atomicrmw") == std::string::npos) return;
        for (size_t k = 0; k < step.buffers.size(); ++k) {
            if (!kernel.bindings[k].written) continue;
            BufferInfo other = program->buffers[static_cast<size_t>(step.buffers[k])];
            other.role = BufferRole::Temporary, other.elements = Size(elements);
            step.buffers[k] = static_cast<int>(program->buffers.size());
            program->buffers.push_back(other);
        }
    });
    return program;
}

TEST_P(NativeChecks, AtomicsEndWithTheirTensor) {
    const Session session = checked();
    SessionScope scope(session);
    const Function f = compile(
        [](Tensor x) {
            Tensor counts = zeros({10}, i32);
            kernel({100}, [&](Tensor i) { atomic_add(counts(x(i).as(i32) % 10), 1); });
            return counts;
        },
        {f32(100)});
    const auto said = [&](int64_t elements) {
        const auto program = with_atomics_on(*f.program(), elements);
        return error_of<OutsideAccess>([&] { Called(session.executor(), program); });
    };
    EXPECT_EQ(said(10), "(no error)");
    expect_parts(said(9), {"combines with element 9, byte 36 of tensor '", "i32)",
                           "which has 9 elements, 36 bytes"});
}

TEST_P(NativeChecks, ABrokenPromiseNamesTheElementAndTheLine) {
    const Session session = checked();
    SessionScope scope(session);
    const Tensor x = small_numbers({Size(50)}, f32);
    const auto read = [&](const std::vector<int>& at) {
        Tensor c = zeros({int(at.size())});
        const Tensor places = tensor(at);
        const Size n(int64_t(at.size()));
        kernel({n}, [&](Tensor i) { c(i) = unchecked(x)(places(i)); });
        return c.to_vector<float>();
    };
    std::vector<int> at(40, 7);
    at[0] = 49, at[39] = 0;
    EXPECT_EQ(read(at)[0], float(49 * 7 % 101));
    for (const int outside : {50, -1, 1 << 20, -(1 << 28), INT32_MAX, INT32_MIN}) {
        at[13] = outside;
        const std::string said = error_of<UserError>([&] { read(at); });
        expect_parts(said, {"unchecked: it promises that every index is inside",
                            "loads element " + std::to_string(outside) + ", byte " +
                                std::to_string(4 * int64_t(outside)) + " of tensor '",
                            "which has 50 elements, 200 bytes", "native_checks_test.cpp:"});
    }
    at[13] = 1;
    EXPECT_EQ(read(at)[13], 7.0f) << "the session goes on";
}

TEST_P(NativeChecks, OwnArraysAreChecked) {
    const Session session = checked();
    SessionScope scope(session);
    const auto read = [&](int offset, bool is_shared) {
        Tensor c = zeros({64}, i32);
        kernel({64}, {.group = {32}}, [&](Tensor i) {
            const Tensor lane = local_index(0);
            if (is_shared) {
                Shared tile = shared(i32, 32);
                tile(lane) = i;
                barrier();
                c(i) = own(tile)(31 - lane);
            } else {
                Local row = local(i32, 8);
                for (Tensor k : loop(8)) row(k) = i * k;
                c(i) = row((lane + offset) % 8);
            }
        });
        return c.to_vector<int>();
    };
    EXPECT_EQ(read(0, true)[0], 31);
    EXPECT_EQ(read(3, false)[1], 4);
}

/// Loads at edges, lanes that do not run, packed operands, shared memory, atomics.
std::vector<Tensor> inside(int width) {
    const Tensor x = small_numbers({Size(7), Size(width)}, f32);
    auto [i, j] = indices<2>(x.shape());
    std::vector<Tensor> out{
        x(i, j - 2) + x(i + 2, clamp(j + 5, 2, 9)),
        zero(x)(i - 1, j + 9) + select(j < 5, x(i, j + 3), 9),
        wrap(x)(i, j - 2) + mirror(x)(i - 1, j + 4),
        concat({x, zeros({7, 0}), x}, {.axis = 1}),
        cumsum(x, {.axis = 1}),
        matmul(transpose(x), x),
        sort(x, {.axis = 1}),
    };
    Tensor y = x, k = zeros(x.shape(), i32);
    while_([&] { return k < x.as(i32) % 7; },
           [&] {
               y += x(i, j + k - 3) + zero(x)(i, j - 30);
               k += 1;
           });
    out.push_back(y);
    Tensor counts = zeros({13}, i32);
    scatter_add(counts(x.as(i32) - 2), 1);
    out.push_back(counts);
    return out;
}

TEST_P(NativeChecks, WhatIsInsideRuns) {
    for (const int width : {0, 3, 33}) {
        std::vector<std::vector<double>> expected, got;
        for (const bool oracle : {true, false}) {
            SessionScope scope(oracle ? Session::oracle() : checked());
            for (const Tensor& each : inside(width))
                (oracle ? expected : got).push_back(each.to_vector<double>());
        }
        EXPECT_EQ(got, expected) << width;
    }
}

TEST_P(NativeChecks, WithoutTheOptionNothingIsChecked) {
    SessionScope scope(cpu_session());
    current_session().check_promises(false);
    const auto function = [](Tensor x) { return 2 * x + 1; };
    const auto format = [&] {
        return compile(function, {f32(100)}).program()->kernels[0].artefact.format;
    };
    EXPECT_EQ(format(), kNativeFormat);
    current_session().check_promises(true);
    EXPECT_EQ(format(), kCheckedFormat);
    current_session().check_promises(false);
    EXPECT_EQ(format(), kNativeFormat);
}

}  // namespace
}  // namespace firn
