// Draws a cube with a picture on it by Vulkan 1.2 without any feature.
#define VOLK_IMPLEMENTATION  // the functions of volk are in this file
#include "renderer.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cube.frag.inc"
#include "cube.vert.inc"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void stop(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "c_host: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void check(VkResult result, const char* what) {
    if (result < 0) stop("%s failed with the code %d", what, (int)result);
}

// ---- Instance and device ----

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                 void* user) {
    (void)severity, (void)types;
    ++((struct renderer*)user)->messages;
    fprintf(stderr, "c_host: validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static int has_layer(const char* name) {
    VkLayerProperties layers[64];
    uint32_t count = COUNT(layers);
    vkEnumerateInstanceLayerProperties(&count, layers);
    for (uint32_t k = 0; k < count; ++k)
        if (strcmp(layers[k].layerName, name) == 0) return 1;
    return 0;
}

static void make_instance(struct renderer* r, int validate) {
    const char* layer = "VK_LAYER_KHRONOS_validation";
    if (volkInitialize() != VK_SUCCESS)
        stop("there is no Vulkan loader; install libvulkan1 and a driver");
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2) stop("the Vulkan loader is older than 1.2");
    if (r->window) {
        uint32_t count = 0;
        const char** needed = glfwGetRequiredInstanceExtensions(&count);
        if (!needed) stop("GLFW cannot show pictures of Vulkan here; run with --no-window");
        for (uint32_t k = 0; k < count && k < 7; ++k)
            r->instance_extensions[r->instance_extension_count++] = needed[k];
    }
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = r};
    const VkValidationFeatureEnableEXT also =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkValidationFeaturesEXT validation = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                                .pNext = &messenger,
                                                .enabledValidationFeatureCount = 1,
                                                .pEnabledValidationFeatures = &also};
    if (validate) {
        if (!has_layer(layer)) stop("there is no %s; install vulkan-validationlayers", layer);
        r->instance_extensions[r->instance_extension_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    }
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "c_host",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = validate ? &validation : NULL,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = validate ? 1 : 0,
                                       .ppEnabledLayerNames = &layer,
                                       .enabledExtensionCount = r->instance_extension_count,
                                       .ppEnabledExtensionNames = r->instance_extensions};
    check(vkCreateInstance(&info, NULL, &r->instance), "vkCreateInstance");
    volkLoadInstanceOnly(r->instance);
    if (validate)
        check(vkCreateDebugUtilsMessengerEXT(r->instance, &messenger, NULL, &r->messenger),
              "vkCreateDebugUtilsMessengerEXT");
    if (r->window)
        check(glfwCreateWindowSurface(r->instance, r->window, NULL, &r->surface),
              "glfwCreateWindowSurface");
}

// Returns the queue family that draws, computes and shows; UINT32_MAX: none.
static uint32_t family_of(struct renderer* r, VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[32];
    uint32_t count = COUNT(families);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t k = 0; k < count; ++k) {
        const VkQueueFlags needed = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
        VkBool32 shows = VK_TRUE;
        if (r->surface) vkGetPhysicalDeviceSurfaceSupportKHR(physical, k, r->surface, &shows);
        if ((families[k].queueFlags & needed) == needed && shows) return k;
    }
    return UINT32_MAX;
}

static void make_device(struct renderer* r) {
    VkPhysicalDevice all[16];
    uint32_t count = COUNT(all);
    vkEnumeratePhysicalDevices(r->instance, &count, all);
    int best = -1;
    for (uint32_t k = 0; k < count; ++k) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(all[k], &properties);
        const uint32_t family = family_of(r, all[k]);
        const VkPhysicalDeviceType type = properties.deviceType;
        const int worth = type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 2
                          : type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 1
                                                                           : 0;
        if (properties.apiVersion < VK_API_VERSION_1_2 || family == UINT32_MAX || worth <= best)
            continue;
        best = worth;
        r->physical = all[k];
        r->properties = properties;
        r->queue_family = family;
    }
    if (best < 0) stop("no device of Vulkan 1.2 draws%s", r->window ? " into this window" : "");
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = r->queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    if (r->window) r->extensions[r->extension_count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = r->extension_count,
                                     .ppEnabledExtensionNames = r->extensions};
    check(vkCreateDevice(r->physical, &info, NULL, &r->device), "vkCreateDevice");
    volkLoadDevice(r->device);
    vkGetDeviceQueue(r->device, r->queue_family, 0, &r->queue);
}

