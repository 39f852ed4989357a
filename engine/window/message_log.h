// The messages of a window: shown as long as they take to read, and kept since the start.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace firn {

struct Message {
    std::string text;
    std::string time;  // of the day, as 20:43:07, when it was said first
    int times = 1;     // said one after the other
    double until = 0;  // shown until then, in seconds of the caller's clock
};

struct MessageLog {
    static constexpr size_t kMost = 500;  // messages that are kept
    std::deque<Message> all;              // the newest is last
    int64_t left_out = 0;                 // older ones that are not kept
    int64_t said = 0;                     // so far; changes with the log
    double read_until = 0;                // when a reader has read all of them
};

/// The text of a log as it is drawn, wrapped to a width.
struct LogView {
    int64_t said = -1;
    float width = 0;
    std::vector<char> text;
};

/// Returns how long a text takes to read, without the time to notice it.
double reading_seconds(const std::string& text);
/// Adds a message. A message that is repeated at once is counted, and stays. Several messages
/// together stay until each can have been read, one after the other.
void add_message(MessageLog& log, const std::string& text, double now, const std::string& time);
/// Keeps a message that is shown elsewhere.
void keep_message(MessageLog& log, const std::string& text, const std::string& time);
/// Returns the messages that are shown now, the newest last.
std::vector<std::string> shown_messages(const MessageLog& log, double now);
/// Returns a line for each message with its time, the newest last; the first line says how many are
/// left out.
std::string log_text(const MessageLog& log);
/// Returns the time of the day as messages show it.
std::string time_of_day();

}  // namespace firn
