// A program whose second process ends as its argument says, while the first waits for it.
#include <firn/firn.h>
#include <firn/mpi.h>

#include <csignal>
#include <cstdio>
#include <string>

using namespace firn;

int main(int argc, char** argv) {
    Communicator world(argc, argv);
    SessionScope scope(Session::oracle());
    const std::string how = argc > 1 ? argv[1] : "";
    std::printf("%g\n", double(all_reduce(ones({2}), world).to_vector<float>()[0]));
    if (world.rank() == 1) {
        if (how == "throw") throw UserError("the disk is full (wave.cpp:12)");
        if (how == "kill") std::raise(SIGKILL);
        if (how == "return") return 0;
    }
    all_reduce(zeros({3}), world).to_vector<float>();
    return 0;
}
