// Adds up the statistics of excess work over all compilations of a test program or a benchmark.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/driver/excess_work.h"

namespace firn {

/// The file to which the sessions of this process append their statistics.
inline std::string excess_file() {
    return (std::filesystem::temp_directory_path() / ("firn_excess_" + std::to_string(getpid())))
        .string();
}

/// Counts the compilations of all sessions from now on.
inline void count_excess() { setenv("FIRN_EXCESS", excess_file().c_str(), 1); }

/// The sum of all lines in such a file.
inline ExcessCensus read_excess(const std::string& file) {
    ExcessCensus sum;
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) {
        std::istringstream line(text);
        ExcessCensus one;
        line >> one.kernels >> one.cut >> one.exempt;
        for (ExcessCensus::Worst* worst : {&one.kept, &one.worst_cut, &one.worst_exempt}) {
            line >> worst->factor;
            line.ignore();
            std::getline(line, worst->line, '\t');
        }
        add(sum, one);
    }
    return sum;
}

/// The statistics of the compilations so far. Counts them from zero afterwards.
inline ExcessCensus counted_excess() {
    const ExcessCensus sum = read_excess(excess_file());
    std::filesystem::remove(excess_file());
    return sum;
}

}  // namespace firn
