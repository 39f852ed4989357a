// Writes frames as a video by the ffmpeg program, or without it as numbered pictures.
#pragma once
#include <sys/types.h>

#include <string>

#include "engine/window/picture.h"

namespace firn {

/// True if ffmpeg is installed.
bool can_make_videos();

class VideoWriter {
  public:
    /// The video plays `rate` frames a second.
    explicit VideoWriter(const std::string& path, double rate = 60);
    /// Removes a video that was not finished.
    ~VideoWriter();
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    /// Adds a frame. Throws UserError if its size differs from the first one's, or if ffmpeg fails.
    void add(const Picture& picture);
    /// Completes the file and gives it its name. Returns a message that says what was written.
    std::string finish();

  private:
    void start(const Picture& first);
    /// Closes the input, waits for ffmpeg, and returns its status.
    int end();

    std::string path_, temporary_;
    double rate_ = 60;
    bool has_ffmpeg_ = false;
    pid_t process_ = -1;
    int socket_ = -1;  // its standard input: a socket, because a pipe that closes would signal the
                       // whole process
    int width_ = 0, height_ = 0, frames_ = 0;
};

}  // namespace firn
