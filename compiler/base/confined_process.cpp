// Runs work in a child process, so that a crash there does not end this process.
#include "compiler/base/confined_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>

#include "compiler/base/error.h"

namespace firn {
namespace {

constexpr int kNoMemory = 3, kThrew = 4;       // exit statuses of a child
constexpr int kMillisecondsBetweenLooks = 50;  // Ctrl-C is heard without a delay that is felt

void close_descriptor(int descriptor) {
    if (descriptor >= 0) ::close(descriptor);
}

/// Sends a message and, unless it is -1, a descriptor. False where that fails.
bool send_message(int socket, const std::string& text, int descriptor, int flags) {
    iovec part{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part, message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control, message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    ssize_t sent = -1;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(text.size());
}

/// Bytes of address space that this process has; 0: unknown.
uint64_t address_space() {
    unsigned long long pages = 0;
    FILE* file = std::fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

template <class Resource>
void limit(Resource resource, rlim_t most) {
    rlimit now{};
    if (getrlimit(resource, &now) != 0) return;
    now.rlim_max = now.rlim_cur = std::min(now.rlim_max, most);
    setrlimit(resource, &now);
}

/// Closes all descriptors but those of the standard streams and `kept`, which is above them.
void close_all_but(int kept) {
#ifdef SYS_close_range
    const auto middle = static_cast<unsigned>(kept);
    if ((middle == 3 || syscall(SYS_close_range, 3u, middle - 1, 0) == 0) &&
        syscall(SYS_close_range, middle + 1, ~0u, 0) == 0)
        return;
#endif
    const long most = std::min(sysconf(_SC_OPEN_MAX), 1L << 20);
    for (int each = 3; each < most; ++each)
        if (each != kept) ::close(each);
}

/// Lets go of what a child of fork() has from its parent: handlers of signals, which know the
/// parent's threads; the terminal; descriptors. Returns the socket under a new number.
int leave_parent_behind(int socket, pid_t parent) {
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    std::set_terminate(std::abort);
    std::set_new_handler(nullptr);
    setpgid(0, 0);  // Ctrl-C is for the parent, which ends this process in order
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kThrew);  // it ended before
    const int above = fcntl(socket, F_DUPFD_CLOEXEC, 3);
    if (above < 0) _exit(kThrew);
    for (int stream = 0; stream < 3; ++stream) ::close(stream);
    for (int stream = 0; stream < 3; ++stream)
        if (open("/dev/null", O_RDWR) != stream) _exit(kThrew);
    close_all_but(above);
    return above;
}

/// Takes rights away that reading a file does not need.
void confine() {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_NOFILE, 1024);
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, "1000", 4) < 0) {
        // The system then treats the child as any other process.
    }
    close_descriptor(score);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // else a program may be told to save its core
}

/// Words for a status of waitpid(), as the end of a sentence.
std::string reason_of(int status) {
    if (WIFSIGNALED(status)) {
        if (WTERMSIG(status) == SIGKILL) return "was ended by the system, as where memory is short";
        return std::string("crashed (") + strsignal(WTERMSIG(status)) + ")";
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory)
        return "needed more memory than it may have";
    return "ended early";
}

}  // namespace

SharedMemory::SharedMemory(size_t bytes)
    : descriptor_(memfd_create("firn", MFD_CLOEXEC | MFD_ALLOW_SEALING)), size_(bytes) {
    // Sealed, so that the other process cannot take pages away under this one's reads.
    if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 ||
        fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close_descriptor(descriptor_);
        throw std::bad_alloc();
    }
}

SharedMemory::~SharedMemory() {
    if (at_) munmap(at_, size_);
    close_descriptor(descriptor_);
}

std::span<std::byte> SharedMemory::bytes() {
    if (!at_ && size_ > 0) {
        void* at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        at_ = at;
    }
    return {static_cast<std::byte*>(at_), size_};
}

ParentLink::ParentLink(int socket) : socket_(socket), address_space_(address_space()) {}

std::optional<std::string> ParentLink::receive() {
    char text[kLongestMessage];
    ssize_t count = -1;
    do count = recv(socket_, text, sizeof text, 0);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return std::nullopt;
    return std::string(text, static_cast<size_t>(count));
}

