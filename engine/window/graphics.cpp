// Render passes, pipelines and descriptor sets of frames.
#include "engine/window/graphics.h"

#include <algorithm>
#include <array>

#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/shader_library.h"

namespace firn {
namespace {

/// A shader module, which is needed until the pipeline is made.
class ShaderModule {
  public:
    ShaderModule(const Device& device, std::string_view file) : device_(device) {
        std::span<const uint32_t> code = shader_module(file);
        VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
        info.codeSize = code.size_bytes();
        info.pCode = code.data();
        check(device.vk().vkCreateShaderModule(device.handle(), &info, nullptr, &handle_),
              "vkCreateShaderModule", std::string(file));
    }
    ~ShaderModule() { device_.vk().vkDestroyShaderModule(device_.handle(), handle_, nullptr); }
    ShaderModule(const ShaderModule&) = delete;
    ShaderModule& operator=(const ShaderModule&) = delete;
    VkShaderModule handle() const { return handle_; }

  private:
    const Device& device_;
    VkShaderModule handle_ = VK_NULL_HANDLE;
};

VkPipelineShaderStageCreateInfo stage_info(VkShaderStageFlagBits stage,
                                           const ShaderModule& module) {
    VkPipelineShaderStageCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage = stage;
    info.module = module.handle();
    info.pName = "main";
    return info;
}

/// Values for the specialization constants 0, 1, ... of a shader, which ignores those that it does
/// not have.
struct Specialization {
    explicit Specialization(std::span<const int32_t> constants) {
        for (size_t id = 0; id < constants.size(); ++id)
            entries.push_back({static_cast<uint32_t>(id),
                               static_cast<uint32_t>(id * sizeof(int32_t)), sizeof(int32_t)});
        info = {static_cast<uint32_t>(entries.size()), entries.data(), constants.size_bytes(),
                constants.data()};
    }
    Specialization(const Specialization&) = delete;
    Specialization& operator=(const Specialization&) = delete;

