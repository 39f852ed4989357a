// A host that renders by libplacebo: Firn computes on its device and its queue, and libplacebo
// shows the picture.
#include <firn.h>
#include <libplacebo/renderer.h>
#include <libplacebo/vulkan.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 320
#define HEIGHT 240
#define FRAMES 4

static void stop(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "placebo_host: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void firn_check(firn_context* context, int32_t code, const char* what) {
    if (code != FIRN_OK) stop("%s: %s: %s", what, firn_code_name(code), firn_message(context));
}

static void* read_file(const char* path, size_t* bytes) {
    FILE* file = fopen(path, "rb");
    if (!file) stop("there is no file %s, or it cannot be read", path);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    void* data = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        stop("the file %s cannot be read", path);
    fclose(file);
    *bytes = (size_t)size;
    return data;
}

// ---- The device of libplacebo ----

static int errors;  // that libplacebo or the validation layers told

static void on_log(void* user, enum pl_log_level level, const char* text) {
    (void)user;
    fprintf(stderr, "placebo_host: %s\n", text);
    if (level <= PL_LOG_ERR) ++errors;
}

// libplacebo submits from threads of its own: whoever uses the queue holds its lock.
static void lock_queue(void* user) {
    pl_vulkan vulkan = user;
    vulkan->lock_queue(vulkan, (int)vulkan->queue_graphics.index, 0);
}

static void unlock_queue(void* user) {
    pl_vulkan vulkan = user;
    vulkan->unlock_queue(vulkan, (int)vulkan->queue_graphics.index, 0);
}

static firn_context* make_context(pl_vk_inst instance, pl_vulkan vulkan) {
    char message[512];
    firn_context* context;
    VkQueue queue;
    vkGetDeviceQueue(vulkan->device, vulkan->queue_graphics.index, 0, &queue);
    const firn_host host = {.struct_size = sizeof host,
                            .flags = FIRN_HOST_MAY_PROBE,
                            .instance = instance->instance,
                            .physical_device = vulkan->phys_device,
                            .device = vulkan->device,
                            .get_instance_proc_addr = (void*)instance->get_proc_addr,
                            .api_version = instance->api_version,
                            .instance_extension_count = (uint32_t)instance->num_extensions,
                            .instance_extensions = instance->extensions,
                            .extension_count = (uint32_t)vulkan->num_extensions,
                            .extensions = vulkan->extensions,
                            .features = vulkan->features,
                            .queue = queue,
                            .queue_family = vulkan->queue_graphics.index,
                            .lock_queue = lock_queue,
                            .unlock_queue = unlock_queue,
                            .user = (void*)vulkan};
    if (firn_context_create(&host, &context, message, sizeof message) != FIRN_OK)
        stop("firn_context_create: %s", message);
    return context;
}

// ---- An image that both use ----

struct image {
    VkImage image;
    VkDeviceMemory memory;
};

static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
static const VkImageUsageFlags usage =
    VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;

static struct image make_image(pl_vulkan vulkan) {
    struct image out = {0};
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {WIDTH, HEIGHT, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = usage};
    if (vkCreateImage(vulkan->device, &info, NULL, &out.image) != VK_SUCCESS)
        stop("vkCreateImage failed");
    VkMemoryRequirements needed;
    vkGetImageMemoryRequirements(vulkan->device, out.image, &needed);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(vulkan->phys_device, &memory);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needed.size};
    while (!(needed.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           !(memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags &
             VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT))
        if (++allocate.memoryTypeIndex == memory.memoryTypeCount)
            stop("the device has no memory for images");
    if (vkAllocateMemory(vulkan->device, &allocate, NULL, &out.memory) != VK_SUCCESS ||
        vkBindImageMemory(vulkan->device, out.image, out.memory, 0) != VK_SUCCESS)
        stop("the image gets no memory");
    return out;
}

static void free_image(pl_vulkan vulkan, struct image* image) {
    vkDestroyImage(vulkan->device, image->image, NULL);
    vkFreeMemory(vulkan->device, image->memory, NULL);
}

// A picture whose edges are known: squares of several colours.
static void draw(uint8_t* pixels) {
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) {
            uint8_t* pixel = pixels + 4 * (y * WIDTH + x);
            pixel[0] = (uint8_t)(40 * (x / 60));
            pixel[1] = (uint8_t)(50 * (y / 60));
            pixel[2] = (uint8_t)((x + y) / 40 % 2 * 90);
            pixel[3] = 255;
        }
}

