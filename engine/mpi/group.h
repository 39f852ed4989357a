// A group of processes of MPI, and waits with a limit.
#pragma once
#include <mpi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "compiler/program/host_operation.h"

namespace firn {

/// MPI as long as somebody uses it.
class MpiLibrary {
  public:
    MpiLibrary(int& argc, char**& argv);
    ~MpiLibrary();
    MpiLibrary(const MpiLibrary&) = delete;
    MpiLibrary& operator=(const MpiLibrary&) = delete;
    /// The library that is in use, null where none is.
    static std::shared_ptr<MpiLibrary> current();
    /// Begins MPI.
    static std::shared_ptr<MpiLibrary> begin(int& argc, char**& argv);
    /// Threads call MPI one after the other.
    std::mutex& mutex() { return mutex_; }
    int worlds = 0;  // communicators of all processes that were made

  private:
    std::mutex mutex_;
    bool began_ = false;  // by us
};

/// See Communicator.
struct MpiGroup {
    std::shared_ptr<MpiLibrary> library;
    MPI_Comm comm = MPI_COMM_NULL, checks = MPI_COMM_NULL;  // of data, and of comparisons
    int rank = 0, size = 1;
    std::string name;  // the same in all of its processes: `world`, `world.1`
    std::string host;
    bool is_world = false;      // all processes: they end together
    double most_seconds = 300;  // of a wait
    std::mutex mutex;
    std::set<std::string> checked;  // what all are known to call alike
    int next_tag = 0;               // of a message: all processes count alike
    int splits = 0;

    ~MpiGroup();
    /// `all_reduce (wave.cpp:12)` and such, with rank and host.
    std::string about(const std::string& what) const;
};

/// The group of a communicator, which becomes its own.
std::shared_ptr<MpiGroup> make_group(std::shared_ptr<MpiLibrary> library, MPI_Comm comm,
                                     const std::string& name);

/// The tag of the group's next messages between processes, the same in all.
int message_tag(MpiGroup& group);

/// Throws DeviceError where MPI has refused.
void check_mpi(const MpiGroup& group, int code, const std::string& what);
/// Prints a line, and ends all processes.
[[noreturn]] void end_all(const MpiGroup& group, const std::string& why);

/// Requests of one operation, that write to memory of the caller.
class MpiWork : public HostWork {
  public:
    MpiWork(std::shared_ptr<MpiGroup> group, std::string what)
        : group_(std::move(group)), what_(std::move(what)) {}
    /// Where requests are open, messages still come to its memory: it gives the others some seconds
    /// to do their part, and ends all processes then.
    ~MpiWork() override;
    /// The next request.
    MPI_Request* add();
    bool proceeds() override;
    void finish() override;

  private:
    bool is_complete();
    void wait(double most_seconds);

    std::shared_ptr<MpiGroup> group_;
    std::string what_;
    std::vector<MPI_Request> requests_;
    bool done_ = false;
};

/// Waits until `is_done`, with the processor left to others, and ends all processes after so many
/// seconds; 0: the group's limit.
void wait_for_others(const MpiGroup& group, const std::string& what,
                     const std::function<bool()>& is_done, double most_seconds = 0);

/// ` (wave.cpp:12)`, or nothing.
std::string in_line(const std::string& line);

/// Compares what the processes are about to do, once for each text of `what`. Throws UserError that
/// names two ranks and their texts where they differ.
void check_alike(MpiGroup& group, const std::string& what, const std::string& line);

/// Elements of a type as MPI has them.
struct MpiElements {
    MPI_Datatype type = MPI_BYTE;
    int each = 1;  // of them in an element
};
MpiElements elements_of(DType dtype);
/// A count of MPI. Throws UserError where there are too many elements for it.
int mpi_count(int64_t elements, const std::string& what);

}  // namespace firn