// ---- Memory ----

static VkDeviceMemory allocate(struct renderer* r, VkMemoryRequirements needed,
                               VkMemoryPropertyFlags properties) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(r->physical, &memory);
    for (uint32_t k = 0; k < memory.memoryTypeCount; ++k) {
        if (!(needed.memoryTypeBits >> k & 1) ||
            (memory.memoryTypes[k].propertyFlags & properties) != properties)
            continue;
        const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = needed.size,
                                           .memoryTypeIndex = k};
        VkDeviceMemory out;
        check(vkAllocateMemory(r->device, &info, NULL, &out), "vkAllocateMemory");
        return out;
    }
    stop("the device has no memory of the kind that is needed");
    return VK_NULL_HANDLE;
}

static struct buffer make_buffer(struct renderer* r, VkDeviceSize bytes, VkBufferUsageFlags usage,
                                 VkMemoryPropertyFlags properties) {
    struct buffer out = {.bytes = bytes, .usage = usage};
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes, .usage = usage};
    check(vkCreateBuffer(r->device, &info, NULL, &out.buffer), "vkCreateBuffer");
    VkMemoryRequirements needed;
    vkGetBufferMemoryRequirements(r->device, out.buffer, &needed);
    out.memory = allocate(r, needed, properties);
    check(vkBindBufferMemory(r->device, out.buffer, out.memory, 0), "vkBindBufferMemory");
    return out;
}

struct buffer renderer_buffer(struct renderer* r, VkDeviceSize bytes, VkBufferUsageFlags usage) {
    return make_buffer(r, bytes, usage, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

void renderer_free(struct renderer* r, struct buffer* buffer) {
    vkDestroyBuffer(r->device, buffer->buffer, NULL);
    vkFreeMemory(r->device, buffer->memory, NULL);
    memset(buffer, 0, sizeof *buffer);
}

static struct image make_image(struct renderer* r, VkExtent2D extent, VkFormat format,
                               VkImageUsageFlags usage, VkImageAspectFlags aspect) {
    struct image out;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {extent.width, extent.height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = usage};
    check(vkCreateImage(r->device, &info, NULL, &out.image), "vkCreateImage");
    VkMemoryRequirements needed;
    vkGetImageMemoryRequirements(r->device, out.image, &needed);
    out.memory = allocate(r, needed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    check(vkBindImageMemory(r->device, out.image, out.memory, 0), "vkBindImageMemory");
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = out.image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = format,
                                        .subresourceRange = {aspect, 0, 1, 0, 1}};
    check(vkCreateImageView(r->device, &view, NULL, &out.view), "vkCreateImageView");
    return out;
}

static void free_image(struct renderer* r, struct image* image) {
    vkDestroyImageView(r->device, image->view, NULL);
    vkDestroyImage(r->device, image->image, NULL);
    vkFreeMemory(r->device, image->memory, NULL);
    memset(image, 0, sizeof *image);
}

// ---- What depends on the size of the window ----

static const VkFormat target_format = VK_FORMAT_R8G8B8A8_UNORM, depth_format = VK_FORMAT_D16_UNORM;

static void make_target(struct renderer* r) {
    r->target = make_image(r, r->extent, target_format,
                           VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                           VK_IMAGE_ASPECT_COLOR_BIT);
    r->depth = make_image(r, r->extent, depth_format, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                          VK_IMAGE_ASPECT_DEPTH_BIT);
    const VkImageView views[] = {r->target.view, r->depth.view};
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = r->render_pass,
                                          .attachmentCount = 2,
                                          .pAttachments = views,
                                          .width = r->extent.width,
                                          .height = r->extent.height,
                                          .layers = 1};
    check(vkCreateFramebuffer(r->device, &info, NULL, &r->framebuffer), "vkCreateFramebuffer");
}

static void free_target(struct renderer* r) {
    vkDestroyFramebuffer(r->device, r->framebuffer, NULL);
    free_image(r, &r->target);
    free_image(r, &r->depth);
}

static void free_swapchain(struct renderer* r) {
    for (uint32_t k = 0; k < r->swapchain_count; ++k)
        vkDestroySemaphore(r->device, r->drawn[k], NULL);
    vkDestroySwapchainKHR(r->device, r->swapchain, NULL);
    r->swapchain = VK_NULL_HANDLE;
    r->swapchain_count = 0;
}

// Returns 0 where the window has no size at present.
static int make_swapchain(struct renderer* r) {
    VkSurfaceCapabilitiesKHR can;
    check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(r->physical, r->surface, &can),
          "vkGetPhysicalDeviceSurfaceCapabilitiesKHR");
    VkExtent2D extent = can.currentExtent;
    if (extent.width == UINT32_MAX) {  // the swapchain decides
        int width, height;
        glfwGetFramebufferSize(r->window, &width, &height);
        extent = (VkExtent2D){(uint32_t)width, (uint32_t)height};
    }
    if (extent.width == 0 || extent.height == 0) return 0;
    if (!(can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_DST_BIT))
        stop("pictures cannot be copied into this window");
    VkSurfaceFormatKHR formats[64],
        format = {VK_FORMAT_UNDEFINED, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR};
    uint32_t format_count = COUNT(formats);
    vkGetPhysicalDeviceSurfaceFormatsKHR(r->physical, r->surface, &format_count, formats);
    for (uint32_t k = 0; k < format_count; ++k)
        if (formats[k].format == VK_FORMAT_B8G8R8A8_UNORM ||
            formats[k].format == VK_FORMAT_R8G8B8A8_UNORM)
            format = formats[k];
    if (format.format == VK_FORMAT_UNDEFINED) stop("the window has no format of 8 bits a colour");
    uint32_t images = can.minImageCount + 1;
    if (can.maxImageCount > 0 && images > can.maxImageCount) images = can.maxImageCount;

