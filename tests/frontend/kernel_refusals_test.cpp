// Kernels by hand that are refused.
#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class RefusedKernels : public OracleTest {};

TEST_F(RefusedKernels, ABarrierUnderABranch) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(f32, 8);
                         if_(i < 3, [&] { barrier(); });
                         c(i) = s(0);
                     });
                 }),
                 {"barrier", "if_", "differs among invocations", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedKernels, ABarrierInALoopThatSomeLeave) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(f32, 8);
                         for (Tensor k : loop(4)) {
                             barrier();
                             if_(i < k, [&] { break_(); });
                         }
                         c(i) = s(0);
                     });
                 }),
                 {"barrier", "break_", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedKernels, ABarrierUnderAConditionOfTheWholeGroupIsFine) {
    Tensor c = zeros({8}, i32);
    kernel({8}, {.group = {4}}, [&](Tensor i) {
        Shared s = shared(i32, 4);
        s(local_index(0)) = i;
        if_(group_index(0) == 1, [&] { barrier(); });
        barrier();
        c(i) = s(3 - local_index(0));
    });
    EXPECT_EQ(c.to_vector<int>(), (Ints{3, 2, 1, 0, 7, 6, 5, 4}));
}

TEST_F(RefusedKernels, AssigningATensorFromOutside) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] { kernel({8}, [&](Tensor i) { c = c + i; }); }),
                 {"store to it by index", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedKernels, AssigningANumberFromOutside) {
    Tensor s = 0;
    expect_parts(user_error([&] { kernel({8}, [&](Tensor i) { s += i; }); }),
                 {"zeros({1})", "atomic_add", "kernel_refusals_test.cpp"});
    expect_parts(user_error([&] { kernel({8}, [&](Tensor i) { atomic_add(s(0), i); }); }),
                 {"one number", "zeros({1})", "kernel_refusals_test.cpp"});
    expect_parts(user_error([&] { kernel({8}, [&](Tensor i) { atomic_add(s(ellipsis), i); }); }),
                 {"zeros({1})", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedKernels, SharedMemoryWithoutAGroup) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) {
                         Shared s = shared(f32, 8);
                         c(i) = s(0);
                     });
                 }),
                 {"shared", "group", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedKernels, OutsideAKernel) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] { barrier(); }), {"barrier: only inside kernel"});
    expect_parts(user_error([&] { atomic_add(c(0), 1); }),
                 {"atomic_add: only inside kernel", "scatter_add"});
}

TEST_F(RefusedKernels, WhatNeedsMoreThanOneDispatch) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) {
                         print_value(i);
                         c(i) = 1;
                     });
                 }),
                 {"print_value: not inside kernel", "kernel_refusals_test.cpp"});
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) { kernel({8}, [&](Tensor j) { c(j) = i; }); });
                 }),
                 {"inside another kernel", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedKernels, AKernelThatStoresNothing) {
    expect_parts(user_error([&] { kernel({8}, [&](Tensor) {}); }), {"stores nothing"});
}

TEST_F(RefusedKernels, GroupsOfOtherRank) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {4, 4}}, [&](Tensor i) { c(i) = 1; });
                 }),
                 {"a group of 2 axes"});
    expect_parts(user_error([&] { kernel({8}, {.group = {0}}, [&](Tensor i) { c(i) = 1; }); }),
                 {"a group of 0"});
}

class RefusedWhenCompiled : public ::testing::Test {
  protected:
    Session session_ = Session::interpreter();
    SessionScope scope_{session_};
};

TEST_F(RefusedWhenCompiled, TooMuchSharedMemory) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(f32, 100000);
                         s(i) = 1;
                         barrier();
                         c(i) = s(0);
                     });
                     c.to_vector<float>();
                 }),
                 {"shared arrays", "400000 bytes", "32768", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, TooLargeAGroup) {
    Tensor c = zeros({8});
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {2048}}, [&](Tensor i) { c(i) = 1; });
                     c.to_vector<float>();
                 }),
                 {"2048 invocations", "1024", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, WhatAnotherInvocationStoredWithoutABarrier) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, [&](Tensor i) {
                         c(i) = i;
                         c(i) = c(i + 1);
                     });
                     c.to_vector<int>();
                 }),
                 {"another invocation", "kernel(...) of its own", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, SharedMemoryReadWithoutABarrier) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(i32, 8);
                         s(i) = i;
                         c(i) = s(7 - i);
                     });
                     c.to_vector<int>();
                 }),
                 {"barrier()", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, PairsThatMeet) {
    Tensor c = zeros({8}, i32);
    auto read_after = [&](int step, int offset, int size) {
        return user_error([&] {
            kernel({8}, {.group = {8}}, [&](Tensor i) {
                Shared s = shared(i32, size);
                s(step * i) = i;
                c(i) = s(2 * i + offset);
            });
            c.to_vector<int>();
        });
    };
    EXPECT_EQ(read_after(2, 1, 16), "");
    EXPECT_EQ(read_after(2, -1, 16).find("barrier()") == std::string::npos,
              false);  // the first reads at the edge
    EXPECT_EQ(read_after(2, 2, 18).find("barrier()") == std::string::npos, false);
    EXPECT_EQ(read_after(3, 1, 32).find("barrier()") == std::string::npos, false);
    EXPECT_EQ(read_after(2, 1, 15).find("barrier()") == std::string::npos,
              false);  // the last reads at the edge
}

TEST_F(RefusedWhenCompiled, APromiseThatIsNotKept) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(i32, 8);
                         s(i) = i;
                         c(i) = own(s)(7 - i);
                     });
                     c.to_vector<int>();
                 }),
                 {"one invocation stores", "another reads", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, APromiseOutsideAKernel) {
    expect_parts(user_error([&] { own(zeros({4}))(0); }),
                 {"own", "kernel(...)", "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, AStoreToWhatAnotherInvocationMayStillRead) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(i32, 8);
                         s(i) = i;
                         barrier();
                         c(i) = s(7 - i);
                         s(i) = i * 2;
                         barrier();
                         c(i) = c(i) + s(i);
                     });
                     c.to_vector<int>();
                 }),
                 {"one invocation reads", "another stores", "without a barrier",
                  "kernel_refusals_test.cpp"});
}

TEST_F(RefusedWhenCompiled, TwoStoresToOnePlaceWithoutABarrier) {
    Tensor c = zeros({8}, i32);
    expect_parts(user_error([&] {
                     kernel({8}, {.group = {8}}, [&](Tensor i) {
                         Shared s = shared(i32, 8);
                         s(i) = i;
                         s(7 - i) = 2 * i;
                         barrier();
                         c(i) = s(i);
                     });
                     c.to_vector<int>();
                 }),
                 {"one invocation stores", "another stores", "without a barrier",
                  "kernel_refusals_test.cpp"});
}

}  // namespace
}  // namespace firn
