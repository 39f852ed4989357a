// A host that dispatches the kernels of a saved program itself: it takes their SPIR-V and the list
// of steps from Firn, and makes pipelines, descriptor sets, buffers and barriers of its own, on a
// device without any feature. Then it compares what it computed with a run by Firn, bit for bit.
#define VOLK_IMPLEMENTATION  // the functions of volk are in this file
#include <firn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <volk.h>

#define MAX_TENSORS 32
#define MAX_CONSTANTS 256
#define UNIFORM_ALIGNMENT 256  // the most that a device may ask for

static void stop(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "self_host: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void check(VkResult result, const char* what) {
    if (result < 0) stop("%s failed with the code %d", what, (int)result);
}

static void firn_check(firn_context* context, int32_t code, const char* what) {
    if (code != FIRN_OK) stop("%s: %s: %s", what, firn_code_name(code), firn_message(context));
}

// ---- A device without any feature ----

struct gpu {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    int messages;  // that the validation layers gave
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t queue_family;
};

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                 void* user) {
    (void)severity, (void)types;
    ++((struct gpu*)user)->messages;
    fprintf(stderr, "self_host: validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static void make_gpu(struct gpu* gpu, int validate) {
    if (volkInitialize() != VK_SUCCESS)
        stop("there is no Vulkan loader; install libvulkan1 and a driver");
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = gpu};
    const VkValidationFeatureEnableEXT also =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    const VkValidationFeaturesEXT validation = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                                .pNext = &messenger,
                                                .enabledValidationFeatureCount = 1,
                                                .pEnabledValidationFeatures = &also};
    const char *layer = "VK_LAYER_KHRONOS_validation",
               *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "self_host",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = validate ? &validation : NULL,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = validate ? 1 : 0,
                                       .ppEnabledLayerNames = &layer,
                                       .enabledExtensionCount = validate ? 1 : 0,
                                       .ppEnabledExtensionNames = &extension};
    const VkResult made = vkCreateInstance(&info, NULL, &gpu->instance);
    if (made == VK_ERROR_LAYER_NOT_PRESENT)
        stop("there is no %s; install vulkan-validationlayers", layer);
    check(made, "vkCreateInstance");
    volkLoadInstanceOnly(gpu->instance);
    if (validate)
        check(vkCreateDebugUtilsMessengerEXT(gpu->instance, &messenger, NULL, &gpu->messenger),
              "vkCreateDebugUtilsMessengerEXT");
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(gpu->instance, &count, &gpu->physical);
    if (count == 0) stop("there is no Vulkan device");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu->physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2)
        stop("the device %s is older than Vulkan 1.2", properties.deviceName);
    VkQueueFamilyProperties families[32];
    count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu->physical, &count, families);
    while (gpu->queue_family < count &&
           !(families[gpu->queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        ++gpu->queue_family;
    if (gpu->queue_family == count) stop("no queue of %s computes", properties.deviceName);
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = gpu->queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    check(vkCreateDevice(gpu->physical, &device, NULL, &gpu->device), "vkCreateDevice");
    volkLoadDevice(gpu->device);
    vkGetDeviceQueue(gpu->device, gpu->queue_family, 0, &gpu->queue);
    printf("device: %s, without any feature\n", properties.deviceName);
}

static void destroy_gpu(struct gpu* gpu) {
    vkDestroyDevice(gpu->device, NULL);
    if (gpu->messenger) vkDestroyDebugUtilsMessengerEXT(gpu->instance, gpu->messenger, NULL);
    vkDestroyInstance(gpu->instance, NULL);
}

// A buffer that the host sees all the time.
struct buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes;
    void* data;
};

static struct buffer make_buffer(struct gpu* gpu, VkDeviceSize bytes, VkBufferUsageFlags usage) {
    const VkMemoryPropertyFlags needed_properties =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    struct buffer out = {.bytes = bytes};
    if (bytes == 0) return out;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes, .usage = usage};
    check(vkCreateBuffer(gpu->device, &info, NULL, &out.buffer), "vkCreateBuffer");
    VkMemoryRequirements needed;
    vkGetBufferMemoryRequirements(gpu->device, out.buffer, &needed);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &memory);
    uint32_t type = 0;
    while (type < memory.memoryTypeCount &&
           (!(needed.memoryTypeBits >> type & 1) ||
            (memory.memoryTypes[type].propertyFlags & needed_properties) != needed_properties))
        ++type;
    if (type == memory.memoryTypeCount) stop("the device has no memory that the host sees");
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = needed.size,
                                           .memoryTypeIndex = type};
    check(vkAllocateMemory(gpu->device, &allocate, NULL, &out.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(gpu->device, out.buffer, out.memory, 0), "vkBindBufferMemory");
    check(vkMapMemory(gpu->device, out.memory, 0, VK_WHOLE_SIZE, 0, &out.data), "vkMapMemory");
    memset(out.data, 0, (size_t)bytes);
    return out;
}

