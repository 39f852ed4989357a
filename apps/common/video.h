// Frames as a film: through the ffmpeg program, or as numbered pictures where there is none.
#pragma once
#include <cstdio>
#include <string>

#include "engine/window/picture.h"

namespace firn {

class VideoWriter {
  public:
    /// Throws UserError where ffmpeg cannot be started.
    explicit VideoWriter(const std::string& path);
    /// What has not been finished is removed.
    ~VideoWriter();
    VideoWriter(const VideoWriter&) = delete;
    VideoWriter& operator=(const VideoWriter&) = delete;

    /// All frames must have one size. Throws UserError where they have not, or ffmpeg fails.
    void add(const Picture& picture);
    /// The film is whole and has its name. Gives what was written, for a person.
    std::string finish();

  private:
    void start(const Picture& first);

    std::string path_, temporary_;
    bool has_ffmpeg_ = false;
    std::FILE* pipe_ = nullptr;
    int width_ = 0, height_ = 0, frames_ = 0;
};

}  // namespace firn
