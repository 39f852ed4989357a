// The end of a run that is under way and does not come about by itself.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace firn {

/// Calls `leave` on a thread of its own once a time is over, unless the run came to its end before.
/// `leave` ends the process: it does not return.
class EndInTime {
  public:
    explicit EndInTime(std::function<void(const std::string& text)> leave);
    ~EndInTime();
    EndInTime(const EndInTime&) = delete;
    EndInTime& operator=(const EndInTime&) = delete;

    /// Something is cut, which `text` says: the time begins. The first call counts.
    void begin(const std::string& text, double seconds);
    /// What was cut has ended. Does not return where the time was over before.
    void has_ended();
    /// The time is over; does not return.
    void leave(const std::string& text);

  private:
    std::function<void(const std::string&)> leave_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ended_ = false, leaves_ = false;
    std::jthread thread_;
};

}  // namespace firn