static void free_buffer(struct gpu* gpu, struct buffer* buffer) {
    vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
}

// ---- The program in the host's own terms ----

struct kernel {
    firn_kernel_info info;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

struct run {
    firn_context* context;
    firn_call* call;
    uint32_t argument_count, result_count, step_count, kernel_count;
    struct kernel* kernels;
    struct buffer arguments[MAX_TENSORS], results[MAX_TENSORS], scratch;
    struct buffer constants[MAX_CONSTANTS], parameters;
    const void* constant_data[MAX_CONSTANTS];
    VkDescriptorPool descriptors;
};

static void make_kernel(struct gpu* gpu, struct run* run, uint32_t index) {
    struct kernel* kernel = &run->kernels[index];
    kernel->info.struct_size = sizeof kernel->info;
    firn_check(run->context, firn_kernel(run->call, index, &kernel->info), "firn_kernel");
    const firn_kernel_info* info = &kernel->info;
    const uint32_t count = info->binding_count + (info->parameters_in_buffer ? 1 : 0);
    VkDescriptorSetLayoutBinding* bindings = calloc(count + 1, sizeof *bindings);
    for (uint32_t k = 0; k < count; ++k) {
        if (k < info->binding_count && info->bindings[k].form != FIRN_BINDING_STORAGE)
            stop("kernel %s has a binding that is no storage buffer", info->name);
        bindings[k].binding = k;
        bindings[k].descriptorType = k < info->binding_count ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                                             : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
        bindings[k].descriptorCount = 1;
        bindings[k].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings};
    check(vkCreateDescriptorSetLayout(gpu->device, &set_layout, NULL, &kernel->set_layout),
          "vkCreateDescriptorSetLayout");
    free(bindings);
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, info->parameter_bytes};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &kernel->set_layout,
        .pushConstantRangeCount = info->parameter_bytes > 0 && !info->parameters_in_buffer ? 1 : 0,
        .pPushConstantRanges = &push};
    check(vkCreatePipelineLayout(gpu->device, &layout, NULL, &kernel->layout),
          "vkCreatePipelineLayout");
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = 4 * (size_t)info->word_count,
        .pCode = info->words};
    VkShaderModule module;
    check(vkCreateShaderModule(gpu->device, &module_info, NULL, &module), "vkCreateShaderModule");
    const VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = kernel->layout};
    check(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &pipeline, NULL,
                                   &kernel->pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(gpu->device, module, NULL);
}

