// A group of processes of MPI, and waits with a limit.
#include "engine/mpi/group.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// A wait looks so often before it leaves the processor to others, and sleeps so long when it has
/// looked 20 times as often.
constexpr int kLooksBefore = 2000;
constexpr std::chrono::microseconds kSleep{50};
constexpr size_t kTextOfACheck = 400;
constexpr double kDefaultSeconds = 300;
/// For messages under way when a run ends by an error.
constexpr double kSecondsToEnd = 10;

std::weak_ptr<MpiLibrary>& library_in_use() {
    static std::weak_ptr<MpiLibrary> library;
    return library;
}

std::terminate_handler& handler_before() {
    static std::terminate_handler handler = nullptr;
    return handler;
}

std::string host_name() {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    return {name, static_cast<size_t>(length)};
}

/// An exception that nothing catches ends this process alone, and the others would wait.
[[noreturn]] void end_all_processes() {
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    int rank = 0;
    std::string host = "this machine";
    if (began && !ended) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        host = host_name();
    }
    std::string what = "an unknown exception";
    try {
        if (const auto error = std::current_exception()) std::rethrow_exception(error);
    } catch (const std::exception& error) {
        what = error.what();
    } catch (...) {
    }
    std::fprintf(stderr, "rank %d on %s ends all processes: %s\n", rank, host.c_str(),
                 what.c_str());
    std::fflush(stderr);
    if (began && !ended) MPI_Abort(MPI_COMM_WORLD, 1);
    if (handler_before()) handler_before()();
    std::abort();
}

double seconds_from_environment() {
    const char* text = std::getenv("FIRN_MPI_SECONDS");
    if (!text || !*text) return kDefaultSeconds;
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    if (*end != '\0' || !(seconds > 0))
        throw UserError(std::string("FIRN_MPI_SECONDS is '") + text +
                        "'; it is how many seconds a process waits for the others, such as 300");
    return seconds;
}

}  // namespace

std::shared_ptr<MpiLibrary> MpiLibrary::current() { return library_in_use().lock(); }

std::shared_ptr<MpiLibrary> MpiLibrary::begin(int& argc, char**& argv) {
    auto library = std::make_shared<MpiLibrary>(argc, argv);
    library_in_use() = library;
    return library;
}

