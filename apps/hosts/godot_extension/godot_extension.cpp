// An extension of Godot 4: the class FirnProgram hands the kernels of a saved program of Firn to a
// RenderingDevice, which dispatches them.
#include <dlfcn.h>
#include <firn.h>

#include <algorithm>
#include <cstring>
#include <godot_cpp/classes/engine.hpp>
#include <godot_cpp/classes/rd_shader_spirv.hpp>
#include <godot_cpp/classes/rd_uniform.hpp>
#include <godot_cpp/classes/ref_counted.hpp>
#include <godot_cpp/classes/rendering_device.hpp>
#include <godot_cpp/core/class_db.hpp>
#include <godot_cpp/godot.hpp>
#include <map>
#include <string>
#include <vector>

using namespace godot;

namespace {

constexpr uint32_t kVulkan12 = 1u << 22 | 2u << 12;

PackedByteArray bytes_of(const void* data, size_t bytes, size_t padded = 0) {
    PackedByteArray out;
    out.resize(int64_t(std::max(bytes, padded)));
    std::memset(out.ptrw(), 0, size_t(out.size()));
    if (bytes > 0) std::memcpy(out.ptrw(), data, bytes);
    return out;
}

/// The SPIR-V without the decorations that say that a buffer is only read. A kernel may have one
/// buffer as two bindings, of which one is written; Godot takes each buffer of a compute list for
/// one use, by these decorations.
PackedByteArray spirv_of(const firn_kernel_info& info) {
    constexpr uint32_t kHeaderWords = 5, kDecorate = 71, kMemberDecorate = 72, kNonWritable = 24;
    std::vector<uint32_t> out(info.words, info.words + std::min(kHeaderWords, info.word_count));
    for (uint32_t at = kHeaderWords; at < info.word_count;) {
        const uint32_t *words = info.words + at, op = words[0] & 0xffff;
        const uint32_t count = std::max(1u, std::min(words[0] >> 16, info.word_count - at));
        const bool is_left_out = (op == kDecorate && count > 2 && words[2] == kNonWritable) ||
                                 (op == kMemberDecorate && count > 3 && words[3] == kNonWritable);
        if (!is_left_out) out.insert(out.end(), words, words + count);
        at += count;
    }
    return bytes_of(out.data(), 4 * out.size());
}

uint32_t multiple_of_16(uint32_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

/// A program at certain sizes, with its buffers. A script calls
///   load(file, device), prepare(ranks, extents), then each frame: set_parameter(name, values),
///   dispatch().
/// argument(k) and result(k) are storage buffers of the device, for buffer_update, buffer_get_data
/// and other shaders. Methods that return an error leave its text in get_error().
class FirnProgram : public RefCounted {
    GDCLASS(FirnProgram, RefCounted)

  public:
    ~FirnProgram() { close(); }

    Error load(const PackedByteArray& file, RenderingDevice* device) {
        close();
        if (!device)
            return fail("there is no RenderingDevice: Godot runs headless, or with OpenGL");
        device_ = device;
        if (!make_context()) return FAILED;
        if (!worked(firn_program_load(context_, file.ptr(), size_t(file.size()), &program_),
                    "firn_program_load"))
            return FAILED;
        info_.struct_size = sizeof info_;
        return worked(firn_program_describe(program_, &info_), "firn_program_describe") ? OK
                                                                                        : FAILED;
    }

    /// Makes the buffers and kernels for arguments of these shapes, whose extents follow each
    /// other; none: those that the program was saved with.
    Error prepare(const PackedInt64Array& ranks, const PackedInt64Array& extents) {
        if (!program_) return fail("no program is loaded");
        release_call();
        std::vector<firn_shape> shapes(size_t(ranks.size()));
        int64_t at = 0;
        for (size_t k = 0; k < shapes.size(); ++k) {
            const int64_t rank = ranks.ptr()[k];
            if (rank < 0 || rank > FIRN_MAX_RANK || at + rank > extents.size())
                return fail("a rank is not from 0 to 8, or there are too few extents");
            shapes[k].rank = uint32_t(rank);
            std::copy(extents.ptr() + at, extents.ptr() + at + rank, shapes[k].extents);
            at += rank;
        }
        if (!worked(firn_call_create(program_, shapes.empty() ? nullptr : shapes.data(),
                                     uint32_t(shapes.size()), &call_),
                    "firn_call_create"))
            return FAILED;
        const bool is_made = make_tensors(FIRN_ARGUMENT, info_.argument_count) &&
                             make_tensors(FIRN_RESULT, info_.result_count) && make_kernels() &&
                             find_scratch() && make_steps();
        if (!is_made) release_call();
        return is_made ? OK : FAILED;
    }

    RID argument(int64_t index) { return tensor(FIRN_ARGUMENT, index); }
    RID result(int64_t index) { return tensor(FIRN_RESULT, index); }

    Error set_parameter(const String& name, const PackedFloat64Array& values) {
        if (!call_) return fail("the program is not prepared");
        for (uint32_t k = 0; k < info_.parameter_count; ++k) {
            firn_parameter_info parameter{};
            parameter.struct_size = sizeof parameter;
            if (!worked(firn_parameter_describe(program_, k, &parameter),
                        "firn_parameter_describe"))
                return FAILED;
            if (std::strcmp(parameter.name, name.utf8().get_data()) != 0) continue;
            return worked(firn_call_set_parameter(call_, k, values.ptr(), uint32_t(values.size())),
                          "firn_call_set_parameter")
                       ? OK
                       : FAILED;
        }
        return fail(std::string("the program has no parameter '") + name.utf8().get_data() + "'");
    }

    /// Records the steps. The main device runs them with its frame; on a local one submit() and
    /// sync() follow.
    Error dispatch() {
        if (!call_) return fail("the program is not prepared");
        // No buffer is updated while a compute list is open.
        for (size_t k = 0; k < steps_.size(); ++k)
            if (steps_[k].parameters.is_valid() && !update_parameters(uint32_t(k))) return FAILED;
        bool is_open = false, has_constants = false;
        int64_t list = 0;
        const auto close_list = [&] {
            if (is_open) device_->compute_list_end();
            is_open = has_constants = false;
        };
        for (size_t k = 0; k < steps_.size(); ++k) {
            firn_step_info step{};
            if (!describe(uint32_t(k), step)) {
                close_list();
                return FAILED;
            }
            if (step.kernel < 0) {  // no buffer is copied while a compute list is open
                close_list();
                if (step.slots[1].bytes > 0 &&
                    device_->buffer_copy(buffer_of(step.slots[0]), buffer_of(step.slots[1]), 0, 0,
                                         uint32_t(step.slots[1].bytes)) != OK)
                    return fail("the device does not copy a buffer");
                continue;
            }
            const Kernel& kernel = kernels_[size_t(step.kernel)];
            const bool takes_constants = step.parameter_bytes > 0 && !kernel.parameters_in_buffer;
            // Constants that were pushed stay for the next pipeline of a list, which may take none.
            if (has_constants && !takes_constants) close_list();
            if (is_open && step.barrier_before) device_->compute_list_add_barrier(list);
            if (!is_open) list = device_->compute_list_begin();
            is_open = true;
            device_->compute_list_bind_compute_pipeline(list, kernel.pipeline);
            device_->compute_list_bind_uniform_set(list, steps_[k].uniform_set, 0);
            if (takes_constants) {
                const PackedByteArray data = bytes_of(
                    step.parameters, step.parameter_bytes,
                    pads_constants_ ? multiple_of_16(step.parameter_bytes) : step.parameter_bytes);
                device_->compute_list_set_push_constant(list, data, uint32_t(data.size()));
                has_constants = true;
            }
            device_->compute_list_dispatch(list, step.groups[0], step.groups[1], step.groups[2]);
        }
        close_list();
        return OK;
    }

    String get_error() { return String::utf8(error_.c_str()); }

  protected:
    static void _bind_methods() {
        ClassDB::bind_method(D_METHOD("load", "file", "device"), &FirnProgram::load);
        ClassDB::bind_method(D_METHOD("prepare", "ranks", "extents"), &FirnProgram::prepare);
        ClassDB::bind_method(D_METHOD("argument", "index"), &FirnProgram::argument);
        ClassDB::bind_method(D_METHOD("result", "index"), &FirnProgram::result);
        ClassDB::bind_method(D_METHOD("set_parameter", "name", "values"),
                             &FirnProgram::set_parameter);
        ClassDB::bind_method(D_METHOD("dispatch"), &FirnProgram::dispatch);
        ClassDB::bind_method(D_METHOD("get_error"), &FirnProgram::get_error);
    }

  private:
    struct Kernel {
        RID shader, pipeline;
        bool parameters_in_buffer = false;
        std::vector<firn_kernel_binding> bindings;
    };
    struct Step {
        RID uniform_set;
        RID parameters;  // a uniform buffer, where the kernel takes them so
    };

    Error fail(const std::string& text) {
        error_ = text;
        return FAILED;
    }
    bool worked(int32_t code, const char* what) {
        if (code != FIRN_OK)
            fail(std::string(what) + ": " + firn_code_name(code) + ": " + firn_message(context_));
        return code == FIRN_OK;
    }

    /// A context on the engine's device, for the plans of programs: it has no queue, and submits
    /// nothing. The engine does not say which features it enabled: the kernels use none, and
    /// storage buffers alone.
    bool make_context() {
        const auto handle = [&](RenderingDevice::DriverResource resource) {
            return device_->get_driver_resource(resource, RID(), 0);
        };
        firn_host host{};
        host.struct_size = sizeof host;
        host.flags = FIRN_HOST_STORAGE_BUFFERS_ONLY;
        host.instance =
            reinterpret_cast<void*>(handle(RenderingDevice::DRIVER_RESOURCE_TOPMOST_OBJECT));
        host.physical_device =
            reinterpret_cast<void*>(handle(RenderingDevice::DRIVER_RESOURCE_PHYSICAL_DEVICE));
        host.device =
            reinterpret_cast<void*>(handle(RenderingDevice::DRIVER_RESOURCE_LOGICAL_DEVICE));
        host.queue_family = uint32_t(handle(RenderingDevice::DRIVER_RESOURCE_QUEUE_FAMILY));
        host.api_version = kVulkan12;
        // The loader that the engine has opened.
        loader_ = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        host.get_instance_proc_addr = loader_ ? dlsym(loader_, "vkGetInstanceProcAddr") : nullptr;
        char text[512] = "";
        const int32_t code = firn_context_create(&host, &context_, text, sizeof text);
        if (code != FIRN_OK) {
            context_ = nullptr;
            fail(std::string("firn_context_create: ") + firn_code_name(code) + ": " + text);
        }
        // Godot 4.6 and older round the size of push constants up to 16 bytes; 4.7 wants their own.
        const Dictionary version = Engine::get_singleton()->get_version_info();
        pads_constants_ = int(version["major"]) == 4 && int(version["minor"]) <= 6;
        return code == FIRN_OK;
    }

    RID make_buffer(uint64_t bytes, const void* data = nullptr) {
        if (bytes == 0 || bytes > UINT32_MAX - 16) {
            fail("a buffer of " + std::to_string(bytes) + " bytes does not fit the engine's sizes");
            return RID();
        }
        const uint32_t room = uint32_t(bytes + 3) / 4 * 4;
        const RID made =
            device_->storage_buffer_create(room, bytes_of(data, data ? size_t(bytes) : 0, room));
        if (made.is_valid())
            buffers_.push_back(made);
        else
            fail("the device has no memory for a buffer");
        return made;
    }

    bool make_tensors(int32_t what, uint32_t count) {
        for (uint32_t k = 0; k < count; ++k) {
            firn_memory_info memory{};
            memory.struct_size = sizeof memory;
            if (!worked(firn_call_memory(call_, what, k, &memory), "firn_call_memory"))
                return false;
            const RID made = memory.bytes > 0 ? make_buffer(memory.bytes) : RID();
            if (memory.bytes > 0 && !made.is_valid()) return false;
            tensors_[what].push_back(made);
        }
        return true;
    }

    bool make_kernels() {
        uint32_t count = 0, steps = 0;
        if (!worked(firn_step_count(call_, &steps, &count), "firn_step_count")) return false;
        steps_.resize(steps);
        for (uint32_t k = 0; k < count; ++k) {
            firn_kernel_info info{};
            info.struct_size = sizeof info;
            if (!worked(firn_kernel(call_, k, &info), "firn_kernel")) return false;
            Kernel kernel;
            kernel.parameters_in_buffer = info.parameters_in_buffer != 0;
            kernel.bindings.assign(info.bindings, info.bindings + info.binding_count);
            for (const firn_kernel_binding& binding : kernel.bindings)
                if (binding.form != FIRN_BINDING_STORAGE) {
                    fail(std::string("the kernel ") + info.name +
                         " takes more than storage buffers");
                    return false;
                }
            Ref<RDShaderSPIRV> spirv;
            spirv.instantiate();
            spirv->set_stage_bytecode(RenderingDevice::SHADER_STAGE_COMPUTE, spirv_of(info));
            kernel.shader = device_->shader_create_from_spirv(spirv, String::utf8(info.name));
            if (kernel.shader.is_valid())
                kernel.pipeline = device_->compute_pipeline_create(kernel.shader);
            kernels_.push_back(kernel);
            if (!kernel.pipeline.is_valid()) {
                fail(std::string("the device does not take the kernel ") + info.name);
                return false;
            }
        }
        return true;
    }

    bool describe(uint32_t index, firn_step_info& step) {
        step.struct_size = sizeof step;
        return worked(firn_step(call_, index, &step), "firn_step");
    }

    /// Godot binds whole buffers: each place of the scratch becomes a buffer. Values share a place
    /// one after the other, so that what a step reads must have been written at the same place.
    bool find_scratch() {
        std::map<uint64_t, uint64_t> sizes;  // by offset
        std::vector<uint64_t> writers;       // by 4 bytes: the offset of the last write, and 1
        for (uint32_t k = 0; k < steps_.size(); ++k) {
            firn_step_info step{};
            if (!describe(k, step)) return false;
            for (const bool writes : {false, true})
                for (uint32_t s = 0; s < step.slot_count; ++s) {
                    const firn_slot& slot = step.slots[s];
                    const bool is_written =
                        step.kernel < 0 ? s == 1
                                        : kernels_[size_t(step.kernel)].bindings[s].written != 0;
                    if (slot.what != FIRN_SLOT_SCRATCH || is_written != writes) continue;
                    sizes[slot.offset] = std::max(sizes[slot.offset], slot.bytes);
                    const size_t begin = size_t(slot.offset / 4),
                                 end = size_t((slot.offset + slot.bytes + 3) / 4);
                    if (writers.size() < end) writers.resize(end);
                    for (size_t at = begin; at < end; ++at) {
                        if (!writes && writers[at] != 0 && writers[at] != slot.offset + 1) {
                            fail(
                                "a step reads a part of what another one wrote, and Godot binds "
                                "whole buffers");
                            return false;
                        }
                        if (writes) writers[at] = slot.offset + 1;
                    }
                }
        }
        for (const auto& [offset, bytes] : sizes) {
            scratch_[offset] = make_buffer(bytes);
            if (!scratch_[offset].is_valid()) return false;
        }
        return true;
    }

    RID buffer_of(const firn_slot& slot) {
        if (slot.what == FIRN_SLOT_SCRATCH) return scratch_[slot.offset];
        if (slot.what == FIRN_SLOT_CONSTANT) {
            RID& made = constants_[slot.data];
            if (!made.is_valid()) made = make_buffer(slot.bytes, slot.data);
            return made;
        }
        return slot.offset == 0
                   ? tensors_[slot.what == FIRN_SLOT_ARGUMENT ? FIRN_ARGUMENT : FIRN_RESULT]
                             [slot.index]
                   : RID();
    }

    bool make_steps() {
        for (uint32_t k = 0; k < steps_.size(); ++k) {
            firn_step_info step{};
            if (!describe(k, step)) return false;
            Array uniforms;
            const auto add = [&](RenderingDevice::UniformType type, uint32_t binding,
                                 const RID& buffer) {
                Ref<RDUniform> uniform;
                uniform.instantiate();
                uniform->set_uniform_type(type);
                uniform->set_binding(int32_t(binding));
                uniform->add_id(buffer);
                uniforms.push_back(uniform);
            };
            for (uint32_t s = 0; s < step.slot_count; ++s) {
                const RID buffer = buffer_of(step.slots[s]);
                if (!buffer.is_valid()) {
                    fail(
                        "a step reads a part of an argument or result, and Godot binds whole "
                        "buffers");
                    return false;
                }
                add(RenderingDevice::UNIFORM_TYPE_STORAGE_BUFFER, s, buffer);
            }
            if (step.kernel < 0) continue;
            const Kernel& kernel = kernels_[size_t(step.kernel)];
            if (kernel.parameters_in_buffer) {
                steps_[k].parameters =
                    device_->uniform_buffer_create(multiple_of_16(step.parameter_bytes),
                                                   bytes_of(step.parameters, step.parameter_bytes,
                                                            multiple_of_16(step.parameter_bytes)));
                add(RenderingDevice::UNIFORM_TYPE_UNIFORM_BUFFER, step.slot_count,
                    steps_[k].parameters);
            }
            steps_[k].uniform_set = device_->uniform_set_create(uniforms, kernel.shader, 0);
            if (!steps_[k].uniform_set.is_valid()) {
                fail("the device does not make a uniform set");
                return false;
            }
        }
        return true;
    }

    bool update_parameters(uint32_t index) {
        firn_step_info step{};
        if (!describe(index, step)) return false;
        if (device_->buffer_update(steps_[index].parameters, 0, step.parameter_bytes,
                                   bytes_of(step.parameters, step.parameter_bytes)) == OK)
            return true;
        fail("the device does not update the parameters of a step");
        return false;
    }

    RID tensor(int32_t what, int64_t index) {
        if (index >= 0 && size_t(index) < tensors_[what].size())
            return tensors_[what][size_t(index)];
        fail("the program has no such argument or result, or is not prepared");
        return RID();
    }

    /// Objects that depend on others are freed first, since the device would free them with those.
    void release_call() {
        const auto free_rid = [&](const RID& rid) {
            if (rid.is_valid()) device_->free_rid(rid);
        };
        for (const Step& step : steps_) free_rid(step.uniform_set);
        for (const Step& step : steps_) free_rid(step.parameters);
        for (const Kernel& kernel : kernels_) {
            free_rid(kernel.pipeline);
            free_rid(kernel.shader);
        }
        for (const RID& buffer : buffers_) free_rid(buffer);
        steps_.clear();
        kernels_.clear();
        buffers_.clear();
        scratch_.clear();
        constants_.clear();
        tensors_[0].clear();
        tensors_[1].clear();
        firn_call_release(call_);
        call_ = nullptr;
    }

    void close() {
        if (device_) release_call();
        firn_program_release(program_);
        program_ = nullptr;
        firn_context_destroy(context_);
        context_ = nullptr;
        if (loader_) dlclose(loader_);
        loader_ = nullptr;
        device_ = nullptr;
    }

    RenderingDevice* device_ = nullptr;
    void* loader_ = nullptr;
    firn_context* context_ = nullptr;
    firn_program* program_ = nullptr;
    firn_call* call_ = nullptr;
    firn_program_info info_{};
    bool pads_constants_ = true;
    std::vector<RID> tensors_[2];  // arguments, results
    std::vector<RID> buffers_;     // all of them
    std::map<uint64_t, RID> scratch_;
    std::map<const void*, RID> constants_;
    std::vector<Kernel> kernels_;
    std::vector<Step> steps_;
    std::string error_;
};

namespace {

void initialize(ModuleInitializationLevel level) {
    if (level != MODULE_INITIALIZATION_LEVEL_SCENE) return;
    GDREGISTER_CLASS(FirnProgram);
}

void terminate(ModuleInitializationLevel) {}

}  // namespace

extern "C" GDExtensionBool GDE_EXPORT
firn_extension_init(GDExtensionInterfaceGetProcAddress get_proc_address,
                    GDExtensionClassLibraryPtr library, GDExtensionInitialization* initialization) {
    GDExtensionBinding::InitObject object(get_proc_address, library, initialization);
    object.register_initializer(initialize);
    object.register_terminator(terminate);
    object.set_minimum_library_initialization_level(MODULE_INITIALIZATION_LEVEL_SCENE);
    return object.init();
}
