// Frames as a video: through the ffmpeg program, or as numbered pictures where there is none.
#pragma once
#include <sys/types.h>

#include <string>

#include "engine/window/picture.h"

namespace firn {

/// ffmpeg is installed.
bool can_make_videos();

class VideoWriter {
  public:
    /// It plays `rate` frames a second.
    explicit VideoWriter(const std::string& path, double rate = 60);
    /// What has not been finished is removed.
    ~VideoWriter();
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    /// All frames must have one size. Throws UserError where they have not, or ffmpeg fails.
    void add(const Picture& picture);
    /// The video is whole and has its name. Gives what was written, for a person.
    std::string finish();

  private:
    void start(const Picture& first);
    /// Ends the input, waits for ffmpeg, and gives its status.
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
