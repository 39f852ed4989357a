// A saved program on the Vulkan device of Qt's scene graph.
#include "effect.h"

#include <firn.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void say(void*, int32_t level, const char* text) {
    std::fprintf(stderr, "qt_host: firn: %s%s\n", level == FIRN_LOG_ERROR ? "" : "warning: ", text);
}

/// A struct that begins with its size, as firn.h wants it.
template <class Struct>
Struct sized() {
    Struct out{};
    out.struct_size = sizeof out;
    return out;
}

void check_vulkan(VkResult result, const char* what) {
    if (result != VK_SUCCESS)
        throw std::runtime_error(std::string(what) + " gave the VkResult " +
                                 std::to_string(result));
}

}  // namespace

void Effect::check(int32_t code, const char* what) const {
    if (code != FIRN_OK)
        throw std::runtime_error(std::string(what) + ": " + firn_code_name(code) + ": " +
                                 firn_message(context_));
}

/// Gives Firn the device as Qt made it. Firn records only: it gets no queue.
void Effect::make_context() {
    const QByteArrayList extensions = qt_.instance->extensions();
    std::vector<const char*> names;
    for (const QByteArray& each : extensions) names.push_back(each.constData());
    const QVersionNumber version = qt_.instance->apiVersion();

    auto host = sized<firn_host>();
    host.instance = qt_.instance->vkInstance();
    host.physical_device = qt_.physical;
    host.device = qt_.device;
    host.get_instance_proc_addr =
        reinterpret_cast<void*>(qt_.instance->getInstanceProcAddr("vkGetInstanceProcAddr"));
    host.api_version = VK_MAKE_API_VERSION(0, uint32_t(version.majorVersion()),
                                           uint32_t(version.minorVersion()), 0);
    host.instance_extension_count = static_cast<uint32_t>(names.size());
    host.instance_extensions = names.data();
    host.queue_family = qt_.queue_family;
    host.log = say;
    // Qt does not say which features and extensions its device has: none are stated, and programs
    // run that were saved for vulkan-least.
    char message[512];
    const int32_t code = firn_context_create(&host, &context_, message, sizeof message);
    if (code != FIRN_OK)
        throw std::runtime_error(std::string("firn_context_create: ") + firn_code_name(code) +
                                 ": " + message);
}

VkDeviceMemory Effect::allocate(const VkMemoryRequirements& needed) {
    VkPhysicalDeviceMemoryProperties properties;
    qt_.instance->functions()->vkGetPhysicalDeviceMemoryProperties(qt_.physical, &properties);
    uint32_t type = 0;
    while (type < properties.memoryTypeCount &&
           (!(needed.memoryTypeBits & 1u << type) ||
            !(properties.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)))
        ++type;
    if (type == properties.memoryTypeCount)
        throw std::runtime_error("the device has no memory of its own for a tensor or picture");
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.allocationSize = needed.size;
    info.memoryTypeIndex = type;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    check_vulkan(vk_->vkAllocateMemory(qt_.device, &info, nullptr, &memory), "vkAllocateMemory");
    return memory;
}

/// Memory of the host for a tensor. It can be filled, since a program starts from zeros.
firn_buffer* Effect::make_tensor(uint64_t bytes, uint32_t usage) {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    Memory& made = buffers_.emplace_back();
    check_vulkan(vk_->vkCreateBuffer(qt_.device, &info, nullptr, &made.buffer), "vkCreateBuffer");
    VkMemoryRequirements needed;
    vk_->vkGetBufferMemoryRequirements(qt_.device, made.buffer, &needed);
    made.memory = allocate(needed);
    check_vulkan(vk_->vkBindBufferMemory(qt_.device, made.buffer, made.memory, 0),
                 "vkBindBufferMemory");

    auto given = sized<firn_host_buffer>();
    given.usage = info.usage;
    given.buffer = (uint64_t)made.buffer;
    given.bytes = bytes;
    tensors_.push_back(nullptr);
    check(firn_buffer_import(context_, &given, &tensors_.back()), "firn_buffer_import");
    return tensors_.back();
}

