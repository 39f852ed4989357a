// Kernel code from its text (print.cpp).
#include "compiler/kernel/kernel_code.h"
#include "compiler/kernel/parse_header.h"
#include "compiler/kernel/parse_nodes.h"
#include "compiler/kernel/parse_run.h"
#include "compiler/kernel/parse_words.h"

namespace firn {

KernelCode parse_kernel(const std::string& text) {
    ParseRun run;
    run.in.str(text);
    run.code.regions.clear();
    next_line(run);
    if (run.line.rfind("kernel", 0) != 0) fail(run, "expected 'kernel' and a name");
    run.code.name = run.line.size() > 7 ? run.line.substr(7) : "";
    while (next_line(run), run.words != std::vector<std::string>{"{"}) parse_header(run);
    open_region(run);
    parse_body(run, kRoot);
    if (next_line(run); !run.words.empty()) fail(run, "expected nothing after the kernel");
    for (auto& [range, word] : run.counts) run.code[range].extent_node = parse_operand(run, word);
    if (!run.placed)
        for (KernelRegion& region : run.code.regions) region.order.clear();
    return std::move(run.code);
}

}  // namespace firn