// The result that Firn is to compute of it, in whole numbers.
static uint8_t edge_at(const uint8_t* pixels, int y, int x, int channel, int strength) {
    const int below = y + 1 < HEIGHT ? y + 1 : y, right = x + 1 < WIDTH ? x + 1 : x;
    const int here = pixels[4 * (y * WIDTH + x) + channel];
    const int edge = abs(pixels[4 * (below * WIDTH + x) + channel] - here) +
                     abs(pixels[4 * (y * WIDTH + right) + channel] - here);
    const int out = strength * edge;
    return (uint8_t)(channel == 3 ? here : out < 255 ? out : 255);
}

// libplacebo shows the texture, twice as large.
static void write_picture(pl_log log, pl_gpu gpu, pl_tex shown, const char* path) {
    static uint8_t pixels[4 * 4 * WIDTH * HEIGHT];
    const struct pl_tex_params params = {.w = 2 * WIDTH,
                                         .h = 2 * HEIGHT,
                                         .format = shown->params.format,
                                         .renderable = true,
                                         .host_readable = true};
    pl_tex target = pl_tex_create(gpu, &params);
    pl_renderer renderer = pl_renderer_create(log, gpu);
    const struct pl_frame from = {
        .num_planes = 1,
        .planes = {{.texture = shown, .components = 4, .component_mapping = {0, 1, 2, 3}}},
        .repr = pl_color_repr_rgb,
        .color = pl_color_space_srgb};
    const struct pl_frame to = {
        .num_planes = 1,
        .planes = {{.texture = target, .components = 4, .component_mapping = {0, 1, 2, 3}}},
        .repr = pl_color_repr_rgb,
        .color = pl_color_space_srgb};
    const struct pl_tex_transfer_params download = {.tex = target, .ptr = pixels};
    if (!target || !renderer || !pl_render_image(renderer, &from, &to, &pl_render_default_params) ||
        !pl_tex_download(gpu, &download))
        stop("libplacebo does not render the picture");
    pl_renderer_destroy(&renderer);
    pl_tex_destroy(gpu, &target);
    FILE* file = fopen(path, "wb");
    if (!file) stop("the picture %s cannot be written", path);
    fprintf(file, "P6\n%d %d\n255\n", 2 * WIDTH, 2 * HEIGHT);
    for (size_t k = 0; k < sizeof pixels / 4; ++k) fwrite(pixels + 4 * k, 1, 3, file);
    if (fclose(file) != 0) stop("the picture %s cannot be written", path);
}

static VkSemaphore make_semaphore(pl_vulkan vulkan) {
    const VkSemaphoreTypeCreateInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &timeline};
    VkSemaphore out;
    if (vkCreateSemaphore(vulkan->device, &info, NULL, &out) != VK_SUCCESS)
        stop("vkCreateSemaphore failed");
    return out;
}