    vkDeviceWaitIdle(r->device);
    free_swapchain(r);
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = r->surface,
                                           .minImageCount = images,
                                           .imageFormat = format.format,
                                           .imageColorSpace = format.colorSpace,
                                           .imageExtent = extent,
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = can.currentTransform,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                           .clipped = VK_TRUE};
    check(vkCreateSwapchainKHR(r->device, &info, NULL, &r->swapchain), "vkCreateSwapchainKHR");
    check(vkGetSwapchainImagesKHR(r->device, r->swapchain, &r->swapchain_count, NULL),
          "vkGetSwapchainImagesKHR");
    if (r->swapchain_count > MAX_SWAPCHAIN_IMAGES) stop("the window has too many images");
    vkGetSwapchainImagesKHR(r->device, r->swapchain, &r->swapchain_count, r->swapchain_images);
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    for (uint32_t k = 0; k < r->swapchain_count; ++k)
        check(vkCreateSemaphore(r->device, &semaphore, NULL, &r->drawn[k]), "vkCreateSemaphore");
    if (extent.width != r->extent.width || extent.height != r->extent.height) {
        free_target(r);
        r->extent = extent;
        make_target(r);
    }
    r->is_outdated = 0;
    return 1;
}

// ---- What does not ----

static void make_render_pass(struct renderer* r) {
    const VkAttachmentDescription attachments[] = {
        {.format = target_format,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
         .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
         .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
        {.format = depth_format,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
         .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL}};
    const VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
                                depth = {1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &colour,
                                          .pDepthStencilAttachment = &depth};
    const VkPipelineStageFlags drawing = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT |
                                         VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                         VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags writing =
        VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    // The frame before has drawn and was copied; this one is copied when it is drawn.
    const VkSubpassDependency dependencies[] = {
        {.srcSubpass = VK_SUBPASS_EXTERNAL,
         .dstSubpass = 0,
         .srcStageMask = drawing | VK_PIPELINE_STAGE_TRANSFER_BIT,
         .dstStageMask = drawing,
         .srcAccessMask = writing,
         .dstAccessMask = writing | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT},
        {.srcSubpass = 0,
         .dstSubpass = VK_SUBPASS_EXTERNAL,
         .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT}};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 2,
                                         .pAttachments = attachments,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 2,
                                         .pDependencies = dependencies};
    check(vkCreateRenderPass(r->device, &info, NULL, &r->render_pass), "vkCreateRenderPass");
}

static VkShaderModule make_module(struct renderer* r, const uint32_t* words, size_t bytes) {
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    VkShaderModule module;
    check(vkCreateShaderModule(r->device, &info, NULL, &module), "vkCreateShaderModule");
    return module;
}

