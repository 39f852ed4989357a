// Linear pictures as OpenEXR files, through the library of that name.
#include "engine/app/exr.h"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfInputPart.h>
#include <ImfMultiPartInputFile.h>
#include <ImfOutputFile.h>
#include <ImfPartType.h>
#include <ImfRgbaFile.h>
#include <ImfTestFile.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "compiler/base/error.h"
#include "engine/pictures/whole_picture.h"

namespace firn {
namespace {

namespace exr = OPENEXR_IMF_NAMESPACE;

/// The file that the library writes to. The library does not report whether the last bytes were
/// written; the stream's error flag does.
class OpenFile : public exr::OStream {
  public:
    explicit OpenFile(FILE* file) : OStream("file"), file_(file) {}
    void write(const char* from, int count) override {
        const auto size = static_cast<size_t>(count);
        if (std::fwrite(from, 1, size, file_) != size) throw UserError(std::strerror(errno));
    }
    uint64_t tellp() override { return static_cast<uint64_t>(ftello(file_)); }
    void seekp(uint64_t place) override { fseeko(file_, static_cast<off_t>(place), SEEK_SET); }

  private:
    FILE* file_;
};

constexpr exr::PixelType kPixelTypes[] = {exr::HALF, exr::FLOAT, exr::UINT};
constexpr size_t kPixelBytes[] = {2, 4, 4};

/// The names of a layer's channels, in the order of its elements.
std::vector<std::string> channel_names(const ExrLayer& layer) {
    const std::string front = layer.name.empty() ? "" : layer.name + ".";
    if (layer.channels == 1) return {front + (layer.name == "depth" ? "Z" : "Y")};
    std::vector<std::string> out;
    for (const char* name : {"R", "G", "B", "A"})
        if (out.size() < static_cast<size_t>(layer.channels)) out.push_back(front + name);
    return out;
}

void write_exr_to(FILE* to, int width, int height, const std::vector<ExrLayer>& layers) {
    OpenFile out(to);
    exr::Header header(width, height);
    header.compression() = exr::ZIP_COMPRESSION;
    exr::FrameBuffer pixels;
    for (const ExrLayer& layer : layers) {
        const auto type = static_cast<size_t>(layer.type);
        const size_t element = kPixelBytes[type],
                     pixel = static_cast<size_t>(layer.channels) * element,
                     row = pixel * static_cast<size_t>(width);
        const std::byte* first = layer.elements;
        for (const std::string& name : channel_names(layer)) {
            header.channels().insert(name, exr::Channel(kPixelTypes[type]));
            char* at = reinterpret_cast<char*>(const_cast<std::byte*>(first));
            pixels.insert(name, exr::Slice(kPixelTypes[type], at, pixel, row));
            first += element;
        }
    }
    exr::OutputFile file(out, header);  // its destructor writes its table
    file.setFrameBuffer(pixels);
    file.writePixels(height);
}

}  // namespace

void write_exr(const std::string& path, int width, int height,
               const std::vector<ExrLayer>& layers) {
    write_whole_picture(path, [&](FILE* file) {
        try {
            write_exr_to(file, width, height, layers);
            return true;
        } catch (const UserError&) {
            return false;  // see errno
        } catch (const std::exception& error) {
            fail_picture(path, std::string("cannot be written (") + error.what() +
                                   "); name a file in a folder that exists and can be written to");
        }
    });
}

void write_exr(const std::string& path, const FloatPicture& picture) {
    write_exr(path, picture.width, picture.height,
              {{"", picture.channels, ExrType::Float,
                reinterpret_cast<const std::byte*>(picture.values.data())}});
}

namespace {

/// Channels of a part that belong together, by the last part of their names.
struct Layer {
    int part = 0;
    std::map<std::string, std::string> channels;  // to their names in the file

