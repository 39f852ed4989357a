// A stand-in of Godot's RenderingDevice over Vulkan.
#include "rendering_device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace godot;

namespace {

constexpr int64_t kList = 0x4000000000000000;  // the number of the one open list
constexpr uint32_t kMaxConstantBytes = 128;

}  // namespace

StandInDevice::StandInDevice(Gpu& gpu, int minor, bool is_local)
    : gpu_(gpu), minor_(minor), is_local_(is_local) {
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = gpu_.queue_family;
    check(vkCreateCommandPool(gpu_.device, &pool, nullptr, &pool_), "vkCreateCommandPool");
}

void StandInDevice::destroy() {
    flush();
    vkDestroyCommandPool(gpu_.device, pool_, nullptr);
}

bool StandInDevice::broken(const char* rule) {
    ++rules_broken;
    std::fprintf(stderr, "godot_stand_in: the extension breaks a rule: %s\n", rule);
    return false;
}

StandInDevice::Object* StandInDevice::find(const RID& rid, Kind kind) {
    const auto found = objects_.find(rid.get_id());
    if (found != objects_.end() && found->second.kind == kind) return &found->second;
    broken("an RID names an object of the kind that is asked for");
    return nullptr;
}

RID StandInDevice::add(Object object) {
    objects_[++last_id_] = std::move(object);
    return RID(last_id_);
}

// ---- Commands ----

VkCommandBuffer StandInDevice::commands() {
    if (commands_) return commands_;
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = pool_;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(gpu_.device, &allocate, &commands_), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    return commands_;
}

void StandInDevice::flush() {
    if (!commands_) return;
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands_,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    check(vkQueueSubmit(gpu_.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(gpu_.queue), "vkQueueWaitIdle");
    vkFreeCommandBuffers(gpu_.device, pool_, 1, &commands_);
    commands_ = VK_NULL_HANDLE;
    for (auto& [id, object] : objects_) object.is_read = object.is_written = false;
}

/// Godot orders lists and copies by what they use: a barrier where one writes what another one
/// uses.
void StandInDevice::use(const std::map<uint64_t, bool>& uses) {
    const bool is_ordered = std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
        const Object& object = objects_.at(use.first);
        return object.is_written || (use.second && object.is_read);
    });
    if (is_ordered) {
        const VkPipelineStageFlags stages =
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
        VkMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask =
            barrier.srcAccessMask | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
        vkCmdPipelineBarrier(commands(), stages, stages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
        ++barriers;
        for (auto& [id, object] : objects_) object.is_read = object.is_written = false;
    }
    for (const auto& [id, is_written] : uses)
        (is_written ? objects_.at(id).is_written : objects_.at(id).is_read) = true;
}

uint64_t StandInDevice::get_driver_resource(DriverResource resource, const RID&, uint64_t) {
    switch (resource) {
        case DRIVER_RESOURCE_LOGICAL_DEVICE: return reinterpret_cast<uint64_t>(gpu_.device);
        case DRIVER_RESOURCE_PHYSICAL_DEVICE: return reinterpret_cast<uint64_t>(gpu_.physical);
        case DRIVER_RESOURCE_TOPMOST_OBJECT: return reinterpret_cast<uint64_t>(gpu_.instance);
        case DRIVER_RESOURCE_COMMAND_QUEUE: return reinterpret_cast<uint64_t>(gpu_.queue);
        case DRIVER_RESOURCE_QUEUE_FAMILY: return gpu_.queue_family;
    }
    return 0;
}

// ---- Objects ----

RID StandInDevice::shader_create_from_spirv(const Ref<RDShaderSPIRV>& spirv, const String&) {
    const PackedByteArray& bytes = spirv->stand_in_bytes();
    Object out;
    std::vector<uint32_t> words(size_t(bytes.size()) / 4);
    std::memcpy(words.data(), bytes.ptr(), 4 * words.size());
    out.reflection = reflect(words);
    if (!out.reflection.is_understood) return broken("a shader is SPIR-V with one set"), RID();
    const uint32_t constants = out.reflection.push_constant_bytes;
    out.constant_bytes = minor_ <= 6 ? (constants + 15) / 16 * 16 : constants;
    if (out.constant_bytes > kMaxConstantBytes)
        return broken("push constants take 128 bytes at most"), RID();
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const auto& [number, binding] : out.reflection.bindings) {
        VkDescriptorSetLayoutBinding made{};
        made.binding = number;
        made.descriptorType = binding.is_uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                                 : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        made.descriptorCount = 1;
        made.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
        bindings.push_back(made);
    }
    VkDescriptorSetLayoutCreateInfo set{};
    set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set.bindingCount = uint32_t(bindings.size());
    set.pBindings = bindings.data();
    check(vkCreateDescriptorSetLayout(gpu_.device, &set, nullptr, &out.set_layout),
          "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, out.constant_bytes};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &out.set_layout;
    layout.pushConstantRangeCount = out.constant_bytes > 0 ? 1 : 0;
    layout.pPushConstantRanges = &range;
    check(vkCreatePipelineLayout(gpu_.device, &layout, nullptr, &out.layout),
          "vkCreatePipelineLayout");
    VkShaderModuleCreateInfo module{};
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = 4 * words.size();
    module.pCode = words.data();
    check(vkCreateShaderModule(gpu_.device, &module, nullptr, &out.module), "vkCreateShaderModule");
    return add(std::move(out));
}

