// The host's own small renderer: a cube with a picture on it, in a window or without one. It knows
// nothing of Firn, and its device has no feature enabled.
#ifndef RENDERER_H
#define RENDERER_H

#include <stdint.h>
#include <volk.h>

#define FRAMES_IN_FLIGHT 2
#define MAX_SWAPCHAIN_IMAGES 8

struct GLFWwindow;

// The objects that each frame in flight has of its own.
struct frame {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkSemaphore acquired;
    uint64_t number;  // of the frame that was recorded last
};

struct image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
};

struct buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes;
    VkBufferUsageFlags usage;
};

struct renderer {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    int messages;  // that the validation layers gave
    const char* instance_extensions[8];
    uint32_t instance_extension_count;
    const char* extensions[1];
    uint32_t extension_count;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;

    struct GLFWwindow* window;  // NULL: pictures are drawn and not shown
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkImage swapchain_images[MAX_SWAPCHAIN_IMAGES];
    VkSemaphore drawn[MAX_SWAPCHAIN_IMAGES];
    uint32_t swapchain_count, acquired_image;
    int is_outdated;  // 1: the swapchain no longer fits the window

    struct frame frames[FRAMES_IN_FLIGHT];
    uint64_t frame;       // the number of the frame that is being recorded, from 1 on
    uint64_t frame_done;  // the newest frame whose fence was waited for

    VkExtent2D extent;  // of what is drawn
    VkRenderPass render_pass;
    struct image target, depth;
    VkFramebuffer framebuffer;

    struct image texture;
    VkExtent2D texture_extent;
    VkSampler sampler;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet set;
    VkPipelineLayout pipeline_layout;
    VkPipeline pipeline;
};

// Prints the text, behind the name of the program, and ends the process with 1.
void stop(const char* format, ...);

// Makes instance, device and all that drawing takes. `validate`: with the validation layers, also
// those of synchronisation, whose messages are printed and counted.
void renderer_create(struct renderer* r, struct GLFWwindow* window, VkExtent2D extent,
                     int validate);
void renderer_destroy(struct renderer* r);

// Makes a buffer in memory of the device.
struct buffer renderer_buffer(struct renderer* r, VkDeviceSize bytes, VkBufferUsageFlags usage);
void renderer_free(struct renderer* r, struct buffer* buffer);

// Makes the texture of the cube: floats, red, green, blue and alpha.
void renderer_make_texture(struct renderer* r, uint32_t width, uint32_t height);

// Begins the commands of the next frame, after waiting for the frame that used them before.
// VK_NULL_HANDLE: the window has no size at present, and nothing can be drawn.
VkCommandBuffer renderer_begin(struct renderer* r);
// Records the copy of the buffer into the texture. What wrote the buffer is visible to transfers.
//
void renderer_copy_to_texture(struct renderer* r, VkBuffer buffer, VkDeviceSize offset);
// Records the cube, submits the frame and shows it.
void renderer_end(struct renderer* r, float angle);

// Writes what was drawn last as a PPM file.
void renderer_write_picture(struct renderer* r, const char* path);

#endif