// The buffer of a constant, which is made where it is seen first.
static struct buffer* constant_of(struct gpu* gpu, struct run* run, const firn_slot* slot) {
    for (int k = 0; k < MAX_CONSTANTS; ++k) {
        if (run->constant_data[k] == slot->data) return &run->constants[k];
        if (run->constant_data[k]) continue;
        run->constant_data[k] = slot->data;
        run->constants[k] =
            make_buffer(gpu, slot->bytes,
                        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        memcpy(run->constants[k].data, slot->data, (size_t)slot->bytes);
        return &run->constants[k];
    }
    stop("the program has more than %d constants", MAX_CONSTANTS);
    return NULL;
}

static VkDescriptorBufferInfo range_of(struct gpu* gpu, struct run* run, const firn_slot* slot) {
    const struct buffer* buffer = slot->what == FIRN_SLOT_ARGUMENT  ? &run->arguments[slot->index]
                                  : slot->what == FIRN_SLOT_RESULT  ? &run->results[slot->index]
                                  : slot->what == FIRN_SLOT_SCRATCH ? &run->scratch
                                                                    : constant_of(gpu, run, slot);
    return (VkDescriptorBufferInfo){buffer->buffer, slot->offset, slot->bytes};
}

static firn_step_info step_of(struct run* run, uint32_t index) {
    firn_step_info out = {.struct_size = sizeof out};
    firn_check(run->context, firn_step(run->call, index, &out), "firn_step");
    return out;
}

// Makes buffers, pipelines and the pool that descriptor sets come from.
static void make_run(struct gpu* gpu, struct run* run) {
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                     VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    firn_memory_info memory = {.struct_size = sizeof memory};
    for (uint32_t k = 0; k < run->argument_count; ++k) {
        firn_check(run->context, firn_call_memory(run->call, FIRN_ARGUMENT, k, &memory),
                   "firn_call_memory");
        run->arguments[k] = make_buffer(gpu, memory.bytes, usage);
    }
    for (uint32_t k = 0; k < run->result_count; ++k) {
        firn_check(run->context, firn_call_memory(run->call, FIRN_RESULT, k, &memory),
                   "firn_call_memory");
        run->results[k] = make_buffer(gpu, memory.bytes, usage);
    }
    firn_check(run->context, firn_call_memory(run->call, FIRN_SCRATCH, 0, &memory),
               "firn_call_memory");
    run->scratch = make_buffer(gpu, memory.bytes, usage);
    firn_check(run->context, firn_step_count(run->call, &run->step_count, &run->kernel_count),
               "firn_step_count");
    run->kernels = calloc(run->kernel_count + 1, sizeof *run->kernels);
    for (uint32_t k = 0; k < run->kernel_count; ++k) make_kernel(gpu, run, k);

    uint32_t storage = 1;
    VkDeviceSize parameters = UNIFORM_ALIGNMENT;
    for (uint32_t k = 0; k < run->step_count; ++k) {
        const firn_step_info step = step_of(run, k);
        storage += step.slot_count;
        parameters +=
            (step.parameter_bytes + UNIFORM_ALIGNMENT - 1) / UNIFORM_ALIGNMENT * UNIFORM_ALIGNMENT;
    }
    run->parameters = make_buffer(gpu, parameters, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, run->step_count + 1}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = run->step_count + 1,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    check(vkCreateDescriptorPool(gpu->device, &pool, NULL, &run->descriptors),
          "vkCreateDescriptorPool");
}

static void free_run(struct gpu* gpu, struct run* run) {
    for (uint32_t k = 0; k < run->kernel_count; ++k) {
        vkDestroyPipeline(gpu->device, run->kernels[k].pipeline, NULL);
        vkDestroyPipelineLayout(gpu->device, run->kernels[k].layout, NULL);
        vkDestroyDescriptorSetLayout(gpu->device, run->kernels[k].set_layout, NULL);
    }
    free(run->kernels);
    vkDestroyDescriptorPool(gpu->device, run->descriptors, NULL);
    for (int k = 0; k < MAX_TENSORS; ++k) {
        free_buffer(gpu, &run->arguments[k]);
        free_buffer(gpu, &run->results[k]);
    }
    for (int k = 0; k < MAX_CONSTANTS; ++k) free_buffer(gpu, &run->constants[k]);
    free_buffer(gpu, &run->scratch);
    free_buffer(gpu, &run->parameters);
}

// ---- Its commands ----

static void record_dispatch(struct gpu* gpu, struct run* run, VkCommandBuffer commands,
                            const firn_step_info* step, VkDeviceSize* parameters_at) {
    const struct kernel* kernel = &run->kernels[step->kernel];
    const uint32_t slots = step->slot_count,
                   count = slots + (kernel->info.parameters_in_buffer ? 1 : 0);
    VkDescriptorSet set;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = run->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &kernel->set_layout};
    check(vkAllocateDescriptorSets(gpu->device, &allocate, &set), "vkAllocateDescriptorSets");
    VkDescriptorBufferInfo* ranges = calloc(count + 1, sizeof *ranges);
    VkWriteDescriptorSet* writes = calloc(count + 1, sizeof *writes);
    for (uint32_t k = 0; k < count; ++k) {
        ranges[k] = k < slots ? range_of(gpu, run, &step->slots[k])
                              : (VkDescriptorBufferInfo){run->parameters.buffer, *parameters_at,
                                                         step->parameter_bytes};
        writes[k].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[k].dstSet = set;
        writes[k].dstBinding = k;
        writes[k].descriptorCount = 1;
        writes[k].descriptorType =
            k < slots ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
        writes[k].pBufferInfo = &ranges[k];
    }
    vkUpdateDescriptorSets(gpu->device, count, writes, 0, NULL);
    free(ranges);
    free(writes);

    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set, 0,
                            NULL);
    if (kernel->info.parameters_in_buffer) {
        memcpy((char*)run->parameters.data + *parameters_at, step->parameters,
               step->parameter_bytes);
        *parameters_at +=
            (step->parameter_bytes + UNIFORM_ALIGNMENT - 1) / UNIFORM_ALIGNMENT * UNIFORM_ALIGNMENT;
    } else if (step->parameter_bytes > 0) {
        vkCmdPushConstants(commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           step->parameter_bytes, step->parameters);
    }
    vkCmdDispatch(commands, step->groups[0], step->groups[1], step->groups[2]);
}

