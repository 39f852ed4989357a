// A stand-in of Godot's RenderingDevice over Vulkan, which keeps the rules that Godot documents.
#pragma once

#include <functional>
#include <godot_cpp/stand_in.hpp>
#include <map>
#include <set>
#include <vector>

#include "gpu.h"
#include "reflection.h"

class StandInDevice : public godot::RenderingDevice {
  public:
    using RID = godot::RID;
    using PackedByteArray = godot::PackedByteArray;

    /// `minor` of the version 4.minor, whose rules for push constants it follows. Only a local
    /// device submits.
    StandInDevice(Gpu& gpu, int minor, bool is_local);
    /// Runs what is recorded, and waits.
    void flush();
    void destroy();
    size_t object_count() const { return objects_.size(); }

    int rules_broken = 0, lists = 0, dispatches = 0, barriers = 0, copies = 0;

    uint64_t get_driver_resource(DriverResource resource, const RID& rid, uint64_t index) override;
    RID shader_create_from_spirv(const godot::Ref<godot::RDShaderSPIRV>& spirv,
                                 const godot::String& name) override;
    RID compute_pipeline_create(const RID& shader) override;
    RID storage_buffer_create(uint32_t bytes, const PackedByteArray& data) override;
    RID uniform_buffer_create(uint32_t bytes, const PackedByteArray& data) override;
    RID uniform_set_create(const godot::TypedArray<godot::RDUniform>& uniforms, const RID& shader,
                           uint32_t set) override;
    godot::Error buffer_update(const RID& buffer, uint32_t offset, uint32_t bytes,
                               const PackedByteArray& data) override;
    godot::Error buffer_copy(const RID& from, const RID& to, uint32_t from_offset,
                             uint32_t to_offset, uint32_t bytes) override;
    PackedByteArray buffer_get_data(const RID& buffer, uint32_t offset, uint32_t bytes) override;
    int64_t compute_list_begin() override;
    void compute_list_bind_compute_pipeline(int64_t list, const RID& pipeline) override;
    void compute_list_bind_uniform_set(int64_t list, const RID& uniform_set,
                                       uint32_t index) override;
    void compute_list_set_push_constant(int64_t list, const PackedByteArray& data,
                                        uint32_t bytes) override;
    void compute_list_dispatch(int64_t list, uint32_t x, uint32_t y, uint32_t z) override;
    void compute_list_add_barrier(int64_t list) override;
    void compute_list_end() override;
    void submit() override;
    void sync() override;
    void free_rid(const RID& rid) override;

  private:
    enum Kind { kShader, kPipeline, kStorageBuffer, kUniformBuffer, kUniformSet };
    struct Object {
        Kind kind = kShader;
        std::set<uint64_t> dependents;  // that go when this one goes
        Reflection reflection;          // of a shader
        uint32_t constant_bytes = 0;
        VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
        VkPipelineLayout layout = VK_NULL_HANDLE;
        VkShaderModule module = VK_NULL_HANDLE;
        VkPipeline pipeline = VK_NULL_HANDLE;
        uint64_t shader = 0;  // of a pipeline or a uniform set
        GpuBuffer buffer;
        bool is_read = false, is_written = false;  // since the last barrier
        VkDescriptorPool pool = VK_NULL_HANDLE;
        VkDescriptorSet set = VK_NULL_HANDLE;
        std::map<uint64_t, bool> uses;  // buffers of a uniform set: whether they are written
    };
    struct List {
        bool is_open = false;
        uint64_t pipeline = 0, uniform_set = 0;
        std::vector<uint8_t> constants;
        bool are_constants_supplied = false;
        std::map<uint64_t, bool> uses;
        std::vector<std::function<void(VkCommandBuffer)>> commands;
    };

    bool broken(const char* rule);
    Object* find(const RID& rid, Kind kind);
    RID add(Object object);
    RID make_device_buffer(uint32_t bytes, const PackedByteArray& data, Kind kind);
    VkCommandBuffer commands();
    void use(const std::map<uint64_t, bool>& uses);
    void close_list();
    void destroy_object(uint64_t id);

    Gpu& gpu_;
    int minor_;
    bool is_local_, is_submitted_ = false;
    std::map<uint64_t, Object> objects_;
    uint64_t last_id_ = 0;
    List list_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};