RID StandInDevice::compute_pipeline_create(const RID& shader) {
    Object* from = find(shader, kShader);
    if (!from) return RID();
    Object out;
    out.kind = kPipeline;
    out.shader = shader.get_id();
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = from->module;
    info.stage.pName = "main";
    info.layout = from->layout;
    check(vkCreateComputePipelines(gpu_.device, VK_NULL_HANDLE, 1, &info, nullptr, &out.pipeline),
          "vkCreateComputePipelines");
    const RID made = add(std::move(out));
    objects_.at(shader.get_id()).dependents.insert(made.get_id());
    return made;
}

RID StandInDevice::make_device_buffer(uint32_t bytes, const PackedByteArray& data, Kind kind) {
    if (list_.is_open) return broken("no buffer is filled while a compute list is open"), RID();
    if (bytes == 0) return broken("a buffer has bytes"), RID();
    if (data.size() != 0 && uint64_t(data.size()) != bytes)
        return broken("the first data of a buffer have its size"), RID();
    Object out;
    out.kind = kind;
    out.buffer = make_buffer(gpu_, bytes,
                             VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                 (kind == kStorageBuffer ? VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
                                                         : VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT),
                             true);
    std::memset(out.buffer.data, 0xA5, bytes);  // new memory holds anything
    if (data.size() != 0) std::memcpy(out.buffer.data, data.ptr(), bytes);
    return add(std::move(out));
}

RID StandInDevice::storage_buffer_create(uint32_t bytes, const PackedByteArray& data) {
    return make_device_buffer(bytes, data, kStorageBuffer);
}

RID StandInDevice::uniform_buffer_create(uint32_t bytes, const PackedByteArray& data) {
    return make_device_buffer(bytes, data, kUniformBuffer);
}

RID StandInDevice::uniform_set_create(const TypedArray<RDUniform>& uniforms, const RID& shader,
                                      uint32_t set) {
    Object* from = find(shader, kShader);
    if (!from) return RID();
    const std::map<uint32_t, ReflectedBinding>& bindings = from->reflection.bindings;
    if (set != 0 || uniforms.stand_in_values().size() != bindings.size())
        return broken("a uniform set has the bindings of its shader"), RID();
    Object out;
    out.kind = kUniformSet;
    out.shader = shader.get_id();
    std::vector<VkDescriptorBufferInfo> buffers(bindings.size());
    std::vector<VkWriteDescriptorSet> writes;
    for (const std::shared_ptr<godot::Object>& value : uniforms.stand_in_values()) {
        const RDUniform& uniform = *std::static_pointer_cast<RDUniform>(value);
        const auto binding = bindings.find(uint32_t(uniform.get_binding()));
        const bool is_uniform = uniform.get_uniform_type() == UNIFORM_TYPE_UNIFORM_BUFFER;
        if (binding == bindings.end() || binding->second.is_uniform != is_uniform)
            return broken("a uniform has the type of its binding"), RID();
        const Object* buffer =
            find(uniform.stand_in_id(), is_uniform ? kUniformBuffer : kStorageBuffer);
        if (!buffer) return RID();
        if (buffer->buffer.bytes < binding->second.bytes)
            return broken("a uniform buffer is as large as the block of the shader"), RID();
        const uint64_t id = uniform.stand_in_id().get_id();
        const auto [use, is_new] = out.uses.emplace(id, binding->second.is_written);
        if (!is_new && use->second != binding->second.is_written)
            return broken("a buffer is either read or written in a uniform set"), RID();
        buffers[writes.size()] = {buffer->buffer.buffer, 0, VK_WHOLE_SIZE};
        VkWriteDescriptorSet write{};
        write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        write.dstBinding = binding->first;
        write.descriptorCount = 1;
        write.descriptorType =
            is_uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &buffers[writes.size()];
        writes.push_back(write);
    }
    const uint32_t count = uint32_t(bindings.size()) + 1;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, count}};
    VkDescriptorPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    pool.maxSets = 1;
    pool.poolSizeCount = 2;
    pool.pPoolSizes = sizes;
    check(vkCreateDescriptorPool(gpu_.device, &pool, nullptr, &out.pool), "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocate.descriptorPool = out.pool;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &from->set_layout;
    check(vkAllocateDescriptorSets(gpu_.device, &allocate, &out.set), "vkAllocateDescriptorSets");
    for (VkWriteDescriptorSet& write : writes) write.dstSet = out.set;
    vkUpdateDescriptorSets(gpu_.device, uint32_t(writes.size()), writes.data(), 0, nullptr);
    const std::map<uint64_t, bool> uses = out.uses;
    const RID made = add(std::move(out));
    objects_.at(shader.get_id()).dependents.insert(made.get_id());
    for (const auto& [id, is_written] : uses) objects_.at(id).dependents.insert(made.get_id());
    return made;
}

