// Digits that are drawn by a program: strokes, bent and moved at random, as MNIST's are by hands.
#pragma once
#include <firn/firn.h>

namespace firn::train_digits {

constexpr int kSide = 28;  // of a picture, pixels
constexpr int kClasses = 10;

struct Samples {
    Tensor images;  // u8 [n, 28, 28]: 0 is paper, 255 ink
    Tensor labels;  // i32 [n], from 0 to 9
};

/// `count` pictures of random digits, the same for the same seed. Each of ten digits is written in
/// one of two ways; its curves are moved by their control points, turned, slanted, scaled and
/// shifted, drawn by a pen of random width, softness and pressure, on paper with noise.
Samples drawn_digits(int64_t count, uint32_t seed);

/// The ten digits without chance, f32 [10, 28, 28] from 0 to 1: captions of plots.
Tensor plain_digits();

/// Training and test pictures in a folder, as MNIST's files are called: train-images-idx3-ubyte,
/// train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte; a dot may stand for the
/// last dash. UserError: a file that is missing or damaged, pictures of another size, labels of
/// another number or out of range, no pictures.
struct DigitData {
    Samples train, test;
};
DigitData load_digits(const std::string& folder);
void save_digits(const std::string& folder, const DigitData& data);

}  // namespace firn::train_digits
