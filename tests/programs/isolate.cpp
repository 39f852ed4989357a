// Runs tasks in processes of their own.
#include "tests/programs/isolate.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "tests/deadline.h"

namespace firn::programs {
namespace {

void write_all(int file, const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t done = write(file, at, size);
        if (done <= 0) _exit(1);
        at += done, size -= static_cast<size_t>(done);
    }
}

/// False at the end of the pipe, or where nothing comes for `seconds` of Deadline.
bool read_all(int file, void* data, size_t size, int seconds, bool& late) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
        pollfd wait{file, POLLIN, 0};
        for (Deadline deadline(seconds); poll(&wait, 1, 100) == 0;)
            if (deadline.is_over()) return late = true, false;
        const ssize_t done = ::read(file, at, size);
        if (done <= 0) return false;
        at += done, size -= static_cast<size_t>(done);
    }
    return true;
}

[[noreturn]] void work(const Tasks& tasks, size_t first, size_t count, int file) {
    std::string failed;
    try {
        tasks.begin();
    } catch (const std::exception& error) {
        failed = std::string("cannot begin: ") + error.what();
    }
    for (size_t k = first; k < count; ++k) {
        const std::string result = failed.empty() ? tasks.run(k) : failed;
        const uint64_t size = result.size();
        write_all(file, &size, sizeof size);
        write_all(file, result.data(), result.size());
    }
    _exit(0);
}

}  // namespace

std::vector<std::string> isolated(const Tasks& tasks, size_t count, int seconds) {
    std::vector<std::string> results;
    while (results.size() < count) {
        int ends[2];
        if (pipe(ends) != 0) throw std::runtime_error("no pipe");
        const pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            work(tasks, results.size(), count, ends[1]);
        }
        close(ends[1]);
        bool late = false;
        while (results.size() < count) {
            uint64_t size = 0;
            if (!read_all(ends[0], &size, sizeof size, seconds, late)) break;
            std::string result(size, 0);
            if (!read_all(ends[0], result.data(), size, seconds, late)) break;
            results.push_back(std::move(result));
        }
        close(ends[0]);
        if (late) kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        if (late)
            results.push_back("does not end in " + std::to_string(seconds) + " s");
        else if (results.size() < count)
            results.push_back(std::string("dies: ") +
                              (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit"));
    }
    return results;
}

}  // namespace firn::programs
