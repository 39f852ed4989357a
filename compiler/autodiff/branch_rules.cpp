// Cotangents behind branches.
#include "compiler/autodiff/region_values.h"
#include "compiler/autodiff/reverse.h"

namespace firn {

void reverse_branch(ReverseRun& run, const Ref& self, const std::vector<Cotangent>& results) {
    const IfAttr& attr = self->as<IfAttr>();
    const std::vector<Ref> outside = active_outside(run, *self);
    if (outside.empty()) return;
    const bool chosen = all_chosen(results);
    const auto side = [&](const Region& body) {
        std::vector<Ref> values, seeds;
        for (size_t k = 0; k < results.size(); ++k) {
            if (!results[k].value) continue;
            values.push_back(body.results[k]);
            const Shape& to = body.results[k]->shape;
            Ref seed = results[k].value;
            if (to.size() < seed->shape.size())
                refuse_gradient(*self, "branches whose sides have several shapes: use select");
            seeds.push_back(expand(run.b, seed, to));
        }
        Region out;
        const std::vector<Ref> found =
            reverse_gradients(run.b, values, seeds, outside, {chosen, true, run.most_tape_bytes});
        for (size_t k = 0; k < outside.size(); ++k)
            out.results.push_back(or_zeros(run, found[k], *outside[k]));
        return out;
    };
    const Ref made = branch(run.b, self->inputs[0], side(*attr.then_body), side(*attr.else_body));
    for (size_t k = 0; k < outside.size(); ++k)
        contribute(run, outside[k], result(run.b, made, static_cast<int>(k)), true);
}

}  // namespace firn
