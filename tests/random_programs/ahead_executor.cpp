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
    size_t offset(size_t field) const { return offsets_[field]; }
    const void* data() const { return bytes_.data(); }
    size_t bytes() const { return bytes_.size(); }

  private:
    static size_t size_of(const std::string& type) {
        return type == "i8" ? 1 : type == "i16" ? 2 : type == "i32" || type == "float" ? 4 : 8;
    }
    std::vector<std::byte> bytes_;
    std::vector<size_t> offsets_;
};

/// An array of a call, whose address a field holds.
struct GivenArray {
    size_t field;
    std::byte* data;
    size_t bytes;
    bool written;
};

/// An object that a program links.
class Linked {
  public:
    virtual ~Linked() = default;
    /// Calls its function; returns the text of an error, or nothing.
    virtual std::string run(Struct& given, const std::vector<GivenArray>& arrays) = 0;
};

/// A path of files that no other object has.
std::string new_path() {
    static int made = 0;
    return (std::filesystem::temp_directory_path() /
            ("firn_ahead_" + std::to_string(getpid()) + "_" + std::to_string(made++)))
        .string();
}

/// An object in a shared library of this process.
class Library final : public Linked {
  public:
    explicit Library(const std::string& object) {
        // A library of a path that was opened before would be that one.
        const std::string path = new_path();
        write_whole_file(path + ".o", {object});
        ensure(std::system(("cc -shared -o " + path + ".so " + path + ".o -lm").c_str()) == 0,
               "an object file cannot be linked");
        library_ = dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        std::filesystem::remove(path + ".o");
        std::filesystem::remove(path + ".so");
        ensure(library_ != nullptr, "a library of an object file cannot be opened");
        workspace_bytes_ =
            reinterpret_cast<decltype(workspace_bytes_)>(dlsym(library_, "f_workspace_bytes"));
        run_ = reinterpret_cast<decltype(run_)>(dlsym(library_, "f"));
        message_ = reinterpret_cast<decltype(message_)>(dlsym(library_, "f_message"));
    }
    ~Library() override { dlclose(library_); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    std::string run(Struct& given, const std::vector<GivenArray>& arrays) override {
        for (const GivenArray& array : arrays) given.set(array.field, array.data);
        std::vector<std::byte> workspace(workspace_bytes_(given.data()));
        const int code = run_(given.data(), workspace.data(), nullptr);
        return code ? message_(code) : "";
    }

  private:
    void* library_ = nullptr;
    size_t (*workspace_bytes_)(const void*) = nullptr;
    int (*run_)(const void*, void*, const void*) = nullptr;
    const char* (*message_)(int) = nullptr;
};

/// In C: reads a call and its arrays from the file that is named, and writes the arrays there.
constexpr const char* kRunner = R"(#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
size_t f_workspace_bytes(const void *call);
int f(const void *call, void *workspace, const void *host);
const char *f_message(int code);
static void take(FILE *file, void *to, size_t bytes) {
    if (fread(to, 1, bytes, file) != bytes) exit(90);
}
int main(int count, char **arguments) {
    FILE *file = fopen(arguments[count - 1], "r+b");
    uint64_t bytes, arrays, k, place[2];
    char *call, **memory;
    size_t *sizes;
    int code;
    if (!file) return 91;
    take(file, &bytes, 8);
    call = malloc(bytes);
    take(file, call, bytes);
    take(file, &arrays, 8);
    memory = malloc((arrays + 1) * sizeof *memory), sizes = malloc((arrays + 1) * sizeof *sizes);
    for (k = 0; k < arrays; ++k) {
        take(file, place, sizeof place);
        sizes[k] = place[1], memory[k] = malloc(place[1] + 1);
        take(file, memory[k], sizes[k]);
        *(char **)(void *)(call + place[0]) = memory[k];
    }
    bytes = f_workspace_bytes(call);
    code = f(call, bytes == SIZE_MAX ? 0 : malloc(bytes), 0);
    if (code) return puts(f_message(code)), 92;
    rewind(file);
    for (k = 0; k < arrays; ++k) fwrite(memory[k], 1, sizes[k], file);
    return fclose(file) ? 93 : 0;
}
)";

void require(const Outcome& outcome, const std::string& otherwise) {
    if (outcome.status != 0)
        throw InternalError(otherwise + " (status " + std::to_string(outcome.status) + "):\n" +
                            outcome.output);
}

