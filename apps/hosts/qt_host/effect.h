// A saved program on the Vulkan device of Qt's scene graph. All that concerns Firn is in
// effect.cpp.
#pragma once
#include <QByteArray>
#include <QSize>
#include <QString>
#include <QVulkanFunctions>
#include <QVulkanInstance>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct firn_buffer;
struct firn_call;
struct firn_context;
struct firn_image;
struct firn_program;

/// The device that Qt made, with the functions of Qt that find Vulkan's.
struct QtDevice {
    QVulkanInstance* instance = nullptr;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    uint32_t queue_family = 0;
};

/// A parameter of one number, as a slider shows it.
struct Setting {
    QString name, unit, help;
    double value = 0, min = 0, max = 1;
    bool is_whole = false;
};

/// A program with its memory and picture. All functions are called by the thread that renders, and
/// throw std::runtime_error with the reason.
class Effect {
  public:
    Effect(const QtDevice& qt, const QByteArray& file);
    /// Waits for the device: its commands are complete then.
    ~Effect();
    Effect(const Effect&) = delete;
    Effect& operator=(const Effect&) = delete;

    /// The parameters that a user may change: `time` is set by the effect.
    const std::vector<Setting>& settings() const { return settings_; }
    /// The value of a parameter from the next step on.
    void set(const QString& name, double value);

    /// The picture, in the layout SHADER_READ_ONLY_OPTIMAL once a step was recorded.
    VkImage picture() const { return picture_.image; }
    QSize size() const { return size_; }

    /// Records a step into the commands of a frame, outside of a render pass. Qt has waited for all
    /// frames but the last `frames_in_flight` ones.
    void record(VkCommandBuffer commands, int frames_in_flight);

  private:
    struct Memory {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkImage image = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    void make_context();
    void make_memory();
    void make_picture(uint32_t width, uint32_t height);
    firn_buffer* make_tensor(uint64_t bytes, uint32_t usage);
    VkDeviceMemory allocate(const VkMemoryRequirements& needed);
    void find_settings();
    void release();
    void check(int32_t code, const char* what) const;

    QtDevice qt_;
    QVulkanDeviceFunctions* vk_ = nullptr;
    firn_context* context_ = nullptr;
    firn_program* program_ = nullptr;
    firn_call* calls_[2] = {};  // they take turns: each reads what the other one wrote
    std::vector<firn_buffer*> tensors_;
    std::vector<Memory> buffers_;
    Memory picture_;
    firn_image* firn_picture_ = nullptr;
    QSize size_;
    std::vector<Setting> settings_;
    std::map<std::string, uint32_t> parameters_;  // of one number, by name
    uint64_t frame_ = 0;                          // the last one that was recorded
};
