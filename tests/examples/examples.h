// The examples in the comments of the public headers and on pages, as examples.awk and pages.awk
// write them, and their results.
#pragma once
#include <cmath>  // NAN and INFINITY in examples
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/program/saved_program.h"
#include "engine/firn/files.h"
#include "engine/firn/firn.h"
#include "engine/firn/learning.h"
#include "engine/firn/picture_folder.h"
#include "engine/firn/saved_programs.h"
#include "engine/firn/shading.h"

namespace firn {

/// Compares what examples give with what their comments say. Tensors are computed many at a time,
/// by `compare`.
class Shows {
  public:
    /// `place` is where the example stands that comes next.
    void begin(const char* place) { place_ = place; }
    void operator()(const Tensor& got, const char* is);
    void operator()(const Access& got, const char* is) { (*this)(Tensor(got), is); }
    template <size_t N, VecKind K>
    void operator()(const Vec<N, K>& got, const char* is) {
        (*this)(stack(got), is);
    }
    template <Arithmetic T>
    void operator()(T got, const char* is) {
        compare_values({static_cast<double>(got)}, {}, place_, is);
    }
    template <Arithmetic T>
    void operator()(const std::vector<T>& got, const char* is) {
        compare_values({got.begin(), got.end()}, {static_cast<int64_t>(got.size())}, place_, is);
    }
    /// The text is in quotation marks.
    void operator()(const std::string& got, const char* is);
    void operator()(const TensorShape& got, const char* is);

    /// Computes and compares the remaining ones; if a computation is refused, one after the other.
    void compare();

  private:
    struct Pending {
        Tensor got;
        std::string place, is;
    };
    static void compare_values(const std::vector<double>& got, const std::vector<int64_t>& shape,
                               const std::string& place, const std::string& is);
    std::string place_;
    std::vector<Pending> pending_;
};

struct Example {
    const char* place;  // the header or page, and the line
    void (*run)(Shows&);
};
const std::vector<Example>& examples_of_frontend();
const std::vector<Example>& examples_of_algorithms();
const std::vector<Example>& examples_of_others();  // learning, files, sizes and types, pictures
const std::vector<Example>& examples_of_pages();

}  // namespace firn
