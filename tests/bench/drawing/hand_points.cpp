// Points as one writes them by hand.
#include "tests/bench/drawing/hand_points.h"

#include <shaderc/shaderc.hpp>
#include <string>

namespace firn::bench {
namespace {

const char* const kVertex = R"(
#version 450
layout(constant_id = 0) const int dimensions = 2;
layout(set = 0, binding = 0, std430) readonly buffer Places { float places[]; };
layout(set = 0, binding = 1, std430) readonly buffer Colours { float colours[]; };
layout(push_constant) uniform Push { mat4 to_clip; vec2 viewport; float size; };
layout(location = 0) out vec3 colour;
layout(location = 1) out vec2 at;
void main() {
    int k = gl_InstanceIndex;
    vec3 p = vec3(places[k * dimensions], places[k * dimensions + 1], dimensions == 3 ? places[k * dimensions + 2] : 0.0);
    colour = vec3(colours[k * 3], colours[k * 3 + 1], colours[k * 3 + 2]);
    at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    vec4 middle = to_clip * vec4(p, 1.0);
    gl_Position = middle + vec4(at * (size + 2.0) / viewport * middle.w, 0.0, 0.0);
    at *= 0.5 * size + 1.0;
}
)";
const char* const kFragment = R"(
#version 450
layout(push_constant) uniform Push { mat4 to_clip; vec2 viewport; float size; };
layout(location = 0) in vec3 colour;
layout(location = 1) in vec2 at;
layout(location = 0) out vec4 result;
void main() {
    float alpha = clamp(0.5 * size + 0.5 - length(at), 0.0, 1.0);
    if (alpha <= 0.0) discard;
    result = vec4(colour, alpha);
}
)";

VkShaderModule module_of(const Device& device, const char* source, shaderc_shader_kind kind) {
    shaderc::CompileOptions options;
    options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
    const auto compiled = shaderc::Compiler().CompileGlslToSpv(source, kind, "points", options);
    ensure(compiled.GetCompilationStatus() == shaderc_compilation_status_success,
           compiled.GetErrorMessage().c_str());
    const std::vector<uint32_t> words(compiled.begin(), compiled.end());
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = words.size() * 4;
    info.pCode = words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    check(device.vk().vkCreateShaderModule(device.handle(), &info, nullptr, &module),
          "vkCreateShaderModule", "points");
    return module;
}

}  // namespace

HandPoints::HandPoints(Device& device, VkRenderPass pass, int dimensions)
    : device_(device), in_space_(dimensions == 3), sets_(device, 2, 1, sizeof(HandPush), "points") {
    const int32_t constant = dimensions;
    const VkSpecializationMapEntry entry{0, 0, 4};
    const VkSpecializationInfo special{1, &entry, 4, &constant};
    VkPipelineShaderStageCreateInfo stages[2]{};
    for (int k = 0; k < 2; ++k) {
        stages[k].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        stages[k].stage = k == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT;
        stages[k].module = k == 0 ? module_of(device, kVertex, shaderc_vertex_shader)
                                  : module_of(device, kFragment, shaderc_fragment_shader);
        stages[k].pName = "main";
        stages[k].pSpecializationInfo = &special;
    }
    VkPipelineVertexInputStateCreateInfo input{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly{
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    VkPipelineViewportStateCreateInfo viewport{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = viewport.scissorCount = 1;
    VkPipelineRasterizationStateCreateInfo raster{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineDepthStencilStateCreateInfo depth{
        VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    depth.depthTestEnable = depth.depthWriteEnable = in_space_;
    depth.depthCompareOp = VK_COMPARE_OP_GREATER;
    VkPipelineColorBlendAttachmentState over{};
    over.blendEnable = VK_TRUE;
    over.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    over.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    over.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    over.colorWriteMask = 15;
    VkPipelineColorBlendStateCreateInfo blend{
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.attachmentCount = 1;
    blend.pAttachments = &over;
    const VkDynamicState dynamics[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
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
    info.layout = sets_.layout();
    info.renderPass = pass;
    check(device.vk().vkCreateGraphicsPipelines(device.handle(), VK_NULL_HANDLE, 1, &info, nullptr,
                                                &pipeline_),
          "vkCreateGraphicsPipelines", "points");
    for (const auto& stage : stages)
        device.vk().vkDestroyShaderModule(device.handle(), stage.module, nullptr);
}

HandPoints::~HandPoints() { device_.vk().vkDestroyPipeline(device_.handle(), pipeline_, nullptr); }

void HandPoints::bind(const Buffer& places, const Buffer& colours) {
    const Buffer* buffers[] = {&places, &colours};
    for (uint32_t k = 0; k < 2; ++k)
        sets_.bind(0, k, buffers[k]->range().buffer, buffers[k]->range().offset,
                   buffers[k]->bytes());
}

void HandPoints::draw(VkCommandBuffer commands, const HandPush& push, VkExtent2D extent,
                      uint32_t count) const {
    const VolkDeviceTable& vk = device_.vk();
    const VkRect2D scissor{{0, 0}, extent};
    const VkViewport viewport{0, 0, float(extent.width), float(extent.height), 0, 1};
    if (in_space_) {
        const VkClearAttachment far{VK_IMAGE_ASPECT_DEPTH_BIT, 0, {}};
        const VkClearRect all{scissor, 0, 1};
        vk.vkCmdClearAttachments(commands, 1, &far, 1, &all);
    }
    const VkDescriptorSet set = sets_[0];
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, sets_.layout(), 0, 1,
                               &set, 0, nullptr);
    sets_.push(commands, &push);
    vk.vkCmdSetViewport(commands, 0, 1, &viewport);
    vk.vkCmdSetScissor(commands, 0, 1, &scissor);
    vk.vkCmdDraw(commands, 4, count, 0, 0);
}

}  // namespace firn::bench
