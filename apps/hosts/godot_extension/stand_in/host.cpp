// A stand-in of Godot: loads the extension as Godot does, runs a program of Firn through the class
// that it registers as a script would, and compares all results, bit for bit, with those that Firn
// itself computes.
#include <dlfcn.h>
#include <firn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <godot_cpp/stand_in.hpp>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gpu.h"
#include "rendering_device.h"

using namespace godot;

namespace {

int minor_version = 4;
StandInClasses classes;

GDExtensionInterfaceFunctionPtr get_proc_address(const char* name) {
    if (std::strcmp(name, "stand_in_minor_version") == 0)
        return reinterpret_cast<GDExtensionInterfaceFunctionPtr>(+[] { return minor_version; });
    if (std::strcmp(name, "stand_in_classes") == 0)
        return reinterpret_cast<GDExtensionInterfaceFunctionPtr>(+[] { return &classes; });
    return nullptr;
}

/// A script's object.method(arguments).
template <typename R, typename... Arguments>
R call(RefCounted* object, const char* method, Arguments... arguments) {
    const auto found = classes.methods.find(method);
    using Function = std::function<R(RefCounted*, Arguments...)>;
    if (found == classes.methods.end()) stop("the class has no method %s", method);
    const Function* function = std::any_cast<Function>(&found->second);
    if (!function) stop("the method %s takes other arguments", method);
    return (*function)(object, arguments...);
}

void script_check(RefCounted* object, Error error) {
    if (error != OK)
        stop("godot_stand_in: %s", call<String>(object, "get_error").utf8().get_data());
}

void firn_check(firn_context* context, int32_t code, const char* what) {
    if (code != FIRN_OK) stop("%s: %s: %s", what, firn_code_name(code), firn_message(context));
}

/// Pseudo-random numbers between 0 and 1, the same for each argument.
std::vector<float> numbers(uint64_t bytes, uint32_t argument) {
    std::vector<float> out(size_t(bytes / 4));
    uint32_t state = 12345 + 977 * argument;
    for (float& value : out) {
        state = state * 1664525 + 1013904223;
        value = float(state >> 8) / float(1 << 24);
    }
    return out;
}

PackedByteArray packed(const void* data, size_t bytes) {
    PackedByteArray out;
    out.resize(int64_t(bytes));
    std::memcpy(out.ptrw(), data, bytes);
    return out;
}

/// The same program, run by Firn on the same device.
struct Twin {
    firn_context* context = nullptr;
    firn_program* program = nullptr;
    firn_call* call = nullptr;
    firn_program_info info{};
    std::vector<firn_buffer*> buffers[2];
    std::vector<uint64_t> bytes[2];
};

Twin make_twin(Gpu& gpu, const std::string& file) {
    Twin out;
    firn_host host{};
    host.struct_size = sizeof host;
    host.flags = FIRN_HOST_STORAGE_BUFFERS_ONLY;
    host.instance = gpu.instance;
    host.physical_device = gpu.physical;
    host.device = gpu.device;
    host.get_instance_proc_addr = reinterpret_cast<void*>(vkGetInstanceProcAddr);
    host.api_version = VK_API_VERSION_1_2;
    host.queue_family = gpu.queue_family;
    host.queue = gpu.queue;
    char text[512] = "";
    if (firn_context_create(&host, &out.context, text, sizeof text) != FIRN_OK) stop("%s", text);
    firn_check(out.context, firn_program_load(out.context, file.data(), file.size(), &out.program),
               "firn_program_load");
    out.info.struct_size = sizeof out.info;
    firn_check(out.context, firn_program_describe(out.program, &out.info), "firn_program_describe");
    firn_check(out.context, firn_call_create(out.program, nullptr, 0, &out.call),
               "firn_call_create");
    std::vector<firn_binding> bindings[2];
    for (int what = 0; what < 2; ++what)
        for (uint32_t k = 0; k < (what == 0 ? out.info.argument_count : out.info.result_count);
             ++k) {
            firn_memory_info memory{};
            memory.struct_size = sizeof memory;
            firn_check(out.context, firn_call_memory(out.call, what, k, &memory),
                       "firn_call_memory");
            firn_buffer* made = nullptr;
            if (memory.bytes > 0)
                firn_check(out.context, firn_buffer_create(out.context, memory.bytes, &made),
                           "firn_buffer_create");
            out.buffers[what].push_back(made);
            out.bytes[what].push_back(memory.bytes);
            bindings[what].push_back({made, nullptr, 0, 0});
        }
    firn_check(out.context,
               firn_call_bind(out.call, bindings[0].data(), out.info.argument_count,
                              bindings[1].data(), out.info.result_count, nullptr),
               "firn_call_bind");
    return out;
}

void destroy(Twin& twin) {
    firn_call_release(twin.call);
    for (const auto& side : twin.buffers)
        for (firn_buffer* buffer : side) firn_buffer_release(buffer);
    firn_program_release(twin.program);
    firn_check(twin.context, firn_context_destroy(twin.context), "firn_context_destroy");
}

firn_parameter_info first_parameter(const Twin& twin) {
    firn_parameter_info out{};
    out.struct_size = sizeof out;
    firn_check(twin.context, firn_parameter_describe(twin.program, 0, &out),
               "firn_parameter_describe");
    return out;
}

/// One run by both with another value of the first parameter. Returns how many bytes of results
/// differ.
size_t compare_run(StandInDevice& device, RefCounted* object, Twin& twin, bool is_local,
                   double value) {
    for (uint32_t k = 0; k < twin.info.argument_count; ++k) {
        const std::vector<float> values = numbers(twin.bytes[0][k], k);
        if (values.empty()) continue;
        const uint32_t bytes = uint32_t(4 * values.size());
        if (device.buffer_update(call<RID>(object, "argument", int64_t(k)), 0, bytes,
                                 packed(values.data(), bytes)) != OK)
            stop("godot_stand_in: an argument is no buffer");
        firn_check(twin.context, firn_buffer_write(twin.buffers[0][k], 0, values.data(), bytes),
                   "firn_buffer_write");
    }
    PackedFloat64Array values;
    values.resize(1);
    *values.ptrw() = value;
    script_check(object,
                 call<Error>(object, "set_parameter", String(first_parameter(twin).name), values));
    firn_check(twin.context, firn_call_set_parameter(twin.call, 0, &value, 1),
               "firn_call_set_parameter");

    script_check(object, call<Error>(object, "dispatch"));
    if (is_local) {
        device.submit();
        device.sync();
    }
    firn_check(twin.context, firn_submit(twin.call, nullptr, nullptr), "firn_submit");
    size_t different = 0;
    for (uint32_t k = 0; k < twin.info.result_count; ++k) {
        std::vector<char> expected(size_t(twin.bytes[1][k]));
        if (expected.empty()) continue;
        firn_check(twin.context,
                   firn_buffer_read(twin.buffers[1][k], 0, expected.data(), expected.size()),
                   "firn_buffer_read");
        const PackedByteArray got =
            device.buffer_get_data(call<RID>(object, "result", int64_t(k)), 0, 0);
        if (size_t(got.size()) < expected.size()) stop("godot_stand_in: a result is too small");
        for (size_t at = 0; at < expected.size(); ++at)
            different += got.ptr()[at] != uint8_t(expected[at]);
    }
    return different;
}

}  // namespace