static void record_copy(struct gpu* gpu, struct run* run, VkCommandBuffer commands,
                        const firn_step_info* step) {
    const VkDescriptorBufferInfo from = range_of(gpu, run, &step->slots[0]),
                                 to = range_of(gpu, run, &step->slots[1]);
    const VkBufferCopy region = {from.offset, to.offset, to.range};
    if (to.range > 0) vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region);
}

static void execute(struct gpu* gpu, struct run* run) {
    VkCommandPool pool;
    VkCommandBuffer commands;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = gpu->queue_family};
    check(vkCreateCommandPool(gpu->device, &pool_info, NULL, &pool), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    check(vkAllocateCommandBuffers(gpu->device, &allocate, &commands), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");

    const VkPipelineStageFlags stages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                        reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    const VkMemoryBarrier between = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = writes,
                                     .dstAccessMask = reads | writes};
    VkDeviceSize parameters_at = 0;
    for (uint32_t k = 0; k < run->step_count; ++k) {
        const firn_step_info step = step_of(run, k);
        if (step.barrier_before)
            vkCmdPipelineBarrier(commands, stages, stages, 0, 1, &between, 0, NULL, 0, NULL);
        if (step.kernel < 0)
            record_copy(gpu, run, commands, &step);
        else
            record_dispatch(gpu, run, commands, &step, &parameters_at);
    }
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = writes,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, stages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0,
                         NULL);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    check(vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(gpu->queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(gpu->device, pool, NULL);
}

// ---- The same by Firn ----

// Numbers from 0 to 1 where the elements are f32, else zeros.
static void fill(void* data, uint64_t bytes, int32_t dtype, uint32_t seed) {
    memset(data, 0, (size_t)bytes);
    if (dtype != FIRN_F32) return;
    for (uint64_t k = 0; k < bytes / 4; ++k) {
        seed = 1664525u * seed + 1013904223u;
        ((float*)data)[k] = (float)(seed >> 8) / 16777216.0f;
    }
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

// Runs the program by firn_submit in a context of its own, with the same arguments, and counts the
// bytes of the results that differ. It is on the same device and has a queue: on a device with
// features Firn might choose another form of the program, which rounds otherwise.
static uint64_t differences(const struct run* run, firn_host host, VkQueue queue, const void* file,
                            size_t bytes) {
    char message[512];
    firn_context* context;
    firn_program* program;
    firn_call* call;
    firn_binding arguments[MAX_TENSORS] = {{0}};
    host.queue = queue;
    if (firn_context_create(&host, &context, message, sizeof message) != FIRN_OK)
        stop("firn_context_create: %s", message);
    firn_check(context, firn_program_load(context, file, bytes, &program), "firn_program_load");
    firn_check(context, firn_call_create(program, NULL, 0, &call), "firn_call_create");
    for (uint32_t k = 0; k < run->argument_count; ++k) {
        const struct buffer* mine = &run->arguments[k];
        if (mine->bytes == 0) continue;
        firn_check(context, firn_buffer_create(context, mine->bytes, &arguments[k].buffer),
                   "firn_buffer_create");
        firn_check(context,
                   firn_buffer_write(arguments[k].buffer, 0, mine->data, (size_t)mine->bytes),
                   "firn_buffer_write");
    }
    firn_check(context, firn_call_bind(call, arguments, run->argument_count, NULL, 0, NULL),
               "firn_call_bind");
    firn_check(context, firn_submit(call, NULL, NULL), "firn_submit");
    uint64_t different = 0;
    for (uint32_t k = 0; k < run->result_count; ++k) {
        const struct buffer* mine = &run->results[k];
        firn_buffer* result;
        unsigned char* theirs = malloc((size_t)mine->bytes + 1);
        firn_check(context, firn_call_result(call, k, &result), "firn_call_result");
        firn_check(context, firn_buffer_read(result, 0, theirs, (size_t)mine->bytes),
                   "firn_buffer_read");
        for (uint64_t at = 0; at < mine->bytes; ++at)
            different += theirs[at] != ((const unsigned char*)mine->data)[at];
        firn_buffer_release(result);
        free(theirs);
    }
    for (uint32_t k = 0; k < run->argument_count; ++k) firn_buffer_release(arguments[k].buffer);
    firn_call_release(call);
    firn_program_release(program);
    firn_check(context, firn_context_destroy(context), "firn_context_destroy");
    return different;
}

int main(int argc, char** argv) {
    const int validate = argc == 3 && strcmp(argv[2], "--validate") == 0;
    if (argc != (validate ? 3 : 2)) {
        fprintf(stderr, "usage: self_host FILE.firn [--validate]\n");
        return 2;
    }
    size_t bytes;
    void* file = read_file(argv[1], &bytes);
    struct gpu gpu = {0};
    make_gpu(&gpu, validate);

    // Firn is asked for kernels that this device can run, and does nothing on it.
    char message[512];
    const firn_host host = {.struct_size = sizeof host,
                            .flags = FIRN_HOST_STORAGE_BUFFERS_ONLY,
                            .instance = gpu.instance,
                            .physical_device = gpu.physical,
                            .device = gpu.device,
                            .get_instance_proc_addr = (void*)vkGetInstanceProcAddr,
                            .api_version = VK_API_VERSION_1_2,
                            .queue_family = gpu.queue_family};
    struct run run = {0};
    firn_program* program;
    if (firn_context_create(&host, &run.context, message, sizeof message) != FIRN_OK)
        stop("firn_context_create: %s", message);
    firn_check(run.context, firn_program_load(run.context, file, bytes, &program), argv[1]);
    firn_program_info info = {.struct_size = sizeof info};
    firn_check(run.context, firn_program_describe(program, &info), "firn_program_describe");
    firn_check(run.context, firn_call_create(program, NULL, 0, &run.call), argv[1]);
    if (info.argument_count > MAX_TENSORS || info.result_count > MAX_TENSORS)
        stop("the program has more than %d arguments or results", MAX_TENSORS);
    run.argument_count = info.argument_count;
    run.result_count = info.result_count;
    make_run(&gpu, &run);
    for (uint32_t k = 0; k < run.argument_count; ++k) {
        firn_tensor_info argument = {.struct_size = sizeof argument};
        firn_check(run.context, firn_argument_describe(program, k, &argument),
                   "firn_argument_describe");
        if (run.arguments[k].bytes > 0)
            fill(run.arguments[k].data, run.arguments[k].bytes, argument.dtype, k);
    }
    execute(&gpu, &run);
    printf("%u steps of %u kernels\n", run.step_count, run.kernel_count);

    const uint64_t different = differences(&run, host, gpu.queue, file, bytes);
    uint64_t all = 0;
    for (uint32_t k = 0; k < run.result_count; ++k) all += run.results[k].bytes;
    printf("%llu of %llu bytes differ from those of firn_submit\n", (unsigned long long)different,
           (unsigned long long)all);
    free(file);
    firn_call_release(run.call);
    firn_program_release(program);
    firn_check(run.context, firn_context_destroy(run.context), "firn_context_destroy");
    free_run(&gpu, &run);
    destroy_gpu(&gpu);
    if (validate) printf("%d messages of the validation layers\n", gpu.messages);
    return different > 0 || gpu.messages > 0;
}
