// A page of characters.
#include "apps/char_model/views.h"

#include "apps/common/canvas.h"
#include "apps/common/dot_font.h"

namespace firn::char_model {
namespace {

constexpr int kScale = 2, kLeft = 350, kTop = 20;
constexpr int kColumns = (kWidth - kLeft) / (kLetterWidth * kScale) - 1,
              kRows = (kHeight - kTop) / (kLetterHeight * kScale);
constexpr float kPaper = 0.07f, kGiven = -1.0f;  // in place of a probability

/// Characters and how sure they are, row by row; what is below the page is left out.
struct Letters {
    std::vector<int> codes = std::vector<int>(kRows * kColumns, ' ');
    std::vector<float> sure = std::vector<float>(kRows * kColumns, kGiven);
    int row = 0, column = 0;

    void end_line() { ++row, column = 0; }
    void put(char letter, float probability) {
        if (letter == '\n' || column == kColumns) end_line();
        if (letter == '\n' || row >= kRows) return;
        const size_t place = size_t(row * kColumns + column++);
        codes[place] = static_cast<unsigned char>(letter);
        sure[place] = probability;
    }
};

}  // namespace

Tensor page(const std::vector<Sample>& samples) {
    Letters letters;
    for (const Sample& sample : samples) {
        for (size_t k = 0; k < sample.text.size(); ++k)
            letters.put(sample.text[k], int(k) < sample.given ? kGiven : sample.probability[k]);
        letters.end_line();
        letters.end_line();
    }
    const std::vector<int>& codes = letters.codes;
    const std::vector<float>& sure = letters.sure;
    const Tensor ink = lettered(tensor(codes, {kRows, kColumns})),
                 probability = tensor(sure, {kRows, kColumns});
    auto [i, j] = indices<2>(ink.shape());
    const Tensor p = probability(i / kLetterHeight, j / kLetterWidth), given = p < 0.0f;
    const auto channel = [&](float of_given, float unsure, float certain) {
        return mix(kPaper, select(given, of_given, mix(unsure, certain, sqrt(max(p, 0.0f)))), ink);
    };
    const Tensor text =
        stack({channel(0.5f, 1.0f, 0.55f), channel(0.5f, 0.35f, 0.95f), channel(0.55f, 0.3f, 0.7f)},
              {.axis = 2});
    return pasted(full({kHeight, kWidth, 3}, kPaper), text, {kTop, kLeft, kScale});
}

}  // namespace firn::char_model
