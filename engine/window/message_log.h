// What a window tells the person: shown as long as it takes to read, and kept since the start.
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
    int64_t left_out = 0;                 // older ones that had no place
    int64_t said = 0;                     // so far; changes with the log
    double read_until = 0;                // when a reader is through with all of them
};

/// The text of a log as it is drawn, wrapped to a width.
struct LogView {
    int64_t said = -1;
    float width = 0;
    std::vector<char> text;
};

/// How long a text takes to read, without noticing it.
double reading_seconds(const std::string& text);
/// What is said again at once counts on, and stays. Several said together stay until each can have
/// been read, one after the other.
void add_message(MessageLog& log, const std::string& text, double now, const std::string& time);
/// Keeps one that is shown elsewhere.
void keep_message(MessageLog& log, const std::string& text, const std::string& time);
/// Those that are shown now, the newest last.
std::vector<std::string> shown_messages(const MessageLog& log, double now);
/// A line for each with its time, the newest last; the first line says how many are left out.
std::string log_text(const MessageLog& log);
/// The time of the day as messages have it.
std::string time_of_day();

}  // namespace firn
