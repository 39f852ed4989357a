// Loops over tensors without elements.
#include <gtest/gtest.h>

#include "compiler/language.h"

namespace firn {
namespace {

// In an axis without elements every index lies outside: a neighbour needs no kernel of its own.
TEST(EmptyTensors, ReadNeighboursOfWhatALoopCarries) {
    SessionScope scope(Session::interpreter());
    Tensor x = tensor(std::vector<int>{}, {0}), y = index({0}, 0);
    while_([&] { return x == 0; },
           [&] {
               Tensor z = x;
               while_([&] { return index({0}, 0) < -1; },
                      [&] {
                          if_(1 <= z, [&] { continue_(); });
                          z = wrap(y)(index({0}, 0) + 1);
                          x(1) = 1;
                      },
                      {.max_steps = 2});
               y = y + 1;
           });
    EXPECT_TRUE(y.to_vector<int>().empty());
}

}  // namespace
}  // namespace firn
