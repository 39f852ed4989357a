// Stand-in of godot-cpp: of its published classes, what the extension uses. The host implements
// what is virtual.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// ---- What an extension and the engine exchange ----

typedef uint8_t GDExtensionBool;
typedef void (*GDExtensionInterfaceFunctionPtr)();
typedef GDExtensionInterfaceFunctionPtr (*GDExtensionInterfaceGetProcAddress)(const char* name);
typedef void* GDExtensionClassLibraryPtr;
typedef enum { GDEXTENSION_INITIALIZATION_SCENE = 2 } GDExtensionInitializationLevel;
typedef struct {
    GDExtensionInitializationLevel minimum_initialization_level;
    void* userdata;
    void (*initialize)(void* userdata, GDExtensionInitializationLevel level);
    void (*deinitialize)(void* userdata, GDExtensionInitializationLevel level);
} GDExtensionInitialization;
#define GDE_EXPORT __attribute__((visibility("default")))

namespace godot {

enum Error { OK = 0, FAILED = 1, ERR_INVALID_PARAMETER = 31 };
enum ModuleInitializationLevel { MODULE_INITIALIZATION_LEVEL_SCENE = 2 };

// ---- Values ----

class CharString {
  public:
    explicit CharString(std::string text) : text_(std::move(text)) {}
    const char* get_data() const { return text_.c_str(); }

  private:
    std::string text_;
};

class String {
  public:
    String() = default;
    String(const char* text) : text_(text) {}
    static String utf8(const char* text) { return String(text); }
    CharString utf8() const { return CharString(text_); }

  private:
    std::string text_;
};

template <typename T>
class PackedArray {
  public:
    int64_t size() const { return int64_t(values_.size()); }
    int64_t resize(int64_t size) {
        values_.resize(size_t(size));
        return 0;
    }
    const T* ptr() const { return values_.data(); }
    T* ptrw() { return values_.data(); }

  private:
    std::vector<T> values_;
};
using PackedByteArray = PackedArray<uint8_t>;
using PackedInt64Array = PackedArray<int64_t>;
using PackedFloat64Array = PackedArray<double>;

class RID {
  public:
    RID() = default;
    explicit RID(uint64_t id) : id_(id) {}
    bool is_valid() const { return id_ != 0; }
    uint64_t get_id() const { return id_; }

  private:
    uint64_t id_ = 0;
};

class Object {
  public:
    virtual ~Object() = default;
};
class RefCounted : public Object {};

template <typename T>
class Ref {
  public:
    Ref() = default;
    void instantiate() { object_ = std::make_shared<T>(); }
    T* operator->() const { return object_.get(); }
    const std::shared_ptr<T>& stand_in_pointer() const { return object_; }

  private:
    std::shared_ptr<T> object_;
};

class Array {
  public:
    template <typename T>
    void push_back(const Ref<T>& value) {
        values_.push_back(value.stand_in_pointer());
    }
    const std::vector<std::shared_ptr<Object>>& stand_in_values() const { return values_; }

  private:
    std::vector<std::shared_ptr<Object>> values_;
};
template <typename T>
class TypedArray : public Array {
  public:
    TypedArray(const Array& values) : Array(values) {}
};

// ---- Classes of the engine ----

class RDUniform;
class RDShaderSPIRV;

class RenderingDevice : public Object {
  public:
    enum ShaderStage { SHADER_STAGE_COMPUTE = 4 };
    enum UniformType { UNIFORM_TYPE_UNIFORM_BUFFER = 7, UNIFORM_TYPE_STORAGE_BUFFER = 8 };
    enum DriverResource {
        DRIVER_RESOURCE_LOGICAL_DEVICE = 0,
        DRIVER_RESOURCE_PHYSICAL_DEVICE = 1,
        DRIVER_RESOURCE_TOPMOST_OBJECT = 2,
        DRIVER_RESOURCE_COMMAND_QUEUE = 3,
        DRIVER_RESOURCE_QUEUE_FAMILY = 4
    };
    virtual uint64_t get_driver_resource(DriverResource resource, const RID& rid,
                                         uint64_t index) = 0;
    virtual RID shader_create_from_spirv(const Ref<RDShaderSPIRV>& spirv,
                                         const String& name = String()) = 0;
    virtual RID compute_pipeline_create(const RID& shader) = 0;
    virtual RID storage_buffer_create(uint32_t bytes,
                                      const PackedByteArray& data = PackedByteArray()) = 0;
    virtual RID uniform_buffer_create(uint32_t bytes,
                                      const PackedByteArray& data = PackedByteArray()) = 0;
    virtual RID uniform_set_create(const TypedArray<RDUniform>& uniforms, const RID& shader,
                                   uint32_t set) = 0;
    virtual Error buffer_update(const RID& buffer, uint32_t offset, uint32_t bytes,
                                const PackedByteArray& data) = 0;
    virtual Error buffer_copy(const RID& from, const RID& to, uint32_t from_offset,
                              uint32_t to_offset, uint32_t bytes) = 0;
    virtual PackedByteArray buffer_get_data(const RID& buffer, uint32_t offset = 0,
                                            uint32_t bytes = 0) = 0;
    virtual int64_t compute_list_begin() = 0;
    virtual void compute_list_bind_compute_pipeline(int64_t list, const RID& pipeline) = 0;
    virtual void compute_list_bind_uniform_set(int64_t list, const RID& uniform_set,
                                               uint32_t index) = 0;
    virtual void compute_list_set_push_constant(int64_t list, const PackedByteArray& data,
                                                uint32_t bytes) = 0;
    virtual void compute_list_dispatch(int64_t list, uint32_t x, uint32_t y, uint32_t z) = 0;
    virtual void compute_list_add_barrier(int64_t list) = 0;
    virtual void compute_list_end() = 0;
    virtual void submit() = 0;
    virtual void sync() = 0;
    virtual void free_rid(const RID& rid) = 0;
};

class RDUniform : public RefCounted {
  public:
    void set_uniform_type(RenderingDevice::UniformType type) { type_ = type; }
    void set_binding(int32_t binding) { binding_ = binding; }
    void add_id(const RID& id) { id_ = id; }
    RenderingDevice::UniformType get_uniform_type() const { return type_; }
    int32_t get_binding() const { return binding_; }
    const RID& stand_in_id() const { return id_; }

