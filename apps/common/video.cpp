// Frames as a film, piped to ffmpeg.
#include "apps/common/video.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr int kFramesPerSecond = 60;

std::string shell_quoted(const std::string& text) {
    std::string out = "'";
    for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

}  // namespace

VideoWriter::VideoWriter(const std::string& path)
    : path_(path),
      temporary_(path + ".part.mp4"),
      has_ffmpeg_(std::system("command -v ffmpeg > /dev/null 2>&1") == 0) {
    if (has_ffmpeg_) return;
    std::fprintf(stderr,
                 "film %s: there is no ffmpeg to make it, so every frame becomes a PNG; "
                 "apt-get install ffmpeg for a film\n",
                 path_.c_str());
}

VideoWriter::~VideoWriter() {
    if (!pipe_) return;
    pclose(pipe_);
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void VideoWriter::start(const Picture& first) {
    width_ = first.width;
    height_ = first.height;
    if (!has_ffmpeg_) return;
    std::signal(SIGPIPE, SIG_IGN);  // an ffmpeg that has ended is told by the write
    std::string size = std::to_string(width_) + "x" + std::to_string(height_);
    std::string command = "ffmpeg -y -loglevel error -f rawvideo -pix_fmt rgba -s " + size +
                          " -r " + std::to_string(kFramesPerSecond) +
                          " -i - -vf 'pad=ceil(iw/2)*2:ceil(ih/2)*2' -pix_fmt yuv420p -crf 16 " +
                          shell_quoted(temporary_);
    pipe_ = popen(command.c_str(), "w");
    if (!pipe_)
        throw UserError("film " + path_ + ": ffmpeg cannot be started; name a .png instead");
}

void VideoWriter::add(const Picture& picture) {
    if (frames_ == 0) start(picture);
    if (picture.width != width_ || picture.height != height_) {
        throw UserError("film " + path_ +
                        ": the window was resized while it was recorded; leave its size, or "
                        "record with --headless");
    }
    ++frames_;
    if (!has_ffmpeg_) {
        char number[24];
        std::snprintf(number, sizeof number, "-%05d.png", frames_);
        write_png(std::filesystem::path(path_).replace_extension().string() + number, picture);
    } else if (std::fwrite(picture.rgba.data(), 1, picture.rgba.size(), pipe_) !=
               picture.rgba.size()) {
        throw UserError("film " + path_ + ": ffmpeg ended early; see its message above");
    }
}

std::string VideoWriter::finish() {
    if (!has_ffmpeg_) {
        return std::to_string(frames_) + " pictures " +
               std::filesystem::path(path_).replace_extension().string() +
               "-00001.png ... (there is no ffmpeg to make a film of them)";
    }
    if (!pipe_) return "nothing: there was no frame";
    int status = pclose(pipe_);
    pipe_ = nullptr;
    std::error_code error;
    if (status == 0) std::filesystem::rename(temporary_, path_, error);
    if (status != 0 || error) {
        std::filesystem::remove(temporary_, error);
        throw UserError("film " + path_ + ": ffmpeg could not write it; see its message above");
    }
    return path_;
}

}  // namespace firn