int main(int argc, char** argv) {
    bool is_local = true;
    for (int k = 3; k < argc; ++k) {
        if (std::strcmp(argv[k], "--main-device") == 0)
            is_local = false;
        else if (std::strncmp(argv[k], "--version=4.", 12) == 0)
            minor_version = std::atoi(argv[k] + 12);
        else
            argc = 0;
    }
    if (argc < 3)
        stop("usage: godot_stand_in EXTENSION.so PROGRAM.firn [--version=4.MINOR] [--main-device]");
    std::ifstream in(argv[2], std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};

    Gpu gpu;
    make_gpu(gpu, "godot_stand_in");
    StandInDevice device(gpu, minor_version, is_local);
    Twin twin = make_twin(gpu, file);

    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) stop("%s", dlerror());
    using Entry = GDExtensionBool (*)(GDExtensionInterfaceGetProcAddress,
                                      GDExtensionClassLibraryPtr, GDExtensionInitialization*);
    const Entry entry = reinterpret_cast<Entry>(dlsym(library, "firn_extension_init"));
    GDExtensionInitialization initialization{};
    if (!entry || !entry(get_proc_address, library, &initialization))
        stop("the extension does not start");
    initialization.initialize(initialization.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    const auto factory = classes.factories.find("FirnProgram");
    if (factory == classes.factories.end()) stop("the extension registers no class FirnProgram");

    RefCounted* object = factory->second();
    script_check(object, call<Error>(object, "load", packed(file.data(), file.size()),
                                     static_cast<RenderingDevice*>(&device)));
    script_check(object, call<Error>(object, "prepare", PackedInt64Array(), PackedInt64Array()));
    size_t different = 0, compared = 0;
    for (const double value : {0.1, 0.25, 0.4}) {
        different += compare_run(device, object, twin, is_local, value);
        for (const uint64_t bytes : twin.bytes[1]) compared += size_t(bytes);
    }
    delete object;
    initialization.deinitialize(initialization.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    classes = {};
    dlclose(library);
    const bool is_gone = !dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    const size_t left = device.object_count();
    device.destroy();
    destroy(twin);

    std::printf("%d dispatches and %d copies in %d compute lists, %d barriers\n", device.dispatches,
                device.copies, device.lists, device.barriers);
    std::printf("%zu of %zu bytes differ\n", different, compared);
    std::printf("%zu objects left; the extension is %s\n", left,
                is_gone ? "unloaded" : "still loaded");
    std::printf("%d rules broken\n", device.rules_broken);
    const int code = destroy_gpu(gpu);
    return device.rules_broken || different || !compared || left || !is_gone ? 1 : code;
}
