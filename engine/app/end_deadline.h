// EndDeadline ends a process whose work does not stop within a time limit.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace firn {

/// Calls `leave` on a separate thread when the time limit is over, unless the work has ended
/// before. `leave` ends the process: it does not return.
class EndDeadline {
  public:
    explicit EndDeadline(std::function<void(const std::string& text)> leave);
    ~EndDeadline();
    EndDeadline(const EndDeadline&) = delete;
    EndDeadline& operator=(const EndDeadline&) = delete;

    /// Starts the time limit of work that is being cut; `text` names it. Later calls are ignored.
    void begin(const std::string& text, double seconds);
    /// Notes that the cut work has ended. Does not return if the time limit was over before.
    void has_ended();
    /// Leaves at once, as if the time were over; does not return.
    void leave(const std::string& text);

  private:
    std::function<void(const std::string&)> leave_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false, leaves_ = false;
    std::jthread thread_;
};

}  // namespace firn
