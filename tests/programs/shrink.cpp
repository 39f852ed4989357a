// Shrinks a failing program: tries simpler ones until no simpler one fails.
#include "tests/programs/shrink.h"

#include <algorithm>
#include <utility>

#include "tests/programs/make_expr.h"

namespace firn::programs {
namespace {

using Visit = std::function<void(std::vector<Statement>&, size_t)>;

/// Every statement, with the list that it is in.
void each_statement(std::vector<Statement>& all, const Visit& visit) {
    for (size_t k = 0; k < all.size(); ++k) {
        // The visit may change the list, which ends it.
        each_statement(all[k].body, visit);
        each_statement(all[k].otherwise, visit);
        visit(all, k);
    }
}

void each_expr(Expr& e, const std::function<void(Expr&)>& visit) {
    visit(e);
    for (Expr& arg : e.args) each_expr(arg, visit);
}

void each_expr(Program& program, const std::function<void(Expr&)>& visit) {
    each_statement(program.body, [&](std::vector<Statement>& all, size_t k) {
        each_expr(all[k].value, visit);
        for (Expr& place : all[k].places) each_expr(place, visit);
    });
}

/// Changes the nth thing that `change` finds; false where there are not so many.
template <class Change>
bool change_nth(Program& program, int n, const Change& change) {
    bool done = false;
    each_expr(program, [&](Expr& e) {
        if (!done && n-- == 0) change(e), done = true;
    });
    return done;
}

bool change_statement(Program& program, int n, const Visit& change) {
    int left = n;
    std::vector<Statement>* list = nullptr;
    size_t at = 0;
    each_statement(program.body, [&](std::vector<Statement>& all, size_t k) {
        if (left-- == 0) list = &all, at = k;
    });
    if (list) change(*list, at);
    return list;
}

/// The candidates that `make(copy, n)` gives for n = 0, 1, ... until it says false.
template <class Make>
void candidates(const Program& program, std::vector<Program>& out, const Make& make) {
    for (int n = 0; n < 400; ++n) {
        Program copy = program;
        if (!make(copy, n)) return;
        out.push_back(std::move(copy));
    }
}

void fewer_statements(const Program& program, std::vector<Program>& out) {
    candidates(program, out, [](Program& p, int n) {
        return change_statement(p, n, [](std::vector<Statement>& all, size_t k) {
            all.erase(all.begin() + static_cast<long>(k));
        });
    });
    candidates(program, out, [](Program& p, int n) {
        return change_statement(p, n, [](std::vector<Statement>& all, size_t k) {
            std::vector<Statement> body = std::move(all[k].body);
            if (body.empty()) return;
            all.erase(all.begin() + static_cast<long>(k));
            all.insert(all.begin() + static_cast<long>(k), body.begin(), body.end());
        });
    });
    candidates(program, out, [](Program& p, int n) {
        return change_statement(
            p, n, [](std::vector<Statement>& all, size_t k) { all[k].otherwise.clear(); });
    });
}

void fewer_tensors(const Program& program, std::vector<Program>& out) {
    candidates(program, out, [](Program& p, int n) {
        if (p.endless || p.outputs.size() < 2 || n >= static_cast<int>(p.outputs.size()))
            return false;
        p.outputs.erase(p.outputs.begin() + n);
        return true;
    });
    candidates(program, out, [](Program& p, int n) {
        if (p.arguments.size() < 2 || n >= static_cast<int>(p.arguments.size())) return false;
        p.arguments.erase(p.arguments.begin() + n);
        auto renumber = [&](int& handle) {
            handle = handle == n ? -2 : handle > n ? handle - 1 : handle;
        };
        each_expr(p, [&](Expr& e) { renumber(e.handle); });
        each_statement(p.body, [&](std::vector<Statement>& all, size_t k) {
            renumber(all[k].target), renumber(all[k].other);
        });
        for (int& handle : p.outputs) renumber(handle);
        return true;
    });
}

void simpler_exprs(const Program& program, std::vector<Program>& out) {
    for (size_t k = 0; k < 3; ++k)
        candidates(program, out, [k](Program& p, int n) {
            return change_nth(p, n, [&](Expr& e) {
                if (k < e.args.size()) e = Expr(e.args[k]);
            });
        });
    candidates(program, out, [](Program& p, int n) {
        return change_nth(p, n, [&](Expr& e) {
            if (e.form != Form::Literal)
                e = literal_of(1);
            else if (e.number > 1)
                e.number -= 1;
        });
    });
}

void simpler_data(const Program& program, std::vector<Program>& out) {
    for (const auto& [symbol, size] : program.sizes) {
        for (const int64_t smaller : {size / 2, size - 1})
            if (smaller >= 0 && smaller < size)
                out.push_back(program), out.back().sizes[symbol] = smaller;
        if (const int64_t again = program.sizes_again.at(symbol); again > 1)
            out.push_back(program), out.back().sizes_again[symbol] = again - 1;
        if (program.sizes_third.at(symbol) != size)
            out.push_back(program), out.back().sizes_third[symbol] = size;
        // A number in its place.
        Program numbered = program;
        auto number = [symbol = symbol, size = size](Extents& extents) {
            for (Extent& each : extents)
                if (each.symbol == symbol) each = {size};
        };
        for (Argument& argument : numbered.arguments) number(argument.extents);
        each_expr(numbered, [&](Expr& e) { number(e.extents); });
        for (Sizes* each : {&numbered.sizes, &numbered.sizes_again, &numbered.sizes_third})
            each->erase(symbol);
        out.push_back(std::move(numbered));
    }
    for (int64_t size = 2; size <= 9; ++size) {
        Program smaller = program;
        bool any = false;
        auto shrink = [&](Extents& extents) {
            for (Extent& each : extents)
                if (!each.symbol && each.number == size) each.number = size - 1, any = true;
        };
        for (Argument& argument : smaller.arguments) shrink(argument.extents);
        each_expr(smaller, [&](Expr& e) { shrink(e.extents); });
        if (any) out.push_back(std::move(smaller));
    }
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const Argument& argument = program.arguments[k];
        if (argument.dtype != i32) out.push_back(program), out.back().arguments[k].dtype = i32;
        for (const std::vector<double>& numbers : {std::vector<double>{0}, {0, 1, 2, 3, 4, 5, 6}})
            if (argument.numbers.size() > numbers.size())
                out.push_back(program), out.back().arguments[k].numbers = numbers;
    }
}

}  // namespace

Program shrunk(Program program, const FirstFailing& first_failing) {
    for (bool found = true; std::exchange(found, false);)
        for (const auto& simplify : {fewer_statements, fewer_tensors, simpler_exprs, simpler_data})
            for (size_t tried = 0;;) {
                std::vector<Program> all;
                simplify(program, all);
                std::erase_if(all, [before = text(program)](const Program& each) {
                    return text(each) == before;
                });
                all.erase(all.begin(),
                          all.begin() + static_cast<long>(std::min(tried, all.size())));
                const int which = first_failing(all);
                if (which < 0) break;
                program = all[static_cast<size_t>(which)];
                // The next candidate takes the place of the removed one.
                tried += static_cast<size_t>(which);
                found = true;
            }
    return program;
}

}  // namespace firn::programs
