#!/usr/bin/env bash
# Subgroup and lane numbers of a workgroup with short rows, on lavapipe.
#
# Guess: the 16 invocations of a 4x4 workgroup get 16 different pairs of gl_SubgroupID and
# gl_SubgroupInvocationID, as the specification asks, on a driver with subgroups of 8 lanes.
# Seen: 8 different pairs, each given to two invocations. The driver fills lanes along x alone, so
# that a row takes half a subgroup, and numbers the four rows 0 0 1 1; gl_NumSubgroups is 2.
set -euo pipefail
packages=(mesa-vulkan-drivers=22.3.6-1+deb12u2 libllvm15=1:15.0.6-4+b1 libvulkan1=1.3.239.0-1
          libvulkan-dev=1.3.239.0-1 glslang-tools=12.0.0-2)

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 777 packages
mkdir root
(cd packages && apt-get -qq download "${packages[@]}")
for package in packages/*.deb; do dpkg -x "$package" root; done
libraries=$work/root/usr/lib/x86_64-linux-gnu
sed "s|\"library_path\": \".*/|\"library_path\": \"$libraries/|" \
    root/usr/share/vulkan/icd.d/lvp_icd.x86_64.json > icd.json

cat > numbers.comp <<'GLSL'
#version 460
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 4, local_size_y = 4) in;
layout(set = 0, binding = 0, std430) buffer Numbers { uint count; uint pairs[16]; };
void main() {
    count = gl_NumSubgroups;
    pairs[gl_LocalInvocationIndex] = gl_SubgroupID * 256u + gl_SubgroupInvocationID;
}
GLSL
root/usr/bin/glslangValidator -V --target-env vulkan1.2 --quiet numbers.comp -o numbers.spv

cat > numbers.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>
#define CHECK(call) do { VkResult r_ = (call); if (r_) { fprintf(stderr, "%s: %d\n", #call, r_); exit(2); } } while (0)
int main(void) {
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo ici = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkInstance instance; CHECK(vkCreateInstance(&ici, NULL, &instance));
    uint32_t one = 1; VkPhysicalDevice physical;
    VkResult listed = vkEnumeratePhysicalDevices(instance, &one, &physical);
    if (listed < 0 || one == 0) return fprintf(stderr, "no device\n"), 2;
    VkPhysicalDeviceVulkan12Properties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties lanes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &driver};
    VkPhysicalDeviceProperties2 about = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &lanes};
    vkGetPhysicalDeviceProperties2(physical, &about);
    float priority = 1;
    VkDeviceQueueCreateInfo qci = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo dci = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &qci};
    VkDevice device; CHECK(vkCreateDevice(physical, &dci, NULL, &device));
    VkQueue queue; vkGetDeviceQueue(device, 0, 0, &queue);
    VkBufferCreateInfo bci = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = 68, .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer; CHECK(vkCreateBuffer(device, &bci, NULL, &buffer));
    VkMemoryRequirements needs; vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties types; vkGetPhysicalDeviceMemoryProperties(physical, &types);
    uint32_t type = 0;
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while (!((needs.memoryTypeBits >> type) & 1) || (types.memoryTypes[type].propertyFlags & wanted) != wanted) ++type;
    VkMemoryAllocateInfo mai = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size, .memoryTypeIndex = type};
    VkDeviceMemory memory; CHECK(vkAllocateMemory(device, &mai, NULL, &memory));
    CHECK(vkBindBufferMemory(device, buffer, memory, 0));
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo slci = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
    VkDescriptorSetLayout set_layout; CHECK(vkCreateDescriptorSetLayout(device, &slci, NULL, &set_layout));
    VkPipelineLayoutCreateInfo plci = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set_layout};
    VkPipelineLayout layout; CHECK(vkCreatePipelineLayout(device, &plci, NULL, &layout));
    static uint32_t code[65536];
    FILE* file = fopen("numbers.spv", "rb");
    size_t bytes = file ? fread(code, 1, sizeof code, file) : 0;
    VkShaderModuleCreateInfo smci = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code};
    VkShaderModule module; CHECK(vkCreateShaderModule(device, &smci, NULL, &module));
    VkComputePipelineCreateInfo cpci = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = "main"}};
    VkPipeline pipeline; CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &cpci, NULL, &pipeline));
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo dpci = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool; CHECK(vkCreateDescriptorPool(device, &dpci, NULL, &pool));
    VkDescriptorSetAllocateInfo dsai = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = pool, .descriptorSetCount = 1, .pSetLayouts = &set_layout};
    VkDescriptorSet set; CHECK(vkAllocateDescriptorSets(device, &dsai, &set));
    VkDescriptorBufferInfo whole = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .descriptorCount = 1, .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &whole};
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    VkCommandPoolCreateInfo cmpci = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool commands; CHECK(vkCreateCommandPool(device, &cmpci, NULL, &commands));
    VkCommandBufferAllocateInfo cbai = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = commands, .commandBufferCount = 1};
    VkCommandBuffer command; CHECK(vkAllocateCommandBuffers(device, &cbai, &command));
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(command, &begin));
    vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(command, 1, 1, 1);
    CHECK(vkEndCommandBuffer(command));
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &command};
    CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(queue));
    uint32_t* numbers; CHECK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, (void**)&numbers));
    unsigned different = 0;
    for (unsigned k = 1; k <= 16; ++k) {
        unsigned before = 1;
        while (before < k && numbers[before] != numbers[k]) ++before;
        different += before == k;
    }
    fprintf(stderr, "%s, %s; subgroups of %u lanes\n", about.properties.deviceName, driver.driverInfo, lanes.subgroupSize);
    for (unsigned k = 1; k <= 16; ++k)
        fprintf(stderr, "%u:%u%s", numbers[k] / 256, numbers[k] % 256, k % 4 ? " " : "\n");
    printf("gl_NumSubgroups %u, different pairs %u\n", numbers[0], different);
    return 0;
}
C
gcc -std=c11 -I"$work/root/usr/include" numbers.c -o numbers "$libraries/libvulkan.so.1"
export LD_LIBRARY_PATH=$libraries VK_DRIVER_FILES=$work/icd.json VK_ICD_FILENAMES=$work/icd.json
seen=$(./numbers)
echo "$seen"
expected='gl_NumSubgroups 2, different pairs 8'
if [[ $seen != "$expected" ]]; then
    echo "changed: expected \"$expected\"" >&2
    exit 1
fi