MpiLibrary::MpiLibrary(int& argc, char**& argv) {
    int began = 0, ended = 0, given = 0;
    MPI_Initialized(&began);
    MPI_Finalized(&ended);
    if (ended)
        throw UserError(
            "Communicator: MPI has ended in this process, and begins only once; keep the first "
            "Communicator until main returns");
    if (began) {
        MPI_Query_thread(&given);
    } else {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
        began_ = true;
    }
    if (given < MPI_THREAD_SERIALIZED) {
        if (began_) MPI_Finalize();
        throw UserError(
            "Communicator: this MPI may be called by one thread alone, and Firn calls it by one "
            "after the other; use an MPI with MPI_THREAD_SERIALIZED");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // of requests of all groups
    handler_before() = std::set_terminate(end_all_processes);
}

MpiLibrary::~MpiLibrary() {
    std::set_terminate(handler_before());
    if (!began_) return;
    // The others may wait for what this process will not do any more.
    if (std::uncaught_exceptions() > 0) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::fprintf(stderr, "rank %d on %s ends all processes, by an error\n", rank,
                     host_name().c_str());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}

std::string MpiGroup::about(const std::string& what) const {
    return "rank " + std::to_string(rank) + " of " + std::to_string(size) + " on " + host + ", " +
           what;
}

MpiGroup::~MpiGroup() {
    if (std::uncaught_exceptions() > 0) return;
    // Processes end together, or one is missing.
    try {
        if (is_world) check_alike(*this, "the end of the program", "");
    } catch (const std::exception& error) {
        end_all(*this, error.what());
    }
    const std::lock_guard lock(library->mutex());
    MPI_Comm_free(&checks);
    MPI_Comm_free(&comm);
}

std::shared_ptr<MpiGroup> make_group(std::shared_ptr<MpiLibrary> library, MPI_Comm comm,
                                     const std::string& name) {
    auto group = std::make_shared<MpiGroup>();
    const std::lock_guard lock(library->mutex());
    group->name = name;
    group->most_seconds = seconds_from_environment();
    group->library = std::move(library);
    group->comm = comm;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_dup(comm, &group->checks);
    MPI_Comm_set_errhandler(group->checks, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &group->rank);
    MPI_Comm_size(comm, &group->size);
    group->host = host_name();
    return group;
}

void check_mpi(const MpiGroup& group, int code, const std::string& what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw DeviceError(group.about(what) + ": MPI says " +
                      std::string(text, static_cast<size_t>(length)));
}

void end_all(const MpiGroup& group, const std::string& why) {
    std::fprintf(stderr, "%s\n", group.about(why).c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

void wait_for_others(const MpiGroup& group, const std::string& what,
                     const std::function<bool()>& is_done, double most_seconds) {
    const double most = most_seconds > 0 ? most_seconds : group.most_seconds;
    const auto begin = std::chrono::steady_clock::now();
    for (int looks = 0; !is_done(); ++looks) {
        if (looks < kLooksBefore) continue;
        if (looks < 20 * kLooksBefore)
            sched_yield();
        else
            std::this_thread::sleep_for(kSleep);
        if (looks % 256 != 0) continue;
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
        if (waited.count() > most)
            end_all(group, what + ": waited " + std::to_string(static_cast<int>(waited.count())) +
                               " s for the others and ends all processes (FIRN_MPI_SECONDS)");
    }
}

MpiWork::~MpiWork() {
    if (!done_) wait(std::min(kSecondsToEnd, group_->most_seconds));
}

MPI_Request* MpiWork::add() {
    // Addresses must stay while requests are begun.
    if (requests_.capacity() == 0) requests_.reserve(16);
    ensure(requests_.size() < requests_.capacity(), "an operation has too many messages");
    return &requests_.emplace_back(MPI_REQUEST_NULL);
}

/// An error of MPI leaves messages open, and so ends all processes.
bool MpiWork::is_complete() {
    int done = 0;
    const std::lock_guard lock(group_->library->mutex());
    const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                                 MPI_STATUSES_IGNORE);
    try {
        check_mpi(*group_, code, what_);
    } catch (const DeviceError& error) {
        end_all(*group_, error.what());
    }
    return done != 0;
}

void MpiWork::wait(double most_seconds) {
    wait_for_others(
        *group_, what_, [this] { return is_complete(); }, most_seconds);
    done_ = true;
}

bool MpiWork::proceeds() { return done_ || is_complete(); }

void MpiWork::finish() {
    if (!done_) wait(group_->most_seconds);
}

void check_alike(MpiGroup& group, const std::string& what, const std::string& line) {
    if (group.size == 1) return;
    {
        const std::lock_guard lock(group.mutex);
        if (group.checked.contains(what)) return;
    }
    std::string own = what.substr(0, kTextOfACheck - 1);
    own.resize(kTextOfACheck, '\0');
    std::string all(kTextOfACheck * static_cast<size_t>(group.size), '\0');
    MPI_Request request = MPI_REQUEST_NULL;
    {
        const std::lock_guard lock(group.library->mutex());
        check_mpi(group,
                  MPI_Iallgather(own.data(), static_cast<int>(kTextOfACheck), MPI_CHAR, all.data(),
                                 static_cast<int>(kTextOfACheck), MPI_CHAR, group.checks, &request),
                  what);
    }
    wait_for_others(group, what + in_line(line), [&] {
        int done = 0;
        const std::lock_guard lock(group.library->mutex());
        check_mpi(group, MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        return done != 0;
    });
    for (int other = 0; other < group.size; ++other) {
        const std::string theirs(all.c_str() + kTextOfACheck * static_cast<size_t>(other));
        if (theirs == own.c_str()) continue;
        throw UserError("the processes do not do the same: rank " + std::to_string(group.rank) +
                        " calls " + what + " and rank " + std::to_string(other) + " " + theirs +
                        in_line(line));
    }
    const std::lock_guard lock(group.mutex);
    group.checked.insert(what);
}

std::string in_line(const std::string& line) { return line.empty() ? "" : " (" + line + ")"; }

MpiElements elements_of(DType dtype) {
    if (dtype == f32) return {MPI_FLOAT};
    if (dtype == f64) return {MPI_DOUBLE};
    if (dtype == i32) return {MPI_INT32_T};
    if (dtype == u32) return {MPI_UINT32_T};
    if (dtype == i64) return {MPI_INT64_T};
    if (dtype == u64) return {MPI_UINT64_T};
    if (dtype == i16) return {MPI_INT16_T};
    if (dtype == u16) return {MPI_UINT16_T};
    if (dtype == i8) return {MPI_INT8_T};
    if (dtype == u8) return {MPI_UINT8_T};
    if (dtype.is_bool() && dtype.bytes() == 4) return {MPI_UINT32_T};
    return {MPI_BYTE, dtype.bytes()};  // halves: as bytes, and computed in f32
}

int mpi_count(int64_t elements, const std::string& what) {
    if (elements > INT32_MAX)
        throw UserError(what + ": " + std::to_string(elements) +
                        " elements are more than a message of MPI has; send parts of them");
    return static_cast<int>(elements);
}

}  // namespace firn
