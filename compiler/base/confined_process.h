// ConfinedProcess runs work in a child process, so that a crash there does not end this process.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "compiler/base/own_process.h"

namespace firn {

/// The longest message, in bytes, between the two processes.
constexpr size_t kLongestMessage = size_t{1} << 16;

/// Memory that two processes share. It cannot shrink or grow, even if the other process tries.
class SharedMemory {
  public:
    /// New memory of zeros. std::bad_alloc where the system has none.
    explicit SharedMemory(size_t bytes);
    SharedMemory(SharedMemory&& from) noexcept
        : descriptor_(std::exchange(from.descriptor_, -1)),
          size_(from.size_),
          at_(std::exchange(from.at_, nullptr)) {}
    ~SharedMemory();

    /// Its bytes, in this process from the first call on. std::bad_alloc.
    std::span<std::byte> bytes();

  private:
    friend class ParentLink;
    friend class ConfinedProcess;
    SharedMemory(int descriptor, size_t bytes) : descriptor_(descriptor), size_(bytes) {}
    int descriptor_;
    size_t size_;
    void* at_ = nullptr;
};

/// The connection of a ConfinedProcess to its parent, for its work.
class ParentLink {
  public:
    /// Returns the next message of the parent; none once the parent wants no more.
    std::optional<std::string> receive();
    /// Returns the memory that the parent sends next.
    SharedMemory receive_memory(size_t bytes);
    /// Sends at most kLongestMessage bytes; the rest of a longer message is cut off.
    void send(const std::string& message);
    /// Limits this process to `bytes` more address space than it began with; allocations beyond
    /// that are std::bad_alloc, or null from malloc.
    void limit_memory(uint64_t bytes);

  private:
    friend class ConfinedProcess;
    explicit ParentLink(int socket);
    int socket_;
    uint64_t address_space_;  // at its beginning; 0: unknown
};

/// The time for which a ConfinedProcess may work without a message before it is ended. The defaults
/// are not measured.
struct ReplyTimeout {
    double processor_seconds = 60;  ///< of the processor, so that a busy machine ends nothing
    double seconds = 600;           ///< in which it waits, as for a disk
};

/// The end of a ConfinedProcess that was not asked for; what() is the reason, for a sentence.
struct ProcessEnded : std::runtime_error {
    enum class Why { NotStarted, Broke, Late };
    ProcessEnded(const std::string& reason, Why reason_class)
        : std::runtime_error(reason), why(reason_class) {}
    Why why;
};

/// A child of fork() that runs `work`, and ends where `work` returns or this is destroyed. It has
/// a copy of this process and none of its threads, terminal, descriptors or handlers of signals;
/// nothing that this process does at its end runs there. It makes no core file, writes to no file,
/// gains no privileges, ends with the thread that made it, and is the first to go where memory is
/// short. Its messages may be forged, so the receiver checks them.
class ConfinedProcess {
  public:
    using Work = std::function<void(ParentLink&)>;
    /// ProcessEnded where the system starts none.
    explicit ConfinedProcess(const Work& work, const ReplyTimeout& timeout = {});
    ~ConfinedProcess();
    ConfinedProcess(const ConfinedProcess&) = delete;
    ConfinedProcess& operator=(const ConfinedProcess&) = delete;

    /// Sends at most kLongestMessage bytes. ProcessEnded where it is no more.
    void send(const std::string& message);
    void send(const SharedMemory& memory);
    /// Returns its next message. `while_waiting` is called several times a second, and may throw.
    /// ProcessEnded if it has ended, or if its ReplyTimeout is over.
    std::string receive(const std::function<void()>& while_waiting);
    /// Its number, for tests.
    pid_t id() const { return id_; }

  private:
    [[noreturn]] static void run(const Work& work, int socket, pid_t parent);
    [[noreturn]] void end_late(double seconds, const char* of_what);
    [[noreturn]] void report_end();
    int end();
    double processor_seconds() const;

    OwnProcess owner_;
    ReplyTimeout timeout_;
    pid_t id_ = -1;
    int socket_ = -1;
};

}  // namespace firn
