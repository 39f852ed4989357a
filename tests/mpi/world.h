// The processes of the tests.
#pragma once
#include <firn/mpi.h>

namespace firn {

inline Communicator*& world_of_tests() {
    static Communicator* world = nullptr;
    return world;
}
inline Communicator& world() { return *world_of_tests(); }

}  // namespace firn
