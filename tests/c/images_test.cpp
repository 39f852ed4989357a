// Images of the host as arguments and results.
#include <cmath>
#include <cstring>

#include "compiler/program/dtype.h"
#include "tests/c/fixture.h"

namespace firn {
namespace {

constexpr uint32_t kWidth = 7, kHeight = 5;

/// The inversion of a picture on a host.
class Inversion {
  public:
    /// `of_result`: the format of the second image, if it is another.
    Inversion(const std::vector<std::byte>& file, VkFormat format, int channels,
              uint32_t pixel_bytes, VkFormat of_result = VK_FORMAT_UNDEFINED)
        : context(host.describe(true)), bytes(kWidth * kHeight * pixel_bytes) {
        EXPECT_OK(context.context, firn_program_load(context, file.data(), file.size(), &program));
        firn_shape shape = shape_of({kHeight, kWidth});
        if (channels > 1) shape.extents[shape.rank++] = channels;
        EXPECT_OK(context.context, firn_call_create(program, &shape, 1, &call));
        constexpr VkImageUsageFlags kCopies =
            VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        memory = host.buffer(bytes + 16,
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
        for (int k = 0; k < 2; ++k) {
            if (k == 1 && of_result != VK_FORMAT_UNDEFINED) format = of_result;
            pictures[k] =
                host.picture(format, kWidth, kHeight, kCopies | VK_IMAGE_USAGE_SAMPLED_BIT);
            firn_host_image from{};
            from.struct_size = sizeof from;
            from.usage = kCopies;
            from.image = reinterpret_cast<uint64_t>(pictures[k].image);
            from.format = format;
            from.width = kWidth;
            from.height = kHeight;
            from.layout_before =
                k == 0 ? VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL : VK_IMAGE_LAYOUT_UNDEFINED;
            from.layout_after =
                k == 0 ? VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL : VK_IMAGE_LAYOUT_GENERAL;
            EXPECT_OK(context.context, firn_image_import(context, &from, &images[k]));
        }
    }
    ~Inversion() {
        for (firn_image* image : images) firn_image_release(image);
        firn_call_release(call);
        firn_program_release(program);
        EXPECT_OK(context.context, firn_collect(context, UINT64_MAX));
        for (auto& picture : pictures) host.free(picture);
        host.free(memory);
    }
    /// Fills the first image with the pixels in memory, inverts it twice into the second, and reads
    /// that; by the host's command buffer, or by Firn's own.
    void run(bool recorded) {
        host.copy(pictures[0], kWidth, kHeight, memory, true, VK_IMAGE_LAYOUT_UNDEFINED,
                  VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
        std::memset(static_cast<void*>(memory.floats), 0, bytes);
        const firn_binding argument{nullptr, images[0]}, result{nullptr, images[1]};
        ASSERT_OK(context.context, firn_call_bind(call, &argument, 1, &result, 1, nullptr));
        for (int time = 0; time < 2; ++time) {
            if (recorded) {
                firn_record_info info{};
                info.struct_size = sizeof info;
                info.flags = FIRN_RECORD_BARRIERS;
                info.command_buffer = host.begin();
                ASSERT_OK(context.context, firn_record(call, &info, nullptr));
                host.run();
            } else {
                ASSERT_OK(context.context, firn_submit(call, nullptr, nullptr));
                ASSERT_OK(context.context, firn_wait(context, 0));
            }
        }
        host.copy(pictures[1], kWidth, kHeight, memory, false, VK_IMAGE_LAYOUT_GENERAL,
                  VK_IMAGE_LAYOUT_GENERAL);
    }
    uint8_t* pixels() { return reinterpret_cast<uint8_t*>(memory.floats); }

    Host host;
    Context context;
    firn_program* program = nullptr;
    firn_call* call = nullptr;
    uint64_t bytes;
    Host::Memory memory;
    Host::Picture pictures[2];
    firn_image* images[2] = {};
};

TEST(CImages, OfEightBitsAreAsTheyAre) {
    for (const VkFormat format : {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM})
        for (const bool recorded : {true, false}) {
            Inversion inversion(files().invert4, format, 4, 4);
            std::vector<uint8_t> before(inversion.bytes);
            for (size_t k = 0; k < before.size(); ++k) before[k] = static_cast<uint8_t>(k * 37);
            std::copy(before.begin(), before.end(), inversion.pixels());
            inversion.run(recorded);
            for (size_t k = 0; k < before.size(); ++k)
                ASSERT_EQ(inversion.pixels()[k], 255 - before[k]) << k;
        }
}

TEST(CImages, HaveRedWhereTheirFormatHasIt) {
    // With three channels alpha is 1.
    Inversion inversion(files().invert3, VK_FORMAT_B8G8R8A8_UNORM, 3, 4, VK_FORMAT_R8G8B8A8_UNORM);
    for (uint64_t k = 0; k < inversion.bytes; ++k)
        inversion.pixels()[k] = static_cast<uint8_t>(k % 4 * 60);  // blue 0, green 60, red 120
    inversion.run(true);
    constexpr int kExpected[] = {255 - 120, 255 - 60, 255, 255};
    for (uint64_t k = 0; k < inversion.bytes; ++k)
        ASSERT_EQ(inversion.pixels()[k], kExpected[k % 4]) << k;
}

double linear_of(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double encoded(double c) {
    return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

TEST(CImages, OfSrgbAreLinearInTheTensor) {
    Inversion inversion(files().invert4, VK_FORMAT_R8G8B8A8_SRGB, 4, 4);
    std::vector<uint8_t> before(inversion.bytes);
    for (size_t k = 0; k < before.size(); ++k) before[k] = static_cast<uint8_t>(k * 37);
    std::copy(before.begin(), before.end(), inversion.pixels());
    inversion.run(true);
    for (size_t k = 0; k < before.size(); ++k) {
        const double wanted =
            k % 4 == 3 ? 255 - before[k] : 255 * encoded(1 - linear_of(before[k] / 255.0));
        ASSERT_NEAR(inversion.pixels()[k], wanted, 0.75) << k;
    }
}

TEST(CImages, OfHalvesAndFloatsAreTheirNumbers) {
    {
        Inversion inversion(files().invert4, VK_FORMAT_R16G16B16A16_SFLOAT, 4, 8);
        auto* halves = reinterpret_cast<uint16_t*>(inversion.pixels());
        for (uint64_t k = 0; k < inversion.bytes / 2; ++k)
            halves[k] = f32_to_f16_bits(static_cast<float>(k) / 8);
        inversion.run(true);
        for (uint64_t k = 0; k < inversion.bytes / 2; ++k)
            ASSERT_EQ(f16_bits_to_f32(halves[k]), 1 - static_cast<float>(k) / 8) << k;
    }
    for (const int channels : {4, 1}) {
        Inversion inversion(channels == 4 ? files().invert4 : files().invert1,
                            channels == 4 ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_R32_SFLOAT,
                            channels, channels == 4 ? 16 : 4);
        for (uint64_t k = 0; k < inversion.bytes / 4; ++k)
            inversion.memory.floats[k] = static_cast<float>(k);
        inversion.run(false);
        for (uint64_t k = 0; k < inversion.bytes / 4; ++k)
            ASSERT_EQ(inversion.memory.floats[k], 1 - static_cast<float>(k)) << k;
    }
}

TEST(CImages, ThatDoNotFitAreRefused) {
    Inversion inversion(files().invert4, VK_FORMAT_R8G8B8A8_UNORM, 4, 4);
    firn_context* context = inversion.context;
    const auto refused = [&](const firn_host_image& from, const char* part) {
        firn_image* image = nullptr;
        const int32_t code = firn_image_import(context, &from, &image);
        if (code == FIRN_OK) {
            const firn_binding argument{nullptr, image};
            EXPECT_EQ(firn_call_bind(inversion.call, &argument, 1, nullptr, 0, nullptr),
                      FIRN_ERROR_ARGUMENT);
            firn_image_release(image);
        }
        EXPECT_NE(std::string(firn_message(context)).find(part), std::string::npos)
            << firn_message(context);
    };
    firn_host_image fits{};
    fits.struct_size = sizeof fits;
    fits.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    fits.image = reinterpret_cast<uint64_t>(inversion.pictures[0].image);
    fits.format = VK_FORMAT_R8G8B8A8_UNORM;
    fits.width = kWidth;
    fits.height = kHeight;
    fits.layout_before = fits.layout_after = VK_IMAGE_LAYOUT_GENERAL;
    firn_host_image other = fits;
    other.format = VK_FORMAT_D32_SFLOAT;
    refused(other, "cannot stand for tensors");
    other = fits;
    other.format = VK_FORMAT_R32_SFLOAT;
    refused(other, "1 channels");
    other = fits;
    other.width = 8;
    refused(other, "8 pixels wide");
    other = fits;
    other.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    refused(other, "TRANSFER_SRC");
    other = fits;
    other.layout_before = VK_IMAGE_LAYOUT_UNDEFINED;
    refused(other, "keeps nothing");
    other = fits;
    other.layout_after = VK_IMAGE_LAYOUT_UNDEFINED;
    refused(other, "layout_after");
}

}  // namespace
}  // namespace firn