static void make_pipeline(struct renderer* r) {
    const VkDescriptorSetLayoutBinding binding = {
        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT};
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    check(vkCreateDescriptorSetLayout(r->device, &set_layout, NULL, &r->set_layout),
          "vkCreateDescriptorSetLayout");
    const VkPushConstantRange push = {VK_SHADER_STAGE_VERTEX_BIT, 0, 16 * sizeof(float)};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &r->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push};
    check(vkCreatePipelineLayout(r->device, &layout, NULL, &r->pipeline_layout),
          "vkCreatePipelineLayout");

    const VkShaderModule vertex = make_module(r, cube_vert, sizeof cube_vert),
                         fragment = make_module(r, cube_frag, sizeof cube_frag);
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"}};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    const VkPipelineColorBlendAttachmentState all = {
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &all};
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states};
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = r->pipeline_layout,
        .renderPass = r->render_pass};
    check(vkCreateGraphicsPipelines(r->device, VK_NULL_HANDLE, 1, &info, NULL, &r->pipeline),
          "vkCreateGraphicsPipelines");
    vkDestroyShaderModule(r->device, vertex, NULL);
    vkDestroyShaderModule(r->device, fragment, NULL);
}

static void make_frames(struct renderer* r) {
    for (int k = 0; k < FRAMES_IN_FLIGHT; ++k) {
        struct frame* frame = &r->frames[k];
        const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = r->queue_family};
        check(vkCreateCommandPool(r->device, &pool, NULL, &frame->pool), "vkCreateCommandPool");
        const VkCommandBufferAllocateInfo commands = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = frame->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1};
        check(vkAllocateCommandBuffers(r->device, &commands, &frame->commands),
              "vkAllocateCommandBuffers");
        const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                         .flags = VK_FENCE_CREATE_SIGNALED_BIT};
        check(vkCreateFence(r->device, &fence, NULL, &frame->fence), "vkCreateFence");
        const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        check(vkCreateSemaphore(r->device, &semaphore, NULL, &frame->acquired),
              "vkCreateSemaphore");
    }
}

void renderer_create(struct renderer* r, struct GLFWwindow* window, VkExtent2D extent,
                     int validate) {
    memset(r, 0, sizeof *r);
    r->window = window;
    r->extent = extent;
    make_instance(r, validate);
    make_device(r);
    make_render_pass(r);
    make_pipeline(r);
    make_frames(r);
    make_target(r);
    r->is_outdated = window != NULL;
}

void renderer_destroy(struct renderer* r) {
    vkDeviceWaitIdle(r->device);
    for (int k = 0; k < FRAMES_IN_FLIGHT; ++k) {
        vkDestroyCommandPool(r->device, r->frames[k].pool, NULL);
        vkDestroyFence(r->device, r->frames[k].fence, NULL);
        vkDestroySemaphore(r->device, r->frames[k].acquired, NULL);
    }
    free_target(r);
    if (r->texture.image) free_image(r, &r->texture);
    vkDestroySampler(r->device, r->sampler, NULL);
    vkDestroyDescriptorPool(r->device, r->descriptor_pool, NULL);
    vkDestroyPipeline(r->device, r->pipeline, NULL);
    vkDestroyPipelineLayout(r->device, r->pipeline_layout, NULL);
    vkDestroyDescriptorSetLayout(r->device, r->set_layout, NULL);
    vkDestroyRenderPass(r->device, r->render_pass, NULL);
    if (r->window) free_swapchain(r);
    vkDestroyDevice(r->device, NULL);
    if (r->surface) vkDestroySurfaceKHR(r->instance, r->surface, NULL);
    if (r->messenger) vkDestroyDebugUtilsMessengerEXT(r->instance, r->messenger, NULL);
    vkDestroyInstance(r->instance, NULL);
}

// ---- The texture ----

