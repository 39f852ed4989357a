// Reads and writes linear pictures as OpenEXR files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/callback.h"
#include "engine/window/picture.h"

namespace firn {

/// Storage of a channel's numbers: floats of 16 or 32 bits, or unsigned integers.
enum class ExrType : uint8_t { Half, Float, Uint };

/// A picture that is to become a layer of a file.
struct ExrLayer {
    std::string name;  ///< "normal"; empty: the channels without a layer's name
    int channels = 3;  ///< 1: Y (or Z of a layer called depth), 3: R, G and B, 4: A too
    ExrType type = ExrType::Float;
    const std::byte* elements = nullptr;  ///< of that type, row-major; the caller keeps them
};

/// Writes beside `path` and renames, so that the file is whole or not there; every number comes
/// back as it was. Throws UserError where it cannot be written.
/// @{
void write_exr(const std::string& path, int width, int height, const std::vector<ExrLayer>& layers);
void write_exr(const std::string& path, const FloatPicture& picture);
/// @}

/// Reads a layer of a file as a picture. A layer is the channels NAME.R, NAME.G and NAME.B, or .X,
/// .Y and .Z, or a single one, which counts for all three; each part of a multi-part file is a
/// layer too. Half floats and unsigned integers become floats of their values. An empty name stands
/// for the channels without a layer's name, else for the only layer, else for the one that Blender
/// calls Combined. With 4 channels alpha is the fourth, 1 if there is none. `room` takes width and
/// height, and returns memory for the pixels. Throws UserError that names the file if it is missing
/// or damaged, has no such layer, or has several.
/// @{
void read_exr(const std::string& path, const std::string& layer, int channels,
              const Callback<float*(int width, int height)>& room);
FloatPicture read_exr(const std::string& path, const std::string& layer = "");
/// @}

/// True if the file begins as an OpenEXR file.
bool is_exr(const std::string& path);

}  // namespace firn
