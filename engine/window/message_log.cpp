// The messages of a window.
#include "engine/window/message_log.h"

#include <algorithm>
#include <ctime>

namespace firn {
namespace {

constexpr double kCharactersPerSecond = 14, kNoticeSeconds = 4, kMostReading = 60;

void push(MessageLog& log, const Message& message) {
    log.all.push_back(message);
    if (log.all.size() <= MessageLog::kMost) return;
    log.all.pop_front();
    ++log.left_out;
}

std::string counted_text(const Message& message) {
    return message.text +
           (message.times > 1 ? " (" + std::to_string(message.times) + " times)" : "");
}

}  // namespace

double reading_seconds(const std::string& text) {
    return std::min(static_cast<double>(text.size()) / kCharactersPerSecond, kMostReading);
}

void add_message(MessageLog& log, const std::string& text, double now, const std::string& time) {
    ++log.said;
    // A reader who sees nothing new can read on without a pause.
    if (!log.all.empty() && log.all.back().text == text) {
        Message& last = log.all.back();
        ++last.times;
        last.until = std::max(last.until, now + reading_seconds(text) + kNoticeSeconds);
        return;
    }
    log.read_until = std::max(log.read_until, now) + reading_seconds(text);
    log.read_until = std::min(log.read_until, now + kMostReading);
    push(log, {text, time, 1, log.read_until + kNoticeSeconds});
}

void keep_message(MessageLog& log, const std::string& text, const std::string& time) {
    ++log.said;
    push(log, {text, time, 1, 0});
}

std::vector<std::string> shown_messages(const MessageLog& log, double now) {
    std::vector<std::string> out;
    for (const Message& message : log.all)
        if (now < message.until) out.push_back(counted_text(message));
    return out;
}

std::string log_text(const MessageLog& log) {
    std::string out;
    if (log.left_out > 0)
        out += "the oldest " + std::to_string(log.left_out) +
               " messages are left out: the log keeps " + std::to_string(MessageLog::kMost) + "\n";
    for (const Message& message : log.all)
        out += message.time + "  " + counted_text(message) + "\n";
    return out;
}

std::string time_of_day() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    char text[16];
    return std::strftime(text, sizeof text, "%H:%M:%S", &parts) > 0 ? text : "";
}

}  // namespace firn