int main(int argc, char** argv) {
    const char* picture = NULL;
    int validate = 0;
    for (int k = 2; k < argc; ++k) {
        if (strcmp(argv[k], "--validate") == 0)
            validate = 1;
        else if (!picture)
            picture = argv[k];
    }
    if (argc < 2) {
        fprintf(stderr, "usage: placebo_host edges.firn [PICTURE.ppm] [--validate]\n");
        return 2;
    }
    size_t bytes;
    void* file = read_file(argv[1], &bytes);

    const struct pl_log_params log_params = {.log_cb = on_log, .log_level = PL_LOG_WARN};
    pl_log log = pl_log_create(PL_API_VER, &log_params);
    const struct pl_vk_inst_params instance_params = {.debug = validate};
    pl_vk_inst instance = pl_vk_inst_create(log, &instance_params);
    if (!instance) stop("libplacebo makes no Vulkan instance");
    // One queue, so that textures belong to one family; Firn computes on it.
    const struct pl_vulkan_params params = {.instance = instance->instance,
                                            .get_proc_addr = instance->get_proc_addr,
                                            .allow_software = true,
                                            .queue_count = 1};
    pl_vulkan vulkan = pl_vulkan_create(log, &params);
    if (!vulkan) stop("libplacebo makes no Vulkan device");
    pl_gpu gpu = vulkan->gpu;
    firn_context* context = make_context(instance, vulkan);
    printf("device: %s\n", firn_context_device(context));
    firn_program* program;
    firn_call* call;
    firn_check(context, firn_program_load(context, file, bytes, &program), argv[1]);
    free(file);
    const firn_shape shapes[2] = {{3, {HEIGHT, WIDTH, 4}}, {0}};  // the picture, and a number
    firn_check(context, firn_call_create(program, shapes, 2, &call), "firn_call_create");

    static uint8_t pixels[4 * WIDTH * HEIGHT], edges[4 * WIDTH * HEIGHT];
    static float numbers[4 * WIDTH * HEIGHT];
    draw(pixels);
    for (size_t k = 0; k < sizeof pixels; ++k) numbers[k] = (float)pixels[k] / 255;
    firn_buffer* from;
    firn_check(context, firn_buffer_create(context, sizeof numbers, &from), "firn_buffer_create");
    firn_check(context, firn_buffer_write(from, 0, numbers, sizeof numbers), "firn_buffer_write");

    // Firn writes the image anew each time, and leaves it in a layout in which it can be read.
    struct image image = make_image(vulkan);
    const firn_host_image written = {.struct_size = sizeof written,
                                     .usage = usage,
                                     .image = (uint64_t)image.image,
                                     .format = format,
                                     .width = WIDTH,
                                     .height = HEIGHT,
                                     .layout_before = VK_IMAGE_LAYOUT_UNDEFINED,
                                     .layout_after = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    firn_image* to;
    firn_check(context, firn_image_import(context, &written, &to), "firn_image_import");
    const firn_binding arguments[2] = {{.buffer = from}}, results[1] = {{.image = to}};
    firn_check(context, firn_call_bind(call, arguments, 2, results, 1, NULL), "firn_call_bind");

    // Counts the frames that Firn has computed; libplacebo waits for it.
    VkSemaphore semaphore = make_semaphore(vulkan);
    uint64_t different = 0;
    for (int strength = 0; strength < FRAMES; ++strength) {
        const double value = strength;
        const firn_semaphore computed = {(uint64_t)semaphore, (uint64_t)strength + 1};
        const firn_submit_info submit = {
            .struct_size = sizeof submit, .signal_count = 1, .signals = &computed};
        firn_check(context, firn_call_set_parameter(call, 0, &value, 1), "firn_call_set_parameter");
        firn_check(context, firn_submit(call, &submit, NULL), "firn_submit");

        // The image is the host's from here on until it is released to libplacebo.
        pl_tex shown = pl_vulkan_wrap(
            gpu, pl_vulkan_wrap_params(.image = image.image, .width = WIDTH, .height = HEIGHT,
                                       .format = format, .usage = usage));
        if (!shown) stop("libplacebo does not take the image");
        pl_vulkan_release(gpu, shown, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                          (pl_vulkan_sem){semaphore, computed.value});
        const struct pl_tex_transfer_params download = {.tex = shown, .ptr = edges};
        if (!pl_tex_download(gpu, &download)) stop("libplacebo does not read the image");
        for (int y = 0; y < HEIGHT; ++y)
            for (int x = 0; x < WIDTH; ++x)
                for (int c = 0; c < 4; ++c)
                    different +=
                        edges[4 * (y * WIDTH + x) + c] != edge_at(pixels, y, x, c, strength);
        if (picture && strength == FRAMES - 1) write_picture(log, gpu, shown, picture);
        pl_gpu_finish(gpu);  // nothing of libplacebo uses the image any more
        pl_tex_destroy(gpu, &shown);
    }
    printf("%llu bytes of %d pictures differ\n", (unsigned long long)different, FRAMES);

    firn_call_release(call);
    firn_buffer_release(from);
    firn_image_release(to);
    firn_program_release(program);
    firn_check(context, firn_context_destroy(context), "firn_context_destroy");
    vkDestroySemaphore(vulkan->device, semaphore, NULL);
    free_image(vulkan, &image);
    pl_vulkan_destroy(&vulkan);
    pl_vk_inst_destroy(&instance);
    pl_log_destroy(&log);
    if (validate) printf("%d messages of the validation layers\n", errors);
    return different > 0 || errors > 0;
}
