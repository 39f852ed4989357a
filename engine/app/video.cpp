// Frames as a video, piped to ffmpeg.
#include "engine/app/video.h"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/base/error.h"

extern char** environ;

namespace firn {
namespace {

bool is_installed(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
    return false;
}

/// Starts a program without a shell, `input` as its standard input; -1 if it cannot be started. It
/// ignores Ctrl-C, which would end it before its input ends.
pid_t start_program(std::vector<std::string> words, int input) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t process = -1;
    const int error = posix_spawnp(&process, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error ? -1 : process;
}

/// Returns false if the other end is closed; no signal reports that.
bool send_all(int socket, const void* from, size_t bytes) {
    const auto* at = static_cast<const char*>(from);
    while (bytes > 0) {
        const ssize_t done = send(socket, at, bytes, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        at += done, bytes -= static_cast<size_t>(done);
    }
    return true;
}

/// Players require even sizes, so the last column or row is doubled. They assume BT.709 for the
/// colours of large videos, which ffmpeg uses only if requested.
std::string even_and_named(int columns, int rows) {
    std::string filters;
    if (columns + rows > 0)
        filters = "format=gbrp,pad=iw+" + std::to_string(columns) + ":ih+" + std::to_string(rows) +
                  ",fillborders=right=" + std::to_string(columns) +
                  ":bottom=" + std::to_string(rows) + ":mode=smear,";
    return filters + "scale=out_color_matrix=bt709:out_range=tv";
}

}  // namespace

bool can_make_videos() { return is_installed("ffmpeg"); }

VideoWriter::VideoWriter(const std::string& path, double rate)
    : path_(path), temporary_(path + ".part.mp4"), rate_(rate), has_ffmpeg_(can_make_videos()) {
    if (has_ffmpeg_) return;
    std::fprintf(stderr,
                 "video %s: ffmpeg is not installed, so every frame is saved as a PNG; "
                 "apt-get install ffmpeg to get a video\n",
                 path_.c_str());
}

VideoWriter::~VideoWriter() {
    if (process_ < 0) return;
    end();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void VideoWriter::start(const Picture& first) {
    width_ = first.width;
    height_ = first.height;
    if (!has_ffmpeg_) return;
    const std::string size = std::to_string(width_) + "x" + std::to_string(height_);
    // `file:` keeps ffmpeg from reading a name as an option or an address.
    const std::vector<std::string> words = {"ffmpeg",
                                            "-y",
                                            "-loglevel",
                                            "error",
                                            "-f",
                                            "rawvideo",
                                            "-pix_fmt",
                                            "rgba",
                                            "-s",
                                            size,
                                            "-r",
                                            std::to_string(rate_),
                                            "-i",
                                            "-",
                                            "-vf",
                                            even_and_named(width_ % 2, height_ % 2),
                                            "-colorspace",
                                            "bt709",
                                            "-color_primaries",
                                            "bt709",
                                            "-color_trc",
                                            "bt709",
                                            "-pix_fmt",
                                            "yuv420p",
                                            "-crf",
                                            "16",
                                            "file:" + temporary_};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        process_ = start_program(words, ends[1]);
        close(ends[1]);
        socket_ = ends[0];
        if (process_ < 0) close(std::exchange(socket_, -1));
    }
    if (process_ < 0)
        throw UserError("video " + path_ + ": ffmpeg cannot be started; choose a .png instead");
}

int VideoWriter::end() {
    close(std::exchange(socket_, -1));
    int status = -1;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
}

void VideoWriter::add(const Picture& picture) {
    if (frames_ == 0) start(picture);
    if (picture.width != width_ || picture.height != height_) {
        throw UserError("video " + path_ +
                        ": the window was resized while it was recorded; keep its size, or record "
                        "with --headless");
    }
    ++frames_;
    if (!has_ffmpeg_) {
        char number[24];
        std::snprintf(number, sizeof number, "-%05d.png", frames_);
        write_png(std::filesystem::path(path_).replace_extension().string() + number, picture);
    } else if (process_ < 0 || !send_all(socket_, picture.rgba.data(), picture.rgba.size())) {
        throw UserError("video " + path_ + ": ffmpeg ended early; see its message above");
    }
}

std::string VideoWriter::finish() {
    if (!has_ffmpeg_) {
        return std::to_string(frames_) + " pictures " +
               std::filesystem::path(path_).replace_extension().string() +
               "-00001.png ... (ffmpeg, which makes videos, is not installed)";
    }
    if (process_ < 0) return "nothing: no frame was drawn";
    const int status = end();
    std::error_code error;
    if (status == 0) std::filesystem::rename(temporary_, path_, error);
    if (status != 0 || error) {
        std::filesystem::remove(temporary_, error);
        throw UserError("video " + path_ + ": ffmpeg could not write it; see its message above");
    }
    return path_;
}

}  // namespace firn