/// A program of another machine, which its emulator runs.
class Emulated final : public Linked {
  public:
    Emulated(const std::string& object, const Machine& machine)
        : path_(new_path()), machine_(machine) {
        write_whole_file(path_ + ".o", {object});
        const Outcome linked = firn::run(machine.compiler + std::string(" -o ") + path_ + " " +
                                         runner(machine) + " " + path_ + ".o -lm");
        std::filesystem::remove(path_ + ".o");
        require(linked, "an object file cannot be linked");
    }
    ~Emulated() override { std::filesystem::remove(path_); }
    Emulated(const Emulated&) = delete;
    Emulated& operator=(const Emulated&) = delete;

    std::string run(Struct& given, const std::vector<GivenArray>& arrays) override {
        std::string text;
        const auto add = [&](uint64_t number) {
            text.append(reinterpret_cast<const char*>(&number), sizeof number);
        };
        add(given.bytes());
        text.append(static_cast<const char*>(given.data()), given.bytes());
        add(arrays.size());
        for (const GivenArray& array : arrays) {
            add(given.offset(array.field)), add(array.bytes);
            text.append(reinterpret_cast<const char*>(array.data), array.bytes);
        }
        const std::string file = path_ + ".call";
        write_whole_file(file, {text});
        const Outcome outcome = firn::run(machine_.runner + std::string(" ") + path_ + " " + file);
        const std::vector<std::byte> left = read_whole_file(file);
        std::filesystem::remove(file);
        constexpr int kRefused = 92;
        if (outcome.status == kRefused)
            return outcome.output.substr(0, outcome.output.find_last_not_of('\n') + 1);
        require(outcome, "a program of another machine fails");
        size_t at = 0;
        for (const GivenArray& array : arrays) {
            if (array.written)
                std::copy_n(left.begin() + static_cast<ptrdiff_t>(at), array.bytes, array.data);
            at += array.bytes;
        }
        return "";
    }

  private:
    /// The object of the runner, which all programs share.
    static const std::string& runner(const Machine& machine) {
        struct Runner {
            std::string path = new_path();
            ~Runner() { std::filesystem::remove(path + ".o"); }
        };
        static const Runner made;
        static const std::string object = [&] {
            write_whole_file(made.path + ".c", {kRunner});
            const Outcome built = firn::run(machine.compiler + std::string(" -O1 -c -o ") +
                                            made.path + ".o " + made.path + ".c");
            std::filesystem::remove(made.path + ".c");
            require(built, "the program that runs objects cannot be built");
            return made.path + ".o";
        }();
        return object;
    }

    std::string path_;
    Machine machine_;
};

class AheadExecutor final : public Executor {
  public:
    explicit AheadExecutor(const Machine& machine)
        : machine_(machine), processor_(processor_named(machine.processor, "object files")) {
        profile_ = profile_of_processor(processor_);
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
        std::vector<GivenArray> arrays;
        for (size_t k = 0; k < program->arguments.size(); ++k) {
            const size_t field = interface.arguments[k];
            if (program->arguments[k].scalar) {
                store_scalar(call.scalars[k], given.at(field));
                continue;
            }
            std::vector<std::byte>& bytes = bytes_of(*call.arguments[k]);
            arrays.push_back({field, bytes.data(), bytes.size(), false});
        }
        std::vector<std::vector<std::byte>> unwanted(program->results.size());
        for (size_t k = 0; k < program->results.size(); ++k) {
            const ResultInfo& result = program->results[k];
            if (!call.results[k])
                unwanted[k].resize(static_cast<size_t>(
                    program->buffers[static_cast<size_t>(result.buffer)].bytes().evaluate(
                        call.symbols)));
            std::vector<std::byte>& bytes =
                call.results[k] ? bytes_of(*call.results[k]) : unwanted[k];
            arrays.push_back({interface.results[k], bytes.data(), bytes.size(), true});
        }
        if (const std::string error = linked.run(given, arrays); !error.empty())
            throw UserError(error);
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
        const std::string object = compile_ahead(saved, {"f", {}, {}}, processor_).object;
        if (*machine_.runner)
            linked = std::make_unique<Emulated>(object, machine_);
        else
            linked = std::make_unique<Library>(object);
        return *linked;
    }

    Machine machine_;
    NativeProcessor processor_;
    DeviceProfile profile_;
    std::map<const Program*, std::pair<std::shared_ptr<const Program>, std::unique_ptr<Linked>>>
        linked_;
};

}  // namespace

std::shared_ptr<Executor> make_ahead_executor(const Machine& machine) {
    return std::make_shared<AheadExecutor>(machine);
}

}  // namespace firn::programs