    bool has(const char* channel) const { return channels.contains(channel); }
    bool is_colour() const { return has("R") && has("G") && has("B"); }
};

/// Layers by their names; the layer without a name is the picture itself.
using Layers = std::map<std::string, Layer>;

Layers layers_of(const exr::MultiPartInputFile& file) {
    Layers out;
    for (int part = 0; part < file.parts(); ++part) {
        const exr::Header& header = file.header(part);
        const std::string own = part > 0 && header.hasName() ? header.name() : "";
        const exr::ChannelList& channels = header.channels();
        for (auto c = channels.begin(); c != channels.end(); ++c) {
            const std::string full = c.name();
            const size_t dot = full.rfind('.');
            const std::string layer = dot == full.npos ? own : full.substr(0, dot);
            Layer& found = out.try_emplace(layer, Layer{part, {}}).first->second;
            // A channel that an earlier part has by this name stays.
            if (found.part == part) found.channels[full.substr(dot + 1)] = full;
        }
    }
    return out;
}

std::string names_of(const Layers& layers) {
    std::string out;
    for (const auto& [name, layer] : layers) {
        out += out.empty() ? "" : ", ";
        if (!name.empty()) {
            out += "'" + name + "'";
            continue;
        }
        for (const auto& [channel, full] : layer.channels)
            out += (channel == layer.channels.begin()->first ? "channels " : " ") + channel;
    }
    return out;
}

/// Returns whether a name is Blender's for the picture of all passes together.
bool is_combined(const std::string& name) {
    return name == "Combined" || name.ends_with(".Combined");
}

const Layer& chosen(const std::string& path, const Layers& layers, const std::string& wanted) {
    if (!wanted.empty()) {
        const auto found = layers.find(wanted);
        if (found == layers.end())
            fail_picture(path, "has no layer '" + wanted + "'; it has " + names_of(layers));
        return found->second;
    }
    const auto own = layers.find("");
    if (own != layers.end() && (own->second.is_colour() || own->second.has("Y")))
        return own->second;
    if (layers.size() == 1) return layers.begin()->second;
    std::vector<const Layer*> coloured, combined;
    for (const auto& [name, layer] : layers) {
        if (!layer.is_colour()) continue;
        coloured.push_back(&layer);
        if (is_combined(name)) combined.push_back(&layer);
    }
    if (combined.size() == 1) return *combined[0];
    if (coloured.size() == 1) return *coloured[0];
    fail_picture(path, "has several layers and no picture without a name; name one of " +
                           names_of(layers) + ", as in load_image(path, {.layer = NAME})");
}

/// Returns the channels that hold red, green and blue.
std::array<std::string, 3> colours_of(const std::string& path, const Layer& layer) {
    for (const std::array<const char*, 3>& names :
         {std::array{"R", "G", "B"}, std::array{"X", "Y", "Z"}})
        if (std::all_of(names.begin(), names.end(), [&](const char* n) { return layer.has(n); }))
            return {layer.channels.at(names[0]), layer.channels.at(names[1]),
                    layer.channels.at(names[2])};
    std::vector<std::string> others;
    std::string all;
    for (const auto& [channel, full] : layer.channels) {
        if (channel != "A") others.push_back(full);
        all += " " + channel;
    }
    const bool grey = layer.has("Y");
    if (others.size() != 1 && !grey)
        fail_picture(path,
                     "the layer has the channels" + all +
                         ", which are no picture; one has R, G and B, X, Y and Z, or one alone");
    const std::string& one = grey ? layer.channels.at("Y") : others[0];
    return {one, one, one};
}

/// The destination of a picture's pixels.
struct Pixels {
    float* to;
    size_t width, height, channels;
};

/// Reads luminance with two colour channels of half the size, which the library converts to red,
/// green and blue.
void read_luminance(const std::string& path, const Pixels& pixels) {
    exr::RgbaInputFile file(path.c_str());
    const auto window = file.dataWindow();
    std::vector<exr::Rgba> row(pixels.width);
    float* to = pixels.to;
    for (int y = window.min.y; y <= window.max.y; ++y) {
        file.setFrameBuffer(row.data() - window.min.x, 1, 0);
        file.readPixels(y);
        for (const exr::Rgba& pixel : row) {
            const float numbers[] = {pixel.r, pixel.g, pixel.b, pixel.a};
            to = std::copy_n(numbers, pixels.channels, to);
        }
    }
}

void read_layer(exr::MultiPartInputFile& file, const std::string& path, const Layer& layer,
                const Pixels& pixels) {
    const std::array<std::string, 3> colours = colours_of(path, layer);
    std::vector<std::string> names(colours.begin(), colours.end());
    if (pixels.channels == 4 && layer.has("A")) names.push_back(layer.channels.at("A"));
    const exr::Header& header = file.header(layer.part);
    for (const std::string& name : names) {
        const exr::Channel* channel = header.channels().findChannel(name);
        if (channel->xSampling != 1 || channel->ySampling != 1)
            fail_picture(path, "the channel " + name + " has fewer pixels than the picture");
    }
    const auto window = header.dataWindow();
    const size_t pixel = pixels.channels * sizeof(float);
    const bool grey = names[1] == names[0];
    exr::FrameBuffer frame;
    for (size_t k = 0; k < names.size(); ++k)
        if (k == 0 || !grey || k == 3)
            frame.insert(names[k], exr::Slice::Make(exr::FLOAT, pixels.to + k, window, pixel,
                                                    pixel * pixels.width));
    exr::InputPart part(file, layer.part);
    part.setFrameBuffer(frame);
    part.readPixels(window.min.y, window.max.y);
    const bool opaque = pixels.channels == 4 && names.size() == 3;
    float* at = pixels.to;
    if (grey || opaque)
        for (size_t k = 0; k < pixels.width * pixels.height; ++k, at += pixels.channels) {
            if (grey) at[1] = at[2] = at[0];
            if (opaque) at[3] = 1;
        }
}

/// The library allocates the memory of an attribute before it reads it, so a header whose
/// attributes reach beyond the end of the file is refused here. The library reports other damage.
void check_attributes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(path, error);
    // A magic number of 4 bytes, and a version with flags, of which one tells of several parts.
    char front[8] = {};
    file.read(front, sizeof front);
    const bool several = (front[5] & 0x10) != 0;
    uint64_t at = sizeof front;
    std::string name, type;
    // Each part has a header, which ends with an empty name, as their list does.
    for (bool ended = false; std::getline(file, name, '\0');) {
        at += name.size() + 1;
        if (name.empty() && (ended || !several)) return;
        ended = name.empty();
        if (ended) continue;
        unsigned char size[4] = {};
        if (!std::getline(file, type, '\0') || !file.read(reinterpret_cast<char*>(size), 4)) return;
        at += type.size() + 1 + 4;
        uint64_t count = 0;
        for (size_t k = 0; k < 4; ++k) count |= uint64_t{size[k]} << 8 * k;
        if (at + count > bytes)
            fail_picture(path, "cannot be read (its attribute '" + name.substr(0, 40) +
                                   "' goes on behind the end of the file); name a whole OpenEXR "
                                   "file");
        at += count;
        file.seekg(static_cast<std::streamoff>(at));
    }
}

void read_checked(const std::string& path, const std::string& wanted, int channels,
                  const Callback<float*(int, int)>& room) {
    // A header that claims more is refused before its size is allocated.
    exr::Header::setMaxImageSize(static_cast<int>(kMostPixels), static_cast<int>(kMostPixels));
    check_attributes(path);
    exr::MultiPartInputFile file(path.c_str(), 0);
    const Layers layers = layers_of(file);
    const Layer& layer = chosen(path, layers, wanted);
    const exr::Header& header = file.header(layer.part);
    if (header.hasType() && exr::isDeepData(header.type()))
        fail_picture(path, "has several values for each pixel (deep data); flatten it first");
    const auto window = header.dataWindow();
    const int64_t width = int64_t{window.max.x} - window.min.x + 1,
                  height = int64_t{window.max.y} - window.min.y + 1;
    check_picture_size(path, width, height);
    const Pixels pixels{room(static_cast<int>(width), static_cast<int>(height)),
                        static_cast<size_t>(width), static_cast<size_t>(height),
                        static_cast<size_t>(channels)};
    if (file.parts() == 1 && layer.has("RY") && layer.has("BY"))
        read_luminance(path, pixels);
    else
        read_layer(file, path, layer, pixels);
}

}  // namespace

bool is_exr(const std::string& path) { return exr::isOpenExrFile(path.c_str()); }

void read_exr(const std::string& path, const std::string& layer, int channels,
              const Callback<float*(int, int)>& room) {
    try {
        read_checked(path, layer, channels, room);
    } catch (const UserError&) {
        throw;
    } catch (const std::exception& error) {
        fail_picture(
            path, std::string("cannot be read (") + error.what() + "); name a whole OpenEXR file");
    }
}

FloatPicture read_exr(const std::string& path, const std::string& layer) {
    FloatPicture out;
    read_exr(path, layer, out.channels, [&](int width, int height) {
        out.width = width, out.height = height;
        out.values.resize(static_cast<size_t>(out.channels) * static_cast<size_t>(width) *
                          static_cast<size_t>(height));
        return out.values.data();
    });
    return out;
}

}  // namespace firn