void renderer_make_texture(struct renderer* r, uint32_t width, uint32_t height) {
    const VkFormat format = VK_FORMAT_R32G32B32A32_SFLOAT;
    if (width > r->properties.limits.maxImageDimension2D ||
        height > r->properties.limits.maxImageDimension2D)
        stop("the picture has %u x %u pixels; a side has at most %u on this device", width, height,
             r->properties.limits.maxImageDimension2D);
    VkFormatProperties can;
    vkGetPhysicalDeviceFormatProperties(r->physical, format, &can);
    const VkFilter filter =
        can.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT
            ? VK_FILTER_LINEAR
            : VK_FILTER_NEAREST;
    r->texture_extent = (VkExtent2D){width, height};
    r->texture = make_image(r, r->texture_extent, format,
                            VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                            VK_IMAGE_ASPECT_COLOR_BIT);
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                         .magFilter = filter,
                                         .minFilter = filter,
                                         .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                         .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
    check(vkCreateSampler(r->device, &sampler, NULL, &r->sampler), "vkCreateSampler");
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    check(vkCreateDescriptorPool(r->device, &pool, NULL, &r->descriptor_pool),
          "vkCreateDescriptorPool");
    const VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = r->descriptor_pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &r->set_layout};
    check(vkAllocateDescriptorSets(r->device, &set, &r->set), "vkAllocateDescriptorSets");
    const VkDescriptorImageInfo image = {r->sampler, r->texture.view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = r->set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                        .pImageInfo = &image};
    vkUpdateDescriptorSets(r->device, 1, &write, 0, NULL);
}

static void change_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from,
                          VkImageLayout to, VkPipelineStageFlags after, VkAccessFlags wrote,
                          VkPipelineStageFlags before, VkAccessFlags uses) {
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = wrote,
        .dstAccessMask = uses,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, after, before, 0, 0, NULL, 0, NULL, 1, &barrier);
}

void renderer_copy_to_texture(struct renderer* r, VkBuffer buffer, VkDeviceSize offset) {
    VkCommandBuffer commands = r->frames[r->frame % FRAMES_IN_FLIGHT].commands;
    change_layout(commands, r->texture.image, VK_IMAGE_LAYOUT_UNDEFINED,
                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    const VkBufferImageCopy region = {
        .bufferOffset = offset,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {r->texture_extent.width, r->texture_extent.height, 1}};
    vkCmdCopyBufferToImage(commands, buffer, r->texture.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           1, &region);
    change_layout(commands, r->texture.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                  VK_ACCESS_SHADER_READ_BIT);
}

// ---- Frames ----

VkCommandBuffer renderer_begin(struct renderer* r) {
    struct frame* frame = &r->frames[(r->frame + 1) % FRAMES_IN_FLIGHT];
    check(vkWaitForFences(r->device, 1, &frame->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    r->frame_done = frame->number;
    if (r->window) {
        int width, height;
        glfwGetFramebufferSize(r->window, &width, &height);
        if ((uint32_t)width != r->extent.width || (uint32_t)height != r->extent.height)
            r->is_outdated = 1;
        for (;;) {
            if (r->is_outdated && !make_swapchain(r)) return VK_NULL_HANDLE;
            const VkResult result =
                vkAcquireNextImageKHR(r->device, r->swapchain, UINT64_MAX, frame->acquired,
                                      VK_NULL_HANDLE, &r->acquired_image);
            r->is_outdated = result == VK_SUBOPTIMAL_KHR || result == VK_ERROR_OUT_OF_DATE_KHR;
            if (result == VK_ERROR_OUT_OF_DATE_KHR) continue;
            check(result, "vkAcquireNextImageKHR");
            break;
        }
    }
    check(vkResetFences(r->device, 1, &frame->fence), "vkResetFences");
    frame->number = ++r->frame;
    check(vkResetCommandPool(r->device, frame->pool, 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(frame->commands, &info), "vkBeginCommandBuffer");
    return frame->commands;
}

// Writes the matrix, column by column, that turns the cube by the angle about two axes, and shows
// it from a distance.
static void turn(float angle, float aspect, float* out) {
    const float tilt = 0.5f, distance = 4.0f, zoom = 1.9f, near = 0.1f, far = 10.0f;
    const float c = cosf(angle), s = sinf(angle), ct = cosf(tilt), st = sinf(tilt);
    const float rotation[3][3] = {{c, 0, s}, {st * s, ct, -st * c}, {-ct * s, st, ct * c}};
    const float scale[2] = {aspect > 1 ? zoom / aspect : zoom, aspect > 1 ? zoom : zoom * aspect};
    const float depth = far / (far - near);
    for (int column = 0; column < 3; ++column) {
        out[4 * column] = scale[0] * rotation[0][column];
        out[4 * column + 1] = scale[1] * rotation[1][column];
        out[4 * column + 2] = depth * rotation[2][column];
        out[4 * column + 3] = rotation[2][column];
    }
    out[12] = out[13] = 0;
    out[14] = depth * (distance - near);
    out[15] = distance;
}

static void draw(struct renderer* r, VkCommandBuffer commands, float angle) {
    const VkClearValue clear[] = {{.color.float32 = {0.06f, 0.07f, 0.09f, 1}},
                                  {.depthStencil = {1, 0}}};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = r->render_pass,
                                        .framebuffer = r->framebuffer,
                                        .renderArea = {{0, 0}, r->extent},
                                        .clearValueCount = 2,
                                        .pClearValues = clear};
    const VkViewport viewport = {0, 0, (float)r->extent.width, (float)r->extent.height, 0, 1};
    const VkRect2D scissor = {{0, 0}, r->extent};
    float to_clip[16];
    turn(angle, viewport.width / viewport.height, to_clip);
    vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->pipeline_layout, 0, 1,
                            &r->set, 0, NULL);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &scissor);
    vkCmdPushConstants(commands, r->pipeline_layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof to_clip,
                       to_clip);
    vkCmdDraw(commands, 36, 1, 0, 0);
    vkCmdEndRenderPass(commands);
}

static void copy_to_window(struct renderer* r, VkCommandBuffer commands) {
    VkImage shown = r->swapchain_images[r->acquired_image];
    change_layout(commands, shown, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, 0, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT);
    const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkOffset3D end = {(int32_t)r->extent.width, (int32_t)r->extent.height, 1};
    const VkImageBlit region = {layers, {{0, 0, 0}, end}, layers, {{0, 0, 0}, end}};
    vkCmdBlitImage(commands, r->target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, shown,
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region, VK_FILTER_NEAREST);
    change_layout(commands, shown, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_PIPELINE_STAGE_TRANSFER_BIT,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0);
}

void renderer_end(struct renderer* r, float angle) {
    struct frame* frame = &r->frames[r->frame % FRAMES_IN_FLIGHT];
    draw(r, frame->commands, angle);
    if (r->window) copy_to_window(r, frame->commands);
    check(vkEndCommandBuffer(frame->commands), "vkEndCommandBuffer");
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const uint32_t semaphores = r->window ? 1 : 0;
    VkSemaphore* drawn = &r->drawn[r->acquired_image];
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .waitSemaphoreCount = semaphores,
                                 .pWaitSemaphores = &frame->acquired,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &frame->commands,
                                 .signalSemaphoreCount = semaphores,
                                 .pSignalSemaphores = drawn};
    check(vkQueueSubmit(r->queue, 1, &submit, frame->fence), "vkQueueSubmit");
    if (!r->window) return;
    const VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                      .waitSemaphoreCount = 1,
                                      .pWaitSemaphores = drawn,
                                      .swapchainCount = 1,
                                      .pSwapchains = &r->swapchain,
                                      .pImageIndices = &r->acquired_image};
    const VkResult result = vkQueuePresentKHR(r->queue, &present);
    if (result == VK_SUBOPTIMAL_KHR || result == VK_ERROR_OUT_OF_DATE_KHR)
        r->is_outdated = 1;
    else
        check(result, "vkQueuePresentKHR");
}

