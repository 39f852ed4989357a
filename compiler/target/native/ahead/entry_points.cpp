// The functions of the header, as LLVM IR.
#include "compiler/target/native/ahead/entry_points.h"

#include <vector>

#include "compiler/target/native/ahead/constants.h"
#include "compiler/target/native/ahead/layout.h"

namespace firn::ahead {
namespace {

std::string entry(const Interface& interface, const Places& places) {
    return "define i32 @" + interface.function +
           "(ptr %c, ptr %workspace, ptr %host) {\nentry:\n"
           "  %offsets = alloca " +
           offsets_type(places) +
           ", align 8\n"
           "  %refused = call i32 @firn.layout(ptr %c, ptr %offsets)\n"
           "  %bad = icmp ne i32 %refused, 0\n  br i1 %bad, label %refuse, label %fits\n"
           "refuse:\n  ret i32 %refused\n"
           "fits:\n  %none = icmp eq ptr %workspace, null\n"
           "  br i1 %none, label %missing, label %run\n"
           "missing:\n  ret i32 " +
           std::to_string(kMissing) +
           "\n"
           "run:\n  %address = ptrtoint ptr %workspace to i64\n"
           "  %back = sub i64 0, %address\n"
           "  %gap = and i64 %back, " +
           std::to_string(kWorkspaceAlignment - 1) +
           "\n"
           "  %base = getelementptr i8, ptr %workspace, i64 %gap\n"
           "  %spare = getelementptr i8, ptr %base, i64 " +
           std::to_string(kSpareMiddle) +
           "\n"
           "  %before = call i32 @firn.take_floats()\n"
           "  %code = call i32 @firn.steps(ptr %c, ptr %base, ptr %spare, ptr %offsets, ptr "
           "%host)\n"
           "  call void @firn.give_floats(i32 %before)\n"
           "  ret i32 %code\n}\n\n";
}

std::string workspace_bytes(const Interface& interface, const Places& places) {
    return "define i64 @" + interface.function +
           "_workspace_bytes(ptr %c) {\nentry:\n  %offsets = alloca " + offsets_type(places) +
           ", align 8\n  %refused = call i32 @firn.layout(ptr %c, ptr %offsets)\n"
           "  %bad = icmp ne i32 %refused, 0\n"
           "  %at = getelementptr i64, ptr %offsets, i64 " +
           std::to_string(places.all.size()) +
           "\n  br i1 %bad, label %none, label %some\n"
           "none:\n  ret i64 -1\n"
           "some:\n  %bytes = load i64, ptr %at\n  ret i64 %bytes\n}\n\n";
}

std::string message(const Interface& interface) {
    std::vector<std::string> texts{"it has run"};
    for (const Code& code : interface.codes) texts.push_back(code.text);
    texts.push_back("the function returns no such number");
    std::string strings, cases, blocks;
    for (size_t k = 0; k < texts.size(); ++k) {
        const std::string at = std::to_string(k);
        strings += bytes_constant("@firn.text_" + at, texts[k].c_str(), texts[k].size() + 1);
        if (k + 1 == texts.size()) break;
        cases += " i32 " + at + ", label %case_" + at;
        blocks += "case_" + at + ":\n  ret ptr @firn.text_" + at + "\n";
    }
    return strings + "\ndefine ptr @" + interface.function +
           "_message(i32 %code) {\nentry:\n  switch i32 %code, label %other [" + cases + " ]\n" +
           blocks + "other:\n  ret ptr @firn.text_" + std::to_string(texts.size() - 1) + "\n}\n";
}

}  // namespace

std::string entry_points(const Interface& interface, const Places& places) {
    return entry(interface, places) + workspace_bytes(interface, places) + message(interface);
}

}  // namespace firn::ahead