  private:
    RenderingDevice::UniformType type_ = RenderingDevice::UNIFORM_TYPE_STORAGE_BUFFER;
    int32_t binding_ = 0;
    RID id_;
};

class RDShaderSPIRV : public RefCounted {
  public:
    void set_stage_bytecode(RenderingDevice::ShaderStage, const PackedByteArray& bytes) {
        bytes_ = bytes;
    }
    const PackedByteArray& stand_in_bytes() const { return bytes_; }

  private:
    PackedByteArray bytes_;
};

// ---- The engine behind these classes ----

/// The classes of extensions, and their methods by name, as scripts see them.
struct StandInClasses {
    std::map<std::string, std::function<RefCounted*()>> factories;
    std::map<std::string, std::any> methods;  // std::function<R(RefCounted*, Arguments...)>
};

inline GDExtensionInterfaceGetProcAddress stand_in_get_proc_address = nullptr;

template <typename Function>
Function stand_in_function(const char* name) {
    return reinterpret_cast<Function>(stand_in_get_proc_address(name));
}

class Dictionary {
  public:
    int operator[](const char* key) const { return values.at(key); }
    std::map<std::string, int> values;
};

class Engine : public Object {
  public:
    static Engine* get_singleton() {
        static Engine engine;
        return &engine;
    }
    Dictionary get_version_info() const {
        return {
            {{"major", 4}, {"minor", stand_in_function<int (*)()>("stand_in_minor_version")()}}};
    }
};

struct MethodName {
    std::string name;
};
template <typename... Names>
MethodName D_METHOD(const char* name, Names...) {
    return {name};
}

class ClassDB {
  public:
    template <typename T>
    static void stand_in_register(const char* name) {
        classes().factories[name] = [] { return new T; };
        T::_bind_methods();
    }
    template <typename T, typename R, typename... Arguments>
    static void bind_method(const MethodName& name, R (T::*method)(Arguments...)) {
        classes().methods[name.name] = std::function<R(RefCounted*, std::decay_t<Arguments>...)>(
            [method](RefCounted* object, std::decay_t<Arguments>... arguments) {
                return (static_cast<T*>(object)->*method)(arguments...);
            });
    }

  private:
    static StandInClasses& classes() {
        return *stand_in_function<StandInClasses* (*)()>("stand_in_classes")();
    }
};

#define GDCLASS(type, parent) friend class ::godot::ClassDB;
#define GDREGISTER_CLASS(type) ::godot::ClassDB::stand_in_register<type>(#type);

class GDExtensionBinding {
  public:
    class InitObject {
      public:
        InitObject(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr,
                   GDExtensionInitialization* out)
            : out_(out) {
            stand_in_get_proc_address = get;
        }
        void register_initializer(void (*function)(ModuleInitializationLevel)) {
            initializer_ = function;
        }
        void register_terminator(void (*function)(ModuleInitializationLevel)) {
            terminator_ = function;
        }
        void set_minimum_library_initialization_level(ModuleInitializationLevel) {}
        GDExtensionBool init() const {
            out_->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
            out_->initialize = [](void*, GDExtensionInitializationLevel level) {
                initializer_(ModuleInitializationLevel(level));
            };
            out_->deinitialize = [](void*, GDExtensionInitializationLevel level) {
                terminator_(ModuleInitializationLevel(level));
            };
            return 1;
        }

      private:
        GDExtensionInitialization* out_;
        inline static void (*initializer_)(ModuleInitializationLevel) = nullptr;
        inline static void (*terminator_)(ModuleInitializationLevel) = nullptr;
    };
};

}  // namespace godot