// ---- Buffers ----

Error StandInDevice::buffer_update(const RID& rid, uint32_t offset, uint32_t bytes,
                                   const PackedByteArray& data) {
    const auto found = objects_.find(rid.get_id());
    if (list_.is_open) return broken("no buffer is updated while a compute list is open"), FAILED;
    if (found == objects_.end() || !found->second.buffer.buffer)
        return broken("an update names a buffer"), FAILED;
    if (offset + bytes > found->second.buffer.bytes || uint64_t(data.size()) < bytes)
        return broken("an update lies in the buffer, and has its data"), FAILED;
    flush();
    std::memcpy(static_cast<char*>(found->second.buffer.data) + offset, data.ptr(), bytes);
    return OK;
}

Error StandInDevice::buffer_copy(const RID& from, const RID& to, uint32_t from_offset,
                                 uint32_t to_offset, uint32_t bytes) {
    if (list_.is_open) return broken("no buffer is copied while a compute list is open"), FAILED;
    const Object *source = find(from, kStorageBuffer), *target = find(to, kStorageBuffer);
    if (!source || !target) return FAILED;
    if (from_offset + bytes > source->buffer.bytes || to_offset + bytes > target->buffer.bytes)
        return broken("a copy lies in both buffers"), FAILED;
    use({{from.get_id(), false}, {to.get_id(), true}});
    const VkBufferCopy region{from_offset, to_offset, bytes};
    vkCmdCopyBuffer(commands(), source->buffer.buffer, target->buffer.buffer, 1, &region);
    ++copies;
    return OK;
}

PackedByteArray StandInDevice::buffer_get_data(const RID& rid, uint32_t offset, uint32_t bytes) {
    PackedByteArray out;
    const Object* buffer = find(rid, kStorageBuffer);
    if (!buffer) return out;
    if (list_.is_open) return broken("no buffer is read while a compute list is open"), out;
    if (bytes == 0) bytes = uint32_t(buffer->buffer.bytes) - offset;
    flush();
    out.resize(bytes);
    std::memcpy(out.ptrw(), static_cast<const char*>(buffer->buffer.data) + offset, bytes);
    return out;
}

// ---- Compute lists ----

int64_t StandInDevice::compute_list_begin() {
    if (list_.is_open) return broken("one compute list is open at a time"), 0;
    list_ = {};
    list_.is_open = true;
    return kList;
}

void StandInDevice::compute_list_bind_compute_pipeline(int64_t list, const RID& rid) {
    if (list != kList || !list_.is_open) return void(broken("a compute list is open"));
    const Object* pipeline = find(rid, kPipeline);
    if (!pipeline) return;
    list_.pipeline = rid.get_id();
    if (minor_ <= 6) list_.are_constants_supplied = false;  // 4.7 keeps what was pushed
    list_.commands.push_back([handle = pipeline->pipeline](VkCommandBuffer to) {
        vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, handle);
    });
}

void StandInDevice::compute_list_bind_uniform_set(int64_t list, const RID& rid, uint32_t index) {
    if (list != kList || !list_.is_open || index != 0)
        return void(broken("a compute list is open"));
    if (find(rid, kUniformSet)) list_.uniform_set = rid.get_id();
}