/// The image that Qt samples: Firn's commands write it, and leave it as Qt reads it.
void Effect::make_picture(uint32_t width, uint32_t height) {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R8G8B8A8_UNORM;  // QSGVulkanTexture::fromNative takes this one alone
    info.extent = {width, height, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    check_vulkan(vk_->vkCreateImage(qt_.device, &info, nullptr, &picture_.image), "vkCreateImage");
    VkMemoryRequirements needed;
    vk_->vkGetImageMemoryRequirements(qt_.device, picture_.image, &needed);
    picture_.memory = allocate(needed);
    check_vulkan(vk_->vkBindImageMemory(qt_.device, picture_.image, picture_.memory, 0),
                 "vkBindImageMemory");
    size_ = QSize(int(width), int(height));

    auto given = sized<firn_host_image>();
    given.usage = info.usage;
    given.image = (uint64_t)picture_.image;
    given.format = info.format;
    given.width = width;
    given.height = height;
    given.layout_before = VK_IMAGE_LAYOUT_UNDEFINED;
    given.layout_after = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    check(firn_image_import(context_, &given, &firn_picture_), "firn_image_import");
}

/// Result k becomes the argument k of the next frame, as far as both have one type and shape; the
/// last result is the picture, f32[h, w, 4].
void Effect::make_memory() {
    auto info = sized<firn_program_info>();
    check(firn_program_describe(program_, &info), "firn_program_describe");
    const auto memory_of = [&](int32_t what, uint32_t index) {
        auto out = sized<firn_memory_info>();
        check(firn_call_memory(calls_[0], what, index, &out), "firn_call_memory");
        return out;
    };
    const auto result_of = [&](uint32_t index) {
        auto out = sized<firn_tensor_info>();
        check(firn_result_describe(program_, index, &out), "firn_result_describe");
        return out;
    };
    if (info.result_count == 0) throw std::runtime_error("the program has no result to show");
    const uint32_t last = info.result_count - 1;
    const firn_memory_info picture = memory_of(FIRN_RESULT, last);
    if (result_of(last).dtype != FIRN_F32 || picture.rank != 3 || picture.extents[2] != 4)
        throw std::runtime_error(
            std::string(
                "the program has no picture: its last result has to be f32 [h, w, 4], and is ") +
            result_of(last).shape);
    make_picture(uint32_t(picture.extents[1]), uint32_t(picture.extents[0]));

    std::vector<firn_binding> arguments[2], results[2];  // by call
    for (int call = 0; call < 2; ++call) {
        arguments[call].resize(info.argument_count);
        results[call].resize(info.result_count);
        results[call][last].image = firn_picture_;
    }
    for (uint32_t k = 0; k < info.argument_count; ++k) {
        auto argument = sized<firn_tensor_info>();
        check(firn_argument_describe(program_, k, &argument), "firn_argument_describe");
        if (argument.is_scalar) continue;
        firn_memory_info memory = memory_of(FIRN_ARGUMENT, k);
        bool is_fed = false;
        if (k < last && result_of(k).dtype == argument.dtype) {
            const firn_memory_info result = memory_of(FIRN_RESULT, k);
            is_fed = result.rank == memory.rank &&
                     std::equal(std::begin(result.extents), std::end(result.extents),
                                std::begin(memory.extents));
            memory.usage |= result.usage;
        }
        firn_buffer* sides[2];
        sides[0] = sides[1] = make_tensor(memory.bytes, memory.usage);
        if (is_fed) sides[1] = make_tensor(memory.bytes, memory.usage);
        for (int call = 0; call < 2; ++call) {
            arguments[call][k].buffer = sides[call];
            if (is_fed) results[call][k].buffer = sides[1 - call];
        }
    }
    for (int call = 0; call < 2; ++call)
        check(firn_call_bind(calls_[call], arguments[call].data(), info.argument_count,
                             results[call].data(), info.result_count, nullptr),
              "firn_call_bind");
}

void Effect::find_settings() {
    auto program = sized<firn_program_info>();
    check(firn_program_describe(program_, &program), "firn_program_describe");
    for (uint32_t k = 0; k < program.parameter_count; ++k) {
        auto info = sized<firn_parameter_info>();
        check(firn_parameter_describe(program_, k, &info), "firn_parameter_describe");
        if (info.count != 1) continue;
        parameters_[info.name] = k;
        if (std::string(info.name) == "time") continue;
        Setting& setting = settings_.emplace_back();
        setting.name = QString::fromUtf8(info.name);
        setting.unit = QString::fromUtf8(info.unit);
        setting.help = QString::fromUtf8(info.help);
        setting.value = info.values[0];
        setting.is_whole = info.kind == FIRN_PARAMETER_INT || info.kind == FIRN_PARAMETER_BOOL ||
                           info.kind == FIRN_PARAMETER_CHOICE;
        const bool is_soft = info.soft_max > info.soft_min;
        setting.min = is_soft        ? info.soft_min
                      : info.has_min ? info.min
                                     : std::min(0.0, setting.value);
        setting.max = is_soft        ? info.soft_max
                      : info.has_max ? info.max
                                     : std::max(setting.min + 1, 2 * setting.value);
        if (info.kind == FIRN_PARAMETER_BOOL) setting.min = 0, setting.max = 1;
        if (info.kind == FIRN_PARAMETER_CHOICE)
            setting.min = 0, setting.max = info.choice_count - 1.0;
    }
}

Effect::Effect(const QtDevice& qt, const QByteArray& file)
    : qt_(qt), vk_(qt.instance->deviceFunctions(qt.device)) {
    try {
        make_context();
        check(firn_program_load(context_, file.constData(), size_t(file.size()), &program_),
              "firn_program_load");
        // NULL: the sizes that the program was saved with.
        for (firn_call*& call : calls_)
            check(firn_call_create(program_, nullptr, 0, &call), "firn_call_create");
        make_memory();
        find_settings();
    } catch (...) {
        release();
        throw;
    }
}

Effect::~Effect() {
    vk_->vkDeviceWaitIdle(qt_.device);
    release();
}

void Effect::release() {
    for (firn_call* call : calls_) firn_call_release(call);
    for (firn_buffer* tensor : tensors_) firn_buffer_release(tensor);
    firn_image_release(firn_picture_);
    firn_program_release(program_);
    const int32_t code = firn_context_destroy(context_);
    if (code != FIRN_OK) say(nullptr, FIRN_LOG_ERROR, firn_message(context_));
    buffers_.push_back(picture_);
    for (const Memory& each : buffers_) {
        vk_->vkDestroyBuffer(qt_.device, each.buffer, nullptr);
        vk_->vkDestroyImage(qt_.device, each.image, nullptr);
        vk_->vkFreeMemory(qt_.device, each.memory, nullptr);
    }
}

void Effect::set(const QString& name, double value) {
    const auto found = parameters_.find(name.toStdString());
    if (found == parameters_.end()) {
        std::string known;
        for (const auto& [each, index] : parameters_) known += "\n  " + each;
        throw std::runtime_error("the program has no parameter '" + name.toStdString() +
                                 "' of one number; it has:" + known);
    }
    for (firn_call* call : calls_)
        check(firn_call_set_parameter(call, found->second, &value, 1), "firn_call_set_parameter");
}

void Effect::record(VkCommandBuffer commands, int frames_in_flight) {
    if (frame_ == 0)
        for (const Memory& each : buffers_)
            vk_->vkCmdFillBuffer(commands, each.buffer, 0, VK_WHOLE_SIZE, 0);
    if (parameters_.count("time")) set("time", double(frame_) / 60);
    ++frame_;
    const auto in_flight = uint64_t(frames_in_flight);
    if (frame_ > in_flight) check(firn_collect(context_, frame_ - in_flight), "firn_collect");

    auto info = sized<firn_record_info>();
    info.flags = FIRN_RECORD_BARRIERS;
    info.command_buffer = commands;
    info.frame = frame_;
    check(firn_record(calls_[frame_ % 2], &info, nullptr), "firn_record");
}
