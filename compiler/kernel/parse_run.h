// The state of one run of parse_kernel(), over which the functions that read its lines work.
#pragma once
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

struct ParseRun {
    // The text, up to the line that is read.
    std::istringstream in;
    std::string line;
    std::vector<std::string> words;  // of the line, up to a `#`
    size_t at = 0;                   // the next word
    int number = 0;                  // of the line

    // The parts that have been read.
    KernelCode code;
    bool placed = false;
    bool exact = false;                     // numbers of nodes are those of the text
    int nested = 0;                         // bodies that are open
    std::map<int, NodeId> names;            // by their numbers in the text
    std::map<std::string, NodeId> leaves;   // by their text
    std::map<RangeId, std::string> counts;  // trip counts of ranges
};

}  // namespace firn