void StandInDevice::compute_list_set_push_constant(int64_t list, const PackedByteArray& data,
                                                   uint32_t bytes) {
    if (list != kList || !list_.is_open || !list_.pipeline)
        return void(broken("a pipeline is bound"));
    const Object& shader = objects_.at(objects_.at(list_.pipeline).shader);
    if (bytes != shader.constant_bytes || uint64_t(data.size()) < bytes)
        return void(broken("push constants have the size of the pipeline's"));
    list_.constants.assign(data.ptr(), data.ptr() + bytes);
    list_.are_constants_supplied = true;
}

void StandInDevice::compute_list_dispatch(int64_t list, uint32_t x, uint32_t y, uint32_t z) {
    if (list != kList || !list_.is_open || !list_.pipeline || !list_.uniform_set)
        return void(broken("a pipeline and a uniform set are bound"));
    const Object& pipeline = objects_.at(list_.pipeline);
    const Object& set = objects_.at(list_.uniform_set);
    const Object& shader = objects_.at(pipeline.shader);
    if (set.shader != pipeline.shader)
        return void(broken("the uniform set was made for the pipeline's shader"));
    if (x == 0 || y == 0 || z == 0) return void(broken("a dispatch has groups"));
    if (minor_ <= 6 ? shader.constant_bytes > 0 && !list_.are_constants_supplied
                    : list_.constants.size() != shader.constant_bytes)
        return void(
            broken("the push constants of a list have the size of the pipeline's at a dispatch"));
    for (const auto& [id, is_written] : set.uses) {
        const auto [use, is_new] = list_.uses.emplace(id, is_written);
        if (!is_new && use->second != is_written)
            return void(
                broken("a buffer is either read or written in a compute list up to a barrier"));
    }
    list_.commands.push_back([=, layout = shader.layout, handle = set.set,
                              constants = shader.constant_bytes > 0
                                              ? list_.constants
                                              : std::vector<uint8_t>()](VkCommandBuffer to) {
        vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &handle, 0,
                                nullptr);
        if (!constants.empty())
            vkCmdPushConstants(to, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               uint32_t(constants.size()), constants.data());
        vkCmdDispatch(to, x, y, z);
    });
    ++dispatches;
}

void StandInDevice::close_list() {
    use(list_.uses);
    for (const auto& command : list_.commands) command(commands());
    list_.uses.clear();
    list_.commands.clear();
    ++lists;
}

/// Ends the list and begins another one with its state: what it uses is ordered behind what was
/// used.
void StandInDevice::compute_list_add_barrier(int64_t list) {
    if (list != kList || !list_.is_open) return void(broken("a compute list is open"));
    close_list();
    if (list_.pipeline)
        list_.commands.push_back(
            [handle = objects_.at(list_.pipeline).pipeline](VkCommandBuffer to) {
                vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, handle);
            });
}

void StandInDevice::compute_list_end() {
    if (!list_.is_open) return void(broken("a compute list is open"));
    close_list();
    list_.is_open = false;
}

void StandInDevice::submit() {
    if (!is_local_) return void(broken("only local devices submit and sync"));
    if (is_submitted_ || list_.is_open)
        return void(broken("a device is submitted once, and then synchronised"));
    is_submitted_ = true;
}

void StandInDevice::sync() {
    if (!is_local_) return void(broken("only local devices submit and sync"));
    if (!is_submitted_) return void(broken("what is synchronised was submitted"));
    is_submitted_ = false;
    flush();
}

void StandInDevice::destroy_object(uint64_t id) {
    const auto found = objects_.find(id);
    if (found == objects_.end()) return;
    Object object = std::move(found->second);
    objects_.erase(found);
    for (const uint64_t dependent : object.dependents) destroy_object(dependent);
    vkDestroyPipeline(gpu_.device, object.pipeline, nullptr);
    vkDestroyShaderModule(gpu_.device, object.module, nullptr);
    vkDestroyPipelineLayout(gpu_.device, object.layout, nullptr);
    vkDestroyDescriptorSetLayout(gpu_.device, object.set_layout, nullptr);
    vkDestroyDescriptorPool(gpu_.device, object.pool, nullptr);
    destroy_buffer(gpu_, object.buffer);
}

void StandInDevice::free_rid(const RID& rid) {
    if (list_.is_open) return void(broken("nothing is freed while a compute list is open"));
    if (!objects_.count(rid.get_id()))
        return void(broken("what is freed was not freed before, with what it needs"));
    flush();
    destroy_object(rid.get_id());
}
