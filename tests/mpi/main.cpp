// All processes run the tests in one order, and each says what failed in it.
#include <gtest/gtest.h>

#include "tests/mpi/world.h"

int main(int argc, char** argv) {
    firn::Communicator world(argc, argv);
    firn::world_of_tests() = &world;
    ::testing::InitGoogleTest(&argc, argv);
    // One of them is enough to say what passed.
    if (world.rank() > 0) GTEST_FLAG_SET(brief, true);
    const int status = RUN_ALL_TESTS();
    firn::world_of_tests() = nullptr;
    return status;
}
