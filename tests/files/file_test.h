// Fixture: a session of the oracle, and a folder of its own for the files of a test.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/files/files.h"
#include "tests/frontend/oracle_session.h"

namespace firn {

class FileTest : public OracleTest {
  protected:
    FileTest() { std::filesystem::create_directories(folder_); }
    ~FileTest() override { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }
    std::string written(const std::string& name, const std::string& bytes) const {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    static std::string content(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        std::stringstream out;
        out << in.rdbuf();
        return out.str();
    }
    /// Returns the output of a Python script, with the folder of the test as its first argument.
    /// Debian's modules belong to its own python3.
    std::string python(const std::string& script) const {
        const std::string file = written("script.py", script);
        std::string out;
        FILE* pipe = popen(
            ("PATH=/usr/bin:$PATH python3 '" + file + "' '" + folder_.string() + "' 2>&1").c_str(),
            "r");
        char text[4096];
        while (size_t count = std::fread(text, 1, sizeof text, pipe)) out.append(text, count);
        pclose(pipe);
        return out;
    }
    bool python_has(const std::string& module) const {
        return python("import " + module + "; print('yes')") == "yes\n";
    }

  private:
    std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                    ("firn_files_" + std::to_string(getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace firn
