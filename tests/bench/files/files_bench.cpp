// Times one way of loading or saving a file, for tests/bench/files/against.py: processor seconds of
// each round, and then the largest memory in MB.
#include <firn/files.h>
#include <firn/firn.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace firn;

namespace {

double seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

Tensor loaded(const std::string& file) {
    return file.ends_with(".npy") ? load_npy(file) : load_image(file);
}

void save(const std::string& file, const Tensor& x) {
    file.ends_with(".npy") ? save_npy(file, x) : save_image(file, x);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s ROUNDS load FILE | ROUNDS save FILE SOURCE.npy\n", argv[0]);
        return 2;
    }
    const std::string file = argv[3];
    Tensor source;
    if (argc > 4) {
        source = load_npy(argv[4]);
        host_view<float>(source);  // on the device before time counts
    }
    for (int round = 0; round < std::atoi(argv[1]); ++round) {
        const double begin = seconds();
        if (argc > 4)
            save(file, source);
        else
            host_view<float>(loaded(file));
        std::printf("%.4f\n", seconds() - begin);
    }
    // getrusage would count the memory of the process that started this one.
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:" && status >> word) std::printf("%ld\n", std::stol(word) / 1024);
}
