// The firn_bench_drawing program: points from tensors beside a hand-written shader for the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "engine/gpu/commands.h"
#include "engine/gpu/profiler.h"
#include "engine/window/camera.h"
#include "engine/window/scene_renderer.h"
#include "tests/bench/drawing/hand_points.h"

namespace {

using namespace firn;

constexpr const char* kUsage = R"(usage: firn_bench_drawing [--points N] [--rounds N]

Milliseconds of the device for a frame of 1280 x 720 with N points (100000) of 3 pixels, each with
its own colour: Firn's drawing and a hand-written shader, in turns; medians over the rounds (50).
The last columns are their ratio, and how many pixels differ by more than 8 of 255.
)";

constexpr VkExtent2D kExtent{1280, 720};
constexpr float kSize = 3;  // pixels

struct Stage {
    std::shared_ptr<Device> device;
    VkRenderPass pass;
    OffscreenImage image;
    CommandPool commands;
    Timestamps times;

    explicit Stage(std::shared_ptr<Device> on)
        : device(on),
          pass(create_render_pass(*on, VK_FORMAT_R8G8B8A8_UNORM,
                                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL)),
          image(on, VK_FORMAT_R8G8B8A8_UNORM, kExtent, pass),
          commands(*on, "bench"),
          times(*on, 2, "bench") {}
    ~Stage() { device->vk().vkDestroyRenderPass(device->handle(), pass, nullptr); }

    template <class Prepare, class Draw>
    double milliseconds(const Prepare& prepare, const Draw& draw) {
        CommandBuffer& buffer = commands.take();
        begin(*device, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        times.reset(buffer.handle);
        prepare(buffer.handle);
        times.mark(buffer.handle);
        VkRenderPassBeginInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
        const VkClearValue black{};
        info.renderPass = pass;
        info.framebuffer = image.framebuffer();
        info.renderArea = {{0, 0}, kExtent};
        info.clearValueCount = 1;
        info.pClearValues = &black;
        device->vk().vkCmdBeginRenderPass(buffer.handle, &info, VK_SUBPASS_CONTENTS_INLINE);
        draw(buffer.handle);
        device->vk().vkCmdEndRenderPass(buffer.handle);
        times.mark(buffer.handle);
        image.record_read(buffer.handle);
        end(*device, buffer);
        buffer.busy_until = device->submit({&buffer.handle, 1});
        device->wait(buffer.busy_until);
        return times.read()[1];
    }
};

std::shared_ptr<Buffer> numbers(Stage& stage, size_t count, uint32_t seed, float low, float high) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(low, high);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(random);
    auto buffer = create_buffer(stage.device, count * 4, "numbers");
    write_buffer(*buffer, 0, std::as_bytes(std::span(values)));
    return buffer;
}

double median(std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
    return values[values.size() / 2];
}

bool differs(const uint8_t* a, const uint8_t* b) {
    for (int c = 0; c < 3; ++c)
        if (std::abs(int(a[c]) - int(b[c])) > 8) return true;
    return false;
}

void compare(Stage& stage, const char* name, int dimensions, uint32_t count, int rounds) {
    const auto n = static_cast<int64_t>(count);
    const auto places =
        numbers(stage, size_t(count) * size_t(dimensions), 1, dimensions == 3 ? -1 : 0, 1);
    const auto colours = numbers(stage, size_t(count) * 3, 2, 0, 1);
    DrawScene scene;
    DrawLayer& layer = scene.layers.emplace_back();
    layer.places = {places, 0, f32, {n, dimensions}};
    layer.colours = {colours, 0, f32, {n, 3}};
    layer.size = kSize;
    scene.limits = DrawLimits{0, 1, 0, 1};
    const Rectangle frame{0, 0, float(kExtent.width), float(kExtent.height)};
    DrawPlacement placement = placement_of(scene, frame);
    if (dimensions == 2) placement.area = frame;  // the hand-written one knows no letterbox
    SceneRenderer firn(stage.device, stage.pass, 1);
    bench::HandPoints hand(*stage.device, stage.pass, dimensions);
    hand.bind(*places, *colours);
    bench::HandPush push{{}, {frame.width, frame.height}, kSize};
    if (dimensions == 3) {
        const CameraProjection seen = projection_of(scene.camera, frame.width / frame.height);
        std::copy(seen.to_clip.begin(), seen.to_clip.end(), push.to_clip);
    } else {
        push.to_clip[0] = 2, push.to_clip[5] = -2, push.to_clip[15] = 1;
        push.to_clip[12] = -1, push.to_clip[13] = 1;
    }
    std::vector<double> ours, theirs;
    int apart = 0;
    for (int round = 0; round < rounds + 3; ++round) {
        const double a = stage.milliseconds(
            [&](VkCommandBuffer commands) {
                firn.begin(0);
                firn.prepare(commands, 0, scene, placement, 1);
            },
            [&](VkCommandBuffer commands) { firn.draw(commands, 0, 0, placement); });
        const Picture one = stage.image.picture();
        const double b = stage.milliseconds(
            [](VkCommandBuffer) {},
            [&](VkCommandBuffer commands) { hand.draw(commands, push, kExtent, count); });
        const Picture other = stage.image.picture();
        if (round < 3) {  // pipelines are made, and memory is touched
            apart = 0;
            for (size_t k = 0; k < one.rgba.size(); ++k)
                apart += k % 4 == 0 && differs(&one.rgba[k], &other.rgba[k]);
            continue;
        }
        ours.push_back(a), theirs.push_back(b);
    }
    const double a = median(ours), b = median(theirs);
    std::printf("%-8s %10.3f %12.3f %8.2f %8d\n", name, a, b, a / b, apart);
}

}  // namespace

int main(int argc, char** argv) {
    uint32_t points = 100'000;
    int rounds = 50;
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        if (word == "--points" && k + 1 < argc && std::atoi(argv[k + 1]) > 0)
            points = uint32_t(std::atoi(argv[++k]));
        else if (word == "--rounds" && k + 1 < argc && std::atoi(argv[k + 1]) > 0)
            rounds = std::atoi(argv[++k]);
        else
            return std::fputs(kUsage, word == "--help" ? stdout : stderr), word == "--help" ? 0 : 2;
    }
    Stage stage(Device::create({}));
    std::printf("%s, %u points, ms a frame\n", stage.device->info().name.c_str(), points);
    std::printf("%-8s %10s %12s %8s %8s\n", "", "Firn", "by hand", "ratio", "apart");
    compare(stage, "flat", 2, points, rounds);
    compare(stage, "space", 3, points, rounds);
    stage.device->wait_idle();
}
