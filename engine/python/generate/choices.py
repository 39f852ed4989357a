"""What of C++ becomes what in Python, where it is not by rule."""

import re

# Classes of C++ that are classes of Python, in the order of their bases. Templates by the names of headers: Conv2d.
CLASSES = [
    "Variable", "Number", "State", "Module", "Linear", "ConvLayer", "ConvTransposeLayer", "MaxPool", "AvgPool",
    "Dropout", "Embedding", "BatchNorm", "GroupNorm", "LayerNorm", "RMSNorm", "Recurrent", "GRU", "LSTM",
    "MultiHeadAttention", "Optimizer", "SGD", "Adam", "AdamW", "RMSProp", "Lion", "LBFGS", "AveragedWeights",
    "Batches", "Progress", "CsvWriter", "Generator",
]

# Getters without arguments that numpy and torch have as attributes.
PROPERTIES = {"shape", "dtype", "trainable", "training"}

# Functions that compute, wait or read files: Python's other threads run meanwhile.
WAITING = re.compile(
    r"(load|save|read|write)_\w+\(.*|find_pictures\(.*|check_labels\(.*|bounding_box\(.*|check_gradients\(.*"
    r"|stored\(.*|(Optimizer|LBFGS)::step(s?)\(.*|(AveragedWeights)::\w+\(.*|.*::reset\(.*|Variable::set\(.*")

# Reductions beside elementwise functions of the same name: `max(x, 0)` is elementwise, as in C++.
KEYWORD_ONLY = {"max", "min"}

# Methods of Tensor by the names of numpy and torch, where they mean the same there: the functions of these names,
# without the tensor that comes first. (numpy's sort works in place and torch's split counts differently: they are
# functions only.)
METHODS = """
    abs acos acosh all allclose any argmax argmin argsort asin asinh atan atanh bincount ceil cholesky clamp clip
    copysign cos cosh cummax cummin cumprod cumsum diag diagonal diff erf exp exp2 expm1 flip fliplr flipud floor fmod
    gather hypot inner inverse isclose kron log log10 log1p log2 log_softmax logaddexp logsumexp lu matmul matrix_power
    max mean median min nan_to_num nanmean nansum nonzero norm outer pow prod ptp qr quantile relu repeat roll rot90
    round rsqrt sigmoid sign sin sinc sinh slogdet softmax sqrt square squeeze sum svd take tan tanh topk trace tril
    triu trunc unique unsqueeze var vdot
""".split()
# Other names of functions among the methods.
METHOD_NAMES = {"stddev": "std", **{name: name for name in METHODS}}

# Python's reserved words among names of C++.
RESERVED = {"from", "in", "is", "lambda", "None", "not", "and", "or", "if", "else", "while", "for", "with", "as", "to_"}


def python_name(name: str) -> str:
    return name + "_" if name in RESERVED else name


OPERATORS = {"operator()": "__call__", "operator==": "__eq__"}

# Functions of which Python has a form of its own: arguments as (type of C++, name, default), the result, and the body.
CUSTOM = {
    "indices(const Shape &, SourceLine)": (
        [("const Shape &", "shape", None)], "std::vector<Tensor>",
        ["std::vector<Tensor> out;",
         "for (size_t axis = 0; axis < shape.size(); ++axis)",
         "    out.push_back(index(shape, static_cast<int>(axis), line.at));",
         "return out;"]),
    "index(const T &, int, SourceLine)": (
        [("const Operand &", "x", None), ("int", "axis", None)], "Tensor", ["return index_of(x, axis);"]),
    "arange(A, B, C, SourceLine)": (
        [("double", "begin", None), ("double", "end", None), ("double", "step", "1.0")], "Tensor",
        ["return firn::arange(begin, end, step, line.at);"]),
    "custom_gradient(const Callback<Tensor(const std::vector<Tensor> &)> &, const std::vector<Tensor> &, "
    "const GradientRules &, SourceLine)": (
        [("const Callback<Tensor(const std::vector<Tensor> &)> &", "f", None),
         ("const std::vector<Tensor> &", "xs", None), ("const GradientRule &", "rule", None),
         ("const TangentRule &", "forward", None)], "Tensor",
        ["return firn::custom_gradient(spread<Tensor>(f), xs.all, {gradient_rule(rule), tangent_rule(forward)}, "
         "line.at);"]),
}

# Which overload is tried first: what takes less comes before what takes more.
RANKS = [
    (re.compile(r"bool|u?int\d*_t|int|float|double|size_t|char|const std::string&|const AnyDType&|const Choice<.*"), 0),
    (re.compile(r"const Size&"), 1),
    (re.compile(r"const (Axes|Shape|AnyShifts|std::vector<.*>|PerAxis<.*>)&"), 2),
    (re.compile(r"const AnyTensors&"), 3),
    (re.compile(r"const (std::optional<)?(Operand|Arg)>?&"), 4),
]


def rank(type_text: str) -> int:
    return next((value for pattern, value in RANKS if pattern.fullmatch(type_text)), 5)
