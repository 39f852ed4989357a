// The members of the struct that a call takes, as LLVM IR.
#include "compiler/target/native/ahead/call_fields.h"

namespace firn::ahead {

std::string call_type(const Interface& interface) {
    std::string types;
    for (const Field& field : interface.fields)
        types += (types.empty() ? "" : ", ") + field.ir_type;
    return "%call = type { " + types + " }\n\n";
}

std::string load_field(IrText& text, const Interface& interface, size_t k) {
    const std::string place =
        text.emit("getelementptr %call, ptr %c, i32 0, i32 " + std::to_string(k));
    return text.emit("load " + interface.fields[k].ir_type + ", ptr " + place);
}

SymbolValues load_symbols(IrText& text, const Program& program, const Interface& interface,
                          std::vector<std::string>& scalars) {
    SymbolValues symbols;
    for (size_t k = 0; k < interface.symbols.size(); ++k)
        symbols[interface.symbols[k]] = load_field(text, interface, k);
    scalars.resize(program.arguments.size());
    for (size_t k = 0; k < scalars.size(); ++k) {
        if (!program.arguments[k].scalar) continue;
        scalars[k] = load_field(text, interface, interface.arguments[k]);
        if (program.arguments[k].dtype == i32)
            symbols[scalar_symbol(static_cast<int>(k))] =
                text.emit("sext i32 " + scalars[k] + " to i64");
    }
    return symbols;
}

}  // namespace firn::ahead
