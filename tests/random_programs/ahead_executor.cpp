// Runs programs as programs in C do that link their object files.
#include "tests/random_programs/ahead_executor.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/base/whole_file.h"
#include "compiler/target/native/ahead/ahead.h"
#include "compiler/target/native/ahead/interface.h"
#include "compiler/target/native/llvm.h"

namespace firn::programs {
namespace {

struct Bytes final : Memory {
    explicit Bytes(uint64_t count) : all(count) {}
    uint64_t bytes() const override { return all.size(); }
    std::vector<std::byte> all;
};

std::vector<std::byte>& bytes_of(const Memory& memory) {
    return const_cast<Bytes&>(static_cast<const Bytes&>(memory)).all;
}

/// The functions of an object in a shared library.
struct Linked {
    void* library = nullptr;
    size_t (*workspace_bytes)(const void*) = nullptr;
    int (*run)(const void*, void*, const void*) = nullptr;
    const char* (*message)(int) = nullptr;

    explicit Linked(const std::string& object) {
        // A library of a path that was opened before would be that one.
        static int made = 0;
        const std::string path =
            (std::filesystem::temp_directory_path() /
             ("firn_ahead_" + std::to_string(getpid()) + "_" + std::to_string(made++)))
                .string();
        write_whole_file(path + ".o", {object});
        ensure(std::system(("cc -shared -o " + path + ".so " + path + ".o -lm").c_str()) == 0,
               "an object file cannot be linked");
        library = dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        std::filesystem::remove(path + ".o");
        std::filesystem::remove(path + ".so");
        ensure(library != nullptr, "a library of an object file cannot be opened");
        workspace_bytes =
            reinterpret_cast<decltype(workspace_bytes)>(dlsym(library, "f_workspace_bytes"));
        run = reinterpret_cast<decltype(run)>(dlsym(library, "f"));
        message = reinterpret_cast<decltype(message)>(dlsym(library, "f_message"));
    }
    ~Linked() { dlclose(library); }
    Linked(const Linked&) = delete;
    Linked& operator=(const Linked&) = delete;
};

/// The struct of a call, written member by member.
class Struct {
  public:
    explicit Struct(const ahead::Interface& interface) {
        size_t end = 0;
        for (const ahead::Field& field : interface.fields) {
            const size_t size = size_of(field.ir_type);
            end = (end + size - 1) / size * size;
            offsets_.push_back(end);
            end += size;
        }
        bytes_.resize(end + 8);
    }
    template <class T>
    void set(size_t field, const T& value) {
        std::memcpy(bytes_.data() + offsets_[field], &value, sizeof value);
    }
    std::byte* at(size_t field) { return bytes_.data() + offsets_[field]; }
    const void* data() const { return bytes_.data(); }

  private:
    static size_t size_of(const std::string& type) {
        return type == "i8" ? 1 : type == "i16" ? 2 : type == "i32" || type == "float" ? 4 : 8;
    }
    std::vector<std::byte> bytes_;
    std::vector<size_t> offsets_;
};

class AheadExecutor final : public Executor {
  public:
    AheadExecutor() {
        profile_ = native_profile(static_cast<uint32_t>(host_processor().vector_bits));
        profile_.name = "object files";
    }
    const DeviceProfile& profile() const override { return profile_; }
    bool needs_kernel_code() const override { return false; }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string&) override {
        return std::make_shared<Bytes>(bytes);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        std::copy(data.begin(), data.end(),
                  bytes_of(memory).begin() + static_cast<ptrdiff_t>(offset));
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        std::copy_n(bytes_of(memory).begin() + static_cast<ptrdiff_t>(offset), data.size(),
                    data.begin());
    }
    void wait() override {}

    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        const ahead::Interface interface = ahead::make_interface(*program, {"f", {}, {}});
        Linked& linked = object_of(program, call);
        Struct given(interface);
        for (size_t k = 0; k < interface.symbols.size(); ++k)
            given.set(k, call.symbols.at(interface.symbols[k]));
        for (size_t k = 0; k < program->arguments.size(); ++k) {
            const size_t field = interface.arguments[k];
            if (program->arguments[k].scalar)
                store_scalar(call.scalars[k], given.at(field));
            else
                given.set(field, bytes_of(*call.arguments[k]).data());
        }
        std::vector<std::vector<std::byte>> unwanted(program->results.size());
        for (size_t k = 0; k < program->results.size(); ++k) {
            const ResultInfo& result = program->results[k];
            if (!call.results[k])
                unwanted[k].resize(static_cast<size_t>(
                    program->buffers[static_cast<size_t>(result.buffer)].bytes().evaluate(
                        call.symbols)));
            given.set(interface.results[k],
                      call.results[k] ? bytes_of(*call.results[k]).data() : unwanted[k].data());
        }
        std::vector<std::byte> workspace(linked.workspace_bytes(given.data()));
        if (const int code = linked.run(given.data(), workspace.data(), nullptr))
            throw UserError(linked.message(code));
    }

  private:
    Linked& object_of(const std::shared_ptr<const Program>& program, const Call& call) {
        auto& [kept, linked] = linked_[program.get()];
        if (kept == program) return *linked;
        kept = program;
        SavedProgram saved;
        saved.program = program;
        saved.scalars = call.scalars;
        saved.shapes.resize(program->arguments.size());
        for (size_t k = 0; k < saved.shapes.size(); ++k)
            for (const Size& size : program->arguments[k].shape)
                saved.shapes[k].push_back(size.evaluate(call.symbols));
        linked =
            std::make_unique<Linked>(compile_ahead(saved, {"f", {}, {}}, host_processor()).object);
        return *linked;
    }

    DeviceProfile profile_;
    std::map<const Program*, std::pair<std::shared_ptr<const Program>, std::unique_ptr<Linked>>>
        linked_;
};

}  // namespace

std::shared_ptr<Executor> make_ahead_executor() { return std::make_shared<AheadExecutor>(); }

}  // namespace firn::programs