SharedMemory ParentLink::receive_memory(size_t bytes) {
    char text = 0;
    iovec part{&text, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part, message.msg_iovlen = 1;
    message.msg_control = control, message.msg_controllen = sizeof control;
    ssize_t count = -1;
    do count = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (count <= 0 || !header) _exit(0);  // the parent is no more, or wants no more
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    return {descriptor, bytes};
}

void ParentLink::send(const std::string& message) {
    if (!send_message(socket_, message.substr(0, kLongestMessage), -1, 0)) _exit(0);
}

void ParentLink::limit_memory(uint64_t bytes) {
    rlimit now{};
    if (address_space_ == 0 || getrlimit(RLIMIT_AS, &now) != 0) return;
    now.rlim_cur = std::min<rlim_t>(now.rlim_max, address_space_ + bytes);
    setrlimit(RLIMIT_AS, &now);
}

ConfinedProcess::ConfinedProcess(const Work& work, const ReplyTimeout& timeout)
    : timeout_(timeout) {
    const auto fail = [] {
        throw ProcessEnded(std::string("cannot be started: ") + std::strerror(errno),
                           ProcessEnded::Why::NotStarted);
    };
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail();
    // No handler of this process may run in the child, which has none of its threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ == 0) run(work, ends[1], parent);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(ends[1]);
    socket_ = ends[0];
    if (id_ < 0) {
        close_descriptor(std::exchange(socket_, -1));
        errno = error;
        fail();
    }
}

void ConfinedProcess::run(const Work& work, int socket, pid_t parent) {
    try {
        ParentLink link(leave_parent_behind(socket, parent));
        confine();
        work(link);
    } catch (const std::bad_alloc&) {
        _exit(kNoMemory);
    } catch (...) {
        _exit(kThrew);
    }
    _exit(0);
}

ConfinedProcess::~ConfinedProcess() {
    if (owner_.is_here())
        end();
    else
        close_descriptor(socket_);
}

/// Ends the process if it has not ended, and returns its exit status; 0 if that is no longer known,
/// for example because this process ignores the ends of its children.
int ConfinedProcess::end() {
    close_descriptor(std::exchange(socket_, -1));
    if (id_ < 0) return 0;
    kill(id_, SIGKILL);  // where it is ending, it keeps the status that it has
    int status = 0;
    while (waitpid(id_, &status, 0) < 0)
        if (errno != EINTR) {
            status = 0;
            break;
        }
    id_ = -1;
    return status;
}

void ConfinedProcess::report_end() {
    throw ProcessEnded(reason_of(end()), ProcessEnded::Why::Broke);
}

void ConfinedProcess::end_late(double seconds, const char* of_what) {
    end();
    char text[128];
    std::snprintf(text, sizeof text, "came no further in %g s%s", seconds, of_what);
    throw ProcessEnded(text, ProcessEnded::Why::Late);
}

double ConfinedProcess::processor_seconds() const {
    clockid_t clock{};
    timespec now{};
    if (clock_getcpuclockid(id_, &clock) != 0 || clock_gettime(clock, &now) != 0) return 0;
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void ConfinedProcess::send(const std::string& message) {
    if (!send_message(socket_, message, -1, MSG_DONTWAIT)) report_end();
}

void ConfinedProcess::send(const SharedMemory& memory) {
    if (!send_message(socket_, "m", memory.descriptor_, MSG_DONTWAIT)) report_end();
}

std::string ConfinedProcess::receive(const std::function<void()>& while_waiting) {
    char text[kLongestMessage];
    const double begin = processor_seconds();
    // Counts looks rather than time: none passes for a process that is stopped (Ctrl-Z).
    for (int64_t looks = 0;;) {
        pollfd wait{socket_, POLLIN, 0};
        const int found = poll(&wait, 1, kMillisecondsBetweenLooks);
        if (found > 0) {
            const ssize_t count = recv(socket_, text, sizeof text, MSG_DONTWAIT | MSG_TRUNC);
            if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (count <= 0 || static_cast<size_t>(count) > sizeof text) report_end();
            return {text, static_cast<size_t>(count)};
        }
        while_waiting();
        looks += found == 0;  // else a signal came
        if (processor_seconds() - begin > timeout_.processor_seconds)
            end_late(timeout_.processor_seconds, " of the processor");
        if (1e-3 * kMillisecondsBetweenLooks * double(looks) > timeout_.seconds)
            end_late(timeout_.seconds, "");
    }
}

}  // namespace firn
