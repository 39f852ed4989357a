// A program as an object file and a C header.
#include "compiler/target/native/ahead/ahead.h"

#include <map>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/program/native_abi.h"
#include "compiler/target/native/ahead/driver.h"
#include "compiler/target/native/ahead/interface.h"
#include "compiler/target/native/ahead/places.h"
#include "compiler/target/native/llvm.h"

namespace firn {

AheadFiles compile_ahead(const SavedProgram& saved, const AheadNames& names,
                         const NativeProcessor& processor) {
    const Program& program = *saved.program;
    const ahead::Interface interface = ahead::make_interface(program, names);
    const ahead::Places places =
        ahead::find_places(program, bind_symbols(program, saved.shapes, saved.scalars));
    // Kernels of equal texts are one module.
    std::vector<std::string> texts;
    std::vector<size_t> modules;
    std::map<std::string, size_t> known;
    for (const KernelInfo& kernel : program.kernels) {
        ensure(kernel.artefact.format == kNativeFormat && !kernel.artefact.text.empty(),
               "a kernel for an object file is no text of native code");
        const auto [at, is_new] = known.emplace(kernel.artefact.text, texts.size());
        if (is_new) texts.push_back(kernel.artefact.text);
        modules.push_back(at->second);
    }
    return {compile_native_program(
                ahead::driver_module(program, interface, places, modules, processor.architecture),
                texts, names.function, processor),
            ahead::header_text(program, interface, processor)};
}

}  // namespace firn