void renderer_write_picture(struct renderer* r, const char* path) {
    const uint32_t width = r->extent.width, height = r->extent.height;
    struct buffer copy =
        make_buffer(r, 4 * (VkDeviceSize)width * height, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    vkDeviceWaitIdle(r->device);
    struct frame* frame = &r->frames[0];
    check(vkResetCommandPool(r->device, frame->pool, 0), "vkResetCommandPool");
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(frame->commands, &info), "vkBeginCommandBuffer");
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {width, height, 1}};
    vkCmdCopyImageToBuffer(frame->commands, r->target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           copy.buffer, 1, &region);
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(frame->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    check(vkEndCommandBuffer(frame->commands), "vkEndCommandBuffer");
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &frame->commands};
    check(vkQueueSubmit(r->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    vkDeviceWaitIdle(r->device);

    const uint8_t* pixels;
    check(vkMapMemory(r->device, copy.memory, 0, VK_WHOLE_SIZE, 0, (void**)&pixels), "vkMapMemory");
    FILE* file = fopen(path, "wb");
    if (!file) stop("the picture %s cannot be written", path);
    fprintf(file, "P6\n%u %u\n255\n", width, height);
    for (size_t k = 0; k < (size_t)width * height; ++k) fwrite(pixels + 4 * k, 1, 3, file);
    if (fclose(file) != 0) stop("the picture %s cannot be written", path);
    renderer_free(r, &copy);
}
