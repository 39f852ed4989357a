// Saves a program, with a parameter, for a host without the compiler.
#include <firn/firn.h>
#include <firn/saved_programs.h>

using namespace firn;

int main(int, char** words) {
    const Tensor weights = arange(3).as(f32);
    auto scale = compile(
        [&](Tensor x, Tensor gain, Tensor rounds) {
            for (Tensor k : loop(rounds)) x = x * gain + 0.0f * k.as(f32);
            return x + sum(weights);
        },
        {f32("n", "m"), f32(), i32()});
    Gui panel;
    Param<float> gain{panel, "gain", 2.0f, {.min = 0, .max = 4, .help = "of each round"}};
    save_program(words[1], scale, zeros({5, 7}), gain, 3);
}