    std::vector<VkSpecializationMapEntry> entries;
    VkSpecializationInfo info{};
};

VkPipelineColorBlendAttachmentState blend_state(Blend blend) {
    VkPipelineColorBlendAttachmentState state{};
    state.blendEnable = blend != Blend::None;
    state.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    state.dstColorBlendFactor =
        blend == Blend::Add ? VK_BLEND_FACTOR_ONE : VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    state.colorBlendOp = VK_BLEND_OP_ADD;
    state.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    state.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    state.alphaBlendOp = VK_BLEND_OP_ADD;
    state.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                           VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    return state;
}

VkPipelineDepthStencilStateCreateInfo depth_state(Depth depth) {
    VkPipelineDepthStencilStateCreateInfo state{
        VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    state.depthTestEnable = depth != Depth::None;
    state.depthWriteEnable = depth == Depth::TestAndWrite;
    state.depthCompareOp = VK_COMPARE_OP_GREATER_OR_EQUAL;  // reversed: 1 is near, 0 far away
    return state;
}

VkAttachmentDescription attachment(VkFormat format, VkAttachmentLoadOp load,
                                   VkAttachmentStoreOp store, VkImageLayout final_layout) {
    VkAttachmentDescription out{};
    out.format = format;
    out.samples = VK_SAMPLE_COUNT_1_BIT;
    out.loadOp = load;
    out.storeOp = store;
    out.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    out.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    out.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    out.finalLayout = final_layout;
    return out;
}

/// Before the pass, at these stages, the image is acquired or read back, and the depth of the
/// previous frame is written. After the pass the image may be copied.
std::array<VkSubpassDependency, 2> pass_dependencies() {
    const VkPipelineStageFlags depth_stages =
        VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags writes =
        VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    std::array<VkSubpassDependency, 2> out{};
    out[0].srcSubpass = VK_SUBPASS_EXTERNAL;
    out[0].dstSubpass = 0;
    out[0].srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT |
                          VK_PIPELINE_STAGE_TRANSFER_BIT | depth_stages;
    out[0].dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | depth_stages;
    out[0].srcAccessMask = writes | VK_ACCESS_TRANSFER_READ_BIT;
    out[0].dstAccessMask = writes | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
    out[1].srcSubpass = 0;
    out[1].dstSubpass = VK_SUBPASS_EXTERNAL;
    out[1].srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    out[1].dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
    out[1].srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    out[1].dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    return out;
}

}  // namespace

VkRenderPass create_render_pass(const Device& device, VkFormat format, VkImageLayout final_layout) {
    const VkAttachmentDescription attachments[] = {
        attachment(format, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_STORE_OP_STORE, final_layout),
        attachment(depth_format(device), VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                   VK_ATTACHMENT_STORE_OP_DONT_CARE,
                   VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL)};
    const VkAttachmentReference colour{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference depth{1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &colour;
    subpass.pDepthStencilAttachment = &depth;
    const std::array<VkSubpassDependency, 2> dependencies = pass_dependencies();
    VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    info.attachmentCount = 2;
    info.pAttachments = attachments;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    info.dependencyCount = 2;
    info.pDependencies = dependencies.data();
    VkRenderPass pass = VK_NULL_HANDLE;
    check(device.vk().vkCreateRenderPass(device.handle(), &info, nullptr, &pass),
          "vkCreateRenderPass", "frame");
    device.set_name(pass, VK_OBJECT_TYPE_RENDER_PASS, "frame");
    return pass;
}

VkPipeline create_draw_pipeline(const Device& device, const DrawPipelineInfo& wanted) {
    const ShaderModule vertex(device, wanted.vertex), fragment(device, wanted.fragment);
    VkPipelineShaderStageCreateInfo stages[2] = {
        stage_info(VK_SHADER_STAGE_VERTEX_BIT, vertex),
        stage_info(VK_SHADER_STAGE_FRAGMENT_BIT, fragment)};
    Specialization special(wanted.constants);
    for (VkPipelineShaderStageCreateInfo& stage : stages) stage.pSpecializationInfo = &special.info;
    VkPipelineVertexInputStateCreateInfo input{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly{
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkPipelineViewportStateCreateInfo viewport{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = viewport.scissorCount = 1;
    VkPipelineRasterizationStateCreateInfo raster{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.polygonMode = VK_POLYGON_MODE_FILL;
    raster.cullMode = VK_CULL_MODE_NONE;
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    const VkPipelineColorBlendAttachmentState attachment = blend_state(wanted.blend);
    const VkPipelineDepthStencilStateCreateInfo depth = depth_state(wanted.depth);
    VkPipelineColorBlendStateCreateInfo blend{
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.attachmentCount = 1;
    blend.pAttachments = &attachment;
    VkDynamicState dynamics[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    dynamic.dynamicStateCount = 2;
    dynamic.pDynamicStates = dynamics;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &blend;
    info.pDynamicState = &dynamic;
    info.layout = wanted.layout;
    info.renderPass = wanted.render_pass;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const PipelineCache::Handle cache = device.pipeline_cache().take();
    check(device.vk().vkCreateGraphicsPipelines(device.handle(), *cache, 1, &info, nullptr,
                                                &pipeline),
          "vkCreateGraphicsPipelines", wanted.name);
    device.set_name(pipeline, VK_OBJECT_TYPE_PIPELINE, wanted.name);
    return pipeline;
}

VkPipeline create_compute_pipeline(const Device& device, std::string_view shader,
                                   VkPipelineLayout layout, const std::string& name,
                                   std::span<const int32_t> constants) {
    const ShaderModule module(device, shader);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = stage_info(VK_SHADER_STAGE_COMPUTE_BIT, module);
    Specialization special(constants);
    info.stage.pSpecializationInfo = &special.info;
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const PipelineCache::Handle cache = device.pipeline_cache().take();
    check(
        device.vk().vkCreateComputePipelines(device.handle(), *cache, 1, &info, nullptr, &pipeline),
        "vkCreateComputePipelines", name);
    device.set_name(pipeline, VK_OBJECT_TYPE_PIPELINE, name);
    return pipeline;
}

StorageSets::StorageSets(Device& device, uint32_t bindings, uint32_t count, uint32_t push_bytes,
                         const std::string& name)
    : StorageSets(device, push_bytes) {
    const VolkDeviceTable& vk = device.vk();
    VkShaderStageFlags stages =
        VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT;
    std::vector<VkDescriptorSetLayoutBinding> layout_bindings(bindings);
    for (uint32_t i = 0; i < bindings; ++i) {
        layout_bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, stages, nullptr};
    }
    VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set_info.bindingCount = bindings;
    set_info.pBindings = layout_bindings.data();
    check(vk.vkCreateDescriptorSetLayout(device.handle(), &set_info, nullptr, &set_layout_),
          "vkCreateDescriptorSetLayout", name);
    VkPushConstantRange push{stages, 0, push_bytes};
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout_;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &push;
    check(vk.vkCreatePipelineLayout(device.handle(), &layout_info, nullptr, &layout_),
          "vkCreatePipelineLayout", name);
    VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bindings * count};
    VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool_info.maxSets = count;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    check(vk.vkCreateDescriptorPool(device.handle(), &pool_info, nullptr, &pool_),
          "vkCreateDescriptorPool", name);
    std::vector<VkDescriptorSetLayout> layouts(count, set_layout_);
    VkDescriptorSetAllocateInfo sets_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    sets_info.descriptorPool = pool_;
    sets_info.descriptorSetCount = count;
    sets_info.pSetLayouts = layouts.data();
    sets_.resize(count);
    check(vk.vkAllocateDescriptorSets(device.handle(), &sets_info, sets_.data()),
          "vkAllocateDescriptorSets", name);
    for (VkDescriptorSet set : sets_) device.set_name(set, VK_OBJECT_TYPE_DESCRIPTOR_SET, name);
}

StorageSets::~StorageSets() {
    device_.defer([device = &device_, pool = pool_, layout = layout_, set_layout = set_layout_] {
        device->vk().vkDestroyDescriptorPool(device->handle(), pool, nullptr);
        device->vk().vkDestroyPipelineLayout(device->handle(), layout, nullptr);
        device->vk().vkDestroyDescriptorSetLayout(device->handle(), set_layout, nullptr);
    });
}

void StorageSets::bind(size_t set, uint32_t binding, VkBuffer buffer, uint64_t offset,
                       uint64_t bytes) const {
    VkDescriptorBufferInfo range{buffer, offset, bytes};
    VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = sets_[set];
    write.dstBinding = binding;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &range;
    device_.vk().vkUpdateDescriptorSets(device_.handle(), 1, &write, 0, nullptr);
}

void StorageSets::push(VkCommandBuffer commands, const void* data) const {
    device_.vk().vkCmdPushConstants(
        commands, layout_,
        VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT, 0,
        push_bytes_, data);
}

void reserve_host(std::shared_ptr<Buffer>& buffer, const std::shared_ptr<Device>& device,
                  size_t bytes, const char* name) {
    if (buffer && buffer->bytes() >= bytes) return;
    buffer = create_buffer(device, std::max<size_t>(2 * bytes, 65536), name, BufferPlace::Host);
}

VkFramebuffer create_framebuffer(const Device& device, VkRenderPass pass, VkImageView colour,
                                 VkImageView depth, VkExtent2D extent, const std::string& name) {
    const VkImageView views[] = {colour, depth};
    VkFramebufferCreateInfo info{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    info.renderPass = pass;
    info.attachmentCount = 2;
    info.pAttachments = views;
    info.width = extent.width;
    info.height = extent.height;
    info.layers = 1;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    check(device.vk().vkCreateFramebuffer(device.handle(), &info, nullptr, &framebuffer),
          "vkCreateFramebuffer", name);
    device.set_name(framebuffer, VK_OBJECT_TYPE_FRAMEBUFFER, name);
    return framebuffer;
}

}  // namespace firn
