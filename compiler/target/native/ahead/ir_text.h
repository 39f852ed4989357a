// The text of a function in LLVM IR while it is written.
#pragma once
#include <string>

namespace firn::ahead {

struct IrText {
    std::string allocas;  // of the entry block
    std::string body;     // behind them
    int next = 0;         // number of the next value or block

    std::string name(const char* kind) { return kind + std::to_string(next++); }
    /// Writes `%name = text` and returns the name.
    std::string emit(const std::string& text) {
        std::string value = name("%v");
        body += "  " + value + " = " + text + "\n";
        return value;
    }
    void effect(const std::string& text) { body += "  " + text + "\n"; }
    /// Memory of this function's call.
    std::string alloca_of(const std::string& type, int alignment = 8) {
        std::string place = name("%a");
        allocas +=
            "  " + place + " = alloca " + type + ", align " + std::to_string(alignment) + "\n";
        return place;
    }
    void begin(const std::string& block) { body += block + ":\n"; }
    /// Ends the block; what follows runs where `condition` is false.
    void leave_if(const std::string& condition, const std::string& to) {
        const std::string on = name("on");
        effect("br i1 " + condition + ", label %" + to + ", label %" + on);
        begin(on);
    }
    /// Writes what `then` writes to run where `condition` is true.
    template <class Then>
    void only_if(const std::string& condition, const Then& then) {
        const std::string inside = name("then"), behind = name("behind");
        effect("br i1 " + condition + ", label %" + inside + ", label %" + behind);
        begin(inside);
        then();
        effect("br label %" + behind);
        begin(behind);
    }
    /// Returns the function, whose first line is `head`.
    std::string function(const std::string& head) const {
        return head + " {\nentry:\n" + allocas + body + "}\n\n";
    }
};

}  // namespace firn::ahead
