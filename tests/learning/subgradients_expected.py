# What PyTorch gives where a derivative is a matter of choice, by the names of subgradients_test.cpp:
# python3 subgradients_expected.py > subgradients_expected.txt (python3-torch, libopenblas0-pthread; 1.13).
import torch
import torch.nn.functional as F

inf, nan = float('inf'), float('nan')


def t(*numbers):
    return torch.tensor(numbers, dtype=torch.float32, requires_grad=True)


def gradient(f, *xs):
    out = f(*xs)
    return [g for each in torch.autograd.grad(out.sum(), xs, allow_unused=True)
            for g in (each if each is not None else torch.zeros(1)).flatten().tolist()]


def clipped():
    a, b = torch.nn.Parameter(torch.zeros(1)), torch.nn.Parameter(torch.zeros(1))
    a.grad, b.grad = torch.tensor([nan]), torch.tensor([100.0])
    torch.nn.utils.clip_grad_norm_([a, b], 1.0)
    return [a.grad.item(), b.grad.item()]


def pooled(x):
    return F.max_pool1d(x.reshape(1, 1, -1), 2)


rows = {
    'abs': gradient(torch.abs, t(0)),
    'sign': gradient(torch.sign, t(0)),
    'sqrt': gradient(torch.sqrt, t(0)),
    'rsqrt': gradient(torch.rsqrt, t(0)),
    'log': gradient(torch.log, t(0)),
    'pow_half': gradient(lambda x: x ** 0.5, t(0)),
    'pow_zero': gradient(lambda x: x ** 0.0, t(0)),
    'pow_exponent': gradient(lambda y: torch.pow(torch.tensor([0.0, 0.0, 0.0]), y), t(0, 2, -1)),
    'asin': gradient(torch.asin, t(1, -1)),
    'acos': gradient(torch.acos, t(1)),
    'acosh': gradient(torch.acosh, t(1)),
    'atan2': gradient(torch.atan2, t(0), t(0)),
    'hypot': gradient(torch.hypot, t(0), t(0)),
    'floor': gradient(torch.floor, t(1)),
    'max_of_two': gradient(torch.maximum, t(1), t(1)),
    'min_of_two': gradient(torch.minimum, t(1), t(1)),
    'max_of_three': gradient(lambda a, b, c: torch.stack([a, b, c]).amax(0), t(1), t(1), t(1)),
    'max_over_axis': gradient(lambda x: x.amax(0), t(1, 3, 3, 2)),
    'min_over_axis': gradient(lambda x: x.amin(0), t(1, 1, 3, 1)),
    'clamp': gradient(lambda x: x.clamp(0, 1), t(-1, 0, 0.5, 1, 2)),
    'clamp_bounds': gradient(lambda a, b: torch.clamp(torch.tensor([0.0, 0.0, 1.0]), a, b), t(0, 1, 0), t(1, 2, 1)),
    'logaddexp': gradient(torch.logaddexp, t(1), t(1)),
    'logaddexp_of_infinities': gradient(torch.logaddexp, t(-inf), t(-inf)),
    'norm': gradient(lambda x: x.norm(), t(0, 0)),
    'norm_of_order_3': gradient(lambda x: x.norm(p=3), t(0, 0)),
    'norm_of_order_infinity': gradient(lambda x: x.norm(p=inf), t(2, -2)),
    'stddev': gradient(lambda x: x.std(), t(1, 1)),
    'prod': gradient(torch.prod, t(0, 2, 3)),
    'logsumexp': gradient(lambda x: x.logsumexp(0), t(-inf, 1)),
    'softmax': gradient(lambda x: x.softmax(0)[1], t(-inf, 1)),
    'sigmoid': gradient(torch.sigmoid, t(60)),
    'tanh': gradient(torch.tanh, t(20)),
    'relu': gradient(F.relu, t(0, nan)),
    'leaky_relu': gradient(lambda x: F.leaky_relu(x, 0.25), t(0)),
    'elu': gradient(lambda x: F.elu(x, 0.5), t(0)),
    'hardswish': gradient(F.hardswish, t(-3, 3)),
    'softplus': gradient(F.softplus, t(0)),
    'l1_loss': gradient(lambda x: F.l1_loss(x, torch.zeros(1)), t(0)),
    'huber_loss': gradient(lambda x: F.huber_loss(x, torch.zeros(3), reduction='sum'), t(-1, 0, 1)),
    'bce_sure_and_right': gradient(lambda x: F.binary_cross_entropy(torch.sigmoid(x), torch.ones(2), reduction='sum'), t(17, 200)),
    'bce_of_1': gradient(lambda p: F.binary_cross_entropy(p, torch.ones(1)), t(1)),
    'bce_of_1_wrong': gradient(lambda p: F.binary_cross_entropy(p, torch.zeros(1)), t(1)),
    'max_pool': gradient(pooled, t(1, 1, 2, 2)),
    'value_relu': F.relu(t(nan)).tolist(),
    'value_elu': F.elu(t(nan)).tolist(),
    'value_hardswish': F.hardswish(t(nan)).tolist(),
    'value_clamp': t(nan).clamp(0, 1).tolist(),
    'value_min': torch.minimum(t(nan), t(1)).tolist(),
    'value_max_over_axis': [torch.tensor([nan, 1.0]).amax(0).item()],
    'value_max_pool': pooled(t(nan, 1, 2, nan)).flatten().tolist(),
    'value_silu': F.silu(t(-inf)).tolist(),
    'clip_norm': clipped(),
}
for name, numbers in rows.items():
    print(name, *('%.9g' % number for number in numbers))
