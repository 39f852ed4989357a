// Compute pipelines made from kernels, and the descriptor sets that bind buffers to them.
#include "engine/gpu/pipeline.h"

#include <algorithm>
#include <sstream>

#include "compiler/program/index_limits.h"
#include "compiler/program/spirv_format.h"
#include "engine/gpu/check_device.h"
#include "engine/gpu/module_needs.h"
#include "engine/gpu/pipeline_cache.h"

namespace firn {
namespace {

VkDescriptorType descriptor_type(BindingForm form) {
    switch (form) {
        case BindingForm::Storage: return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        case BindingForm::View: return VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
        case BindingForm::Address: break;
    }
    throw InternalError("a binding has no descriptor");
}

/// Kernels count elements with 32 bits.
void check_elements(const BufferRange& range, DType dtype, const std::string& name,
                    const std::string& kernel) {
    const uint64_t elements = range.bytes / static_cast<uint64_t>(dtype.bytes());
    if (elements > static_cast<uint64_t>(kMostElements))
        throw UserError("'" + name + "' has " + std::to_string(elements) +
                        " elements and kernel '" + kernel + "' counts up to " +
                        std::to_string(kMostElements) + " in memory; split the tensor");
}

void check_storage_range(const Device& device, const BufferRange& range, const std::string& name,
                         const std::string& kernel) {
    uint64_t limit = device.limits().maxStorageBufferRange;
    if (range.bytes > limit)
        throw UserError(
            "'" + name + "' has " + std::to_string(range.bytes) + " bytes and kernel '" + kernel +
            "' binds it as a storage buffer, of which the device '" + device.info().name +
            "' takes at most " + std::to_string(limit) + "; split the tensor");
    uint64_t step = device.limits().minStorageBufferOffsetAlignment;
    if (range.offset % step != 0)
        throw UserError("'" + name + "' starts at byte " + std::to_string(range.offset) +
                        " and kernel '" + kernel +
                        "' binds it as a storage buffer, which must start "
                        "at a multiple of " +
                        std::to_string(step) + "; move it");
}

}  // namespace

Pipeline::Pipeline(Device& device, const KernelInfo& kernel, std::span<const uint32_t> constants)
    : device_(device), name_(kernel.name), bindings_(kernel.bindings) {
    check_kernel(kernel, needs_of(kernel), device.profile());
    if (kernel.artefact.format != kSpirvFormat)
        throw UserError("kernel '" + kernel.name + "' is of the format '" + kernel.artefact.format +
                        "' and this device runs SPIR-V; compile the program for this device");
    if (kernel.artefact.words.empty())
        throw InternalError("kernel '" + kernel.name + "' has no SPIR-V; compile it to the end");
    constexpr uint32_t kMagic = 0x07230203;
    constexpr size_t kHeaderWords = 5;
    if (kernel.artefact.words.size() < kHeaderWords || kernel.artefact.words[0] != kMagic)
        throw UserError("kernel '" + kernel.name +
                        "' is no SPIR-V; the program was damaged: compile it again");
    params_in_buffer_ = kernel.params_in_buffer;
    param_bytes_ = param_offsets(kernel.param_types).back();
    try {
        create_layouts();
        create_pipeline(kernel, constants);
    } catch (...) {
        const VolkDeviceTable& vk = device.vk();
        vk.vkDestroyPipelineLayout(device.handle(), layout_, device.allocator());
        vk.vkDestroyDescriptorSetLayout(device.handle(), set_layout_, device.allocator());
        throw;
    }
}

namespace {

/// The key of a pipeline: everything that makes it, except its name.
std::string identity(const KernelInfo& kernel) {
    std::ostringstream key;
    for (const BindingInfo& b : kernel.bindings)
        key << static_cast<int>(b.form) << b.dtype.name() << ' ' << b.width << ' ' << b.written
            << ',';
    for (const DType dtype : kernel.param_types) key << dtype.name() << ' ';
    key << kernel.params_in_buffer << ' ' << kernel.group_size[0] << '\n';
    return key.str() + std::string(reinterpret_cast<const char*>(kernel.artefact.words.data()),
                                   4 * kernel.artefact.words.size());
}

}  // namespace

std::shared_ptr<const Pipeline> shared_pipeline(Device& device, const KernelInfo& kernel) {
    check_kernel(kernel, needs_of(kernel), device.profile());
    const std::string key = identity(kernel);
    SharedPipelines& shared = device.shared_pipelines();
    {
        std::lock_guard lock(shared.mutex);
        if (const auto found = shared.entries.find(key); found != shared.entries.end())
            if (auto pipeline = found->second.lock()) return pipeline;
    }
    auto made = std::make_shared<const Pipeline>(device, kernel);
    std::lock_guard lock(shared.mutex);
    std::erase_if(shared.entries, [](const auto& entry) { return entry.second.expired(); });
    shared.entries[key] = made;
    return made;
}

Pipeline::~Pipeline() {
    device_.defer([device = &device_, pipeline = pipeline_, layout = layout_, set = set_layout_] {
        const VolkDeviceTable& vk = device->vk();
        vk.vkDestroyPipeline(device->handle(), pipeline, device->allocator());
        vk.vkDestroyPipelineLayout(device->handle(), layout, device->allocator());
        vk.vkDestroyDescriptorSetLayout(device->handle(), set, device->allocator());
    });
}

void Pipeline::create_layouts() {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    const auto bind = [&](size_t place, VkDescriptorType type) {
        bindings.push_back(
            {static_cast<uint32_t>(place), type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    };
    for (size_t i = 0; i < bindings_.size(); ++i)
        if (bindings_[i].form != BindingForm::Address) bind(i, descriptor_type(bindings_[i].form));
    if (params_in_buffer_) bind(bindings_.size(), VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC);
    VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set_info.bindingCount = static_cast<uint32_t>(bindings.size());
    set_info.pBindings = bindings.data();
    const VolkDeviceTable& vk = device_.vk();
    check(vk.vkCreateDescriptorSetLayout(device_.handle(), &set_info, device_.allocator(),
                                         &set_layout_),
          "vkCreateDescriptorSetLayout", name_);
    device_.set_name(set_layout_, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, name_);

    uint32_t push_bytes = params_in_buffer_ ? 0 : param_bytes_;
    VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout_;
    info.pushConstantRangeCount = push_bytes > 0 ? 1 : 0;
    info.pPushConstantRanges = &range;
    check(vk.vkCreatePipelineLayout(device_.handle(), &info, device_.allocator(), &layout_),
          "vkCreatePipelineLayout", name_);
    device_.set_name(layout_, VK_OBJECT_TYPE_PIPELINE_LAYOUT, name_);
}

void Pipeline::create_pipeline(const KernelInfo& kernel, std::span<const uint32_t> constants) {
    const std::span<const uint32_t> spirv = kernel.artefact.words;
    const VolkDeviceTable& vk = device_.vk();
    const PipelineCache::Handle cache = device_.pipeline_cache().take();
    std::vector<VkSpecializationMapEntry> entries;
    for (uint32_t id = 0; id < constants.size(); ++id) entries.push_back({id, 4 * id, 4});
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = spirv.size_bytes();
    module_info.pCode = spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    check(vk.vkCreateShaderModule(device_.handle(), &module_info, device_.allocator(), &module),
          "vkCreateShaderModule", name_);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    const bool whole = kernel.group_size[0] % device_.profile().subgroup_size == 0;
    if (device_.full_subgroups() && whole && needs_of(kernel).subgroups)
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    const VkSpecializationInfo special{static_cast<uint32_t>(entries.size()), entries.data(),
                                       constants.size_bytes(), constants.data()};
    if (!constants.empty()) info.stage.pSpecializationInfo = &special;
    info.layout = layout_;
    VkResult result = vk.vkCreateComputePipelines(device_.handle(), *cache, 1, &info,
                                                  device_.allocator(), &pipeline_);
    vk.vkDestroyShaderModule(device_.handle(), module, device_.allocator());
    if (result == VK_ERROR_UNKNOWN)  // NVIDIA's driver returns this if its compiler gives up
        throw DeviceError("the driver cannot compile kernel '" + name_ + "' (" +
                          "vkCreateComputePipelines: " + result_name(result) +
                          "): a fault of the driver, which a newer one may not have. To report it: "
                          "FIRN_DUMP_DIR=FOLDER writes the kernel's GLSL");
    check(result, "vkCreateComputePipelines", name_);
    device_.set_name(pipeline_, VK_OBJECT_TYPE_PIPELINE, name_);
}

DescriptorSets::DescriptorSets(Device& device, std::span<const SetRequest> requests,
                               const std::string& name)
    : device_(device) {
    if (requests.empty()) return;
    try {
        create_pool(requests, name);
        for (size_t i = 0; i < requests.size(); ++i) write(sets_[i], requests[i]);
    } catch (...) {
        for (VkBufferView view : views_)
            device.vk().vkDestroyBufferView(device.handle(), view, device.allocator());
        device.vk().vkDestroyDescriptorPool(device.handle(), pool_, device.allocator());
        throw;
    }
}

DescriptorSets::~DescriptorSets() {
    if (!pool_) return;
    device_.defer([device = &device_, pool = pool_, views = std::move(views_)] {
        device->vk().vkDestroyDescriptorPool(device->handle(), pool, device->allocator());
        for (VkBufferView view : views)
            device->vk().vkDestroyBufferView(device->handle(), view, device->allocator());
    });
}

void DescriptorSets::create_pool(std::span<const SetRequest> requests, const std::string& name) {
    uint32_t storage = 0, texel = 0, dynamic = 0;
    std::vector<VkDescriptorSetLayout> layouts;
    for (const SetRequest& request : requests) {
        layouts.push_back(request.pipeline->set_layout());
        dynamic += request.pipeline->params_in_buffer();
        for (const BindingInfo& binding : request.pipeline->bindings())
            if (binding.form != BindingForm::Address)
                ++(binding.form == BindingForm::View ? texel : storage);
    }
    std::vector<VkDescriptorPoolSize> sizes;
    if (storage > 0) sizes.push_back({VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage});
    if (texel > 0) sizes.push_back({VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, texel});
    if (dynamic > 0) sizes.push_back({VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, dynamic});
    if (sizes.empty()) sizes.push_back({VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1});
    VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.maxSets = static_cast<uint32_t>(requests.size());
    info.poolSizeCount = static_cast<uint32_t>(sizes.size());
    info.pPoolSizes = sizes.data();
    const VolkDeviceTable& vk = device_.vk();
    check(vk.vkCreateDescriptorPool(device_.handle(), &info, device_.allocator(), &pool_),
          "vkCreateDescriptorPool", name);
    device_.set_name(pool_, VK_OBJECT_TYPE_DESCRIPTOR_POOL, name);
    VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate.descriptorPool = pool_;
    allocate.descriptorSetCount = info.maxSets;
    allocate.pSetLayouts = layouts.data();
    sets_.resize(requests.size());
    check(vk.vkAllocateDescriptorSets(device_.handle(), &allocate, sets_.data()),
          "vkAllocateDescriptorSets", name);
}

void DescriptorSets::write(VkDescriptorSet set, const SetRequest& request) {
    const std::vector<BindingInfo>& bindings = request.pipeline->bindings();
    ensure(request.buffers.size() == bindings.size(), "a kernel has another number of bindings");
    device_.set_name(set, VK_OBJECT_TYPE_DESCRIPTOR_SET, request.pipeline->name());
    std::vector<VkDescriptorBufferInfo> buffers(bindings.size() + 1);
    std::vector<VkBufferView> views(bindings.size());
    std::vector<VkWriteDescriptorSet> writes;
    views_.reserve(views_.size() + bindings.size());  // keeps a view that was made
    auto add = [&](size_t place, VkDescriptorType type) -> VkWriteDescriptorSet& {
        VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        write.dstSet = set;
        write.dstBinding = static_cast<uint32_t>(place);
        write.descriptorCount = 1;
        write.descriptorType = type;
        return writes.emplace_back(write);
    };
    for (size_t i = 0; i < bindings.size(); ++i) {
        const BufferRange& range = request.buffers[i];
        const std::string& name = *request.names[i];
        check_elements(range, bindings[i].dtype, name, request.pipeline->name());
        if (bindings[i].form == BindingForm::Address) continue;
        VkWriteDescriptorSet& write = add(i, descriptor_type(bindings[i].form));
        if (bindings[i].form == BindingForm::View) {
            views[i] =
                create_texel_view(device_, range, bindings[i].dtype, bindings[i].width, name);
            views_.push_back(views[i]);
            write.pTexelBufferView = &views[i];
        } else {
            check_storage_range(device_, range, name, request.pipeline->name());
            buffers[i] = {range.buffer, range.offset, range.bytes};
            write.pBufferInfo = &buffers[i];
        }
    }
    if (request.pipeline->params_in_buffer()) {
        buffers.back() = {request.params.buffer, request.params.offset, request.params.bytes};
        add(bindings.size(), VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC).pBufferInfo =
            &buffers.back();
    }
    device_.vk().vkUpdateDescriptorSets(device_.handle(), static_cast<uint32_t>(writes.size()),
                                        writes.data(), 0, nullptr);
}

}  // namespace firn
