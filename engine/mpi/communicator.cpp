// Communicator: the processes that work together.
#include <utility>

#include "compiler/base/error.h"
#include "engine/mpi/group.h"
#include "firn/mpi.h"

namespace firn {

Communicator::Communicator(int& argc, char**& argv) {
    auto library = MpiLibrary::current();
    if (!library) library = MpiLibrary::begin(argc, argv);
    MPI_Comm own = MPI_COMM_NULL;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &own) != MPI_SUCCESS)
        throw DeviceError("Communicator: MPI makes no communicator of all processes");
    const int before = library->worlds++;
    group_ = make_group(std::move(library), own,
                        before == 0 ? "world" : "world " + std::to_string(before + 1));
    group_->is_world = true;
}

int Communicator::rank() const { return group_->rank; }
int Communicator::size() const { return group_->size; }
std::string Communicator::host() const { return group_->host; }

Communicator Communicator::split(int colour, int key) const {
    const std::string name = group_->name + "." + std::to_string(++group_->splits);
    check_alike(*group_, "split into " + name, "");
    MPI_Comm own = MPI_COMM_NULL;
    {
        const std::lock_guard lock(group_->library->mutex());
        check_mpi(*group_, MPI_Comm_split(group_->comm, colour, key, &own), "split");
    }
    return Communicator(make_group(group_->library, own, name));
}

void Communicator::barrier() const {
    MPI_Request request = MPI_REQUEST_NULL;
    {
        const std::lock_guard lock(group_->library->mutex());
        check_mpi(*group_, MPI_Ibarrier(group_->comm, &request), "barrier");
    }
    wait_for_others(*group_, "barrier", [&] {
        int done = 0;
        const std::lock_guard lock(group_->library->mutex());
        check_mpi(*group_, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "barrier");
        return done != 0;
    });
}

}  // namespace firn
