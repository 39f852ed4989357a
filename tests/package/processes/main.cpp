// Sums over the processes.
#include <firn/firn.h>
#include <firn/mpi.h>

int main(int argc, char** argv) {
    firn::Communicator world(argc, argv);
    firn::SessionScope scope(firn::Session::oracle());
    const firn::Tensor sum = firn::all_reduce(firn::ones({2}), world);
    return sum.to_vector<float>()[0] == static_cast<float>(world.size()) ? 0 : 1;
}
