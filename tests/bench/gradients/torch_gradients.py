#!/usr/bin/env python3
"""The objectives of firn_bench_gradients and their gradients in PyTorch on the CPU.

usage: torch_gradients.py CASE FOLDER GRADIENTS SHAPE...

FOLDER/x0, x1 .. hold the arguments (f32, row-major; SHAPE is n,m,.. of each). Prints the medians'
milliseconds of the objective and of the gradient, and the largest number of bytes that the latter
holds at a time beside its arguments, and leaves the gradients by the first arguments in
FOLDER/g0, g1 ... Ends with 3 for a case that has no form here. Training steps leave the weights after a
step in place of the gradients.
"""
import math
import os
import sys
import time

import numpy
import torch
import torch.nn.functional as F

TURNS, RATE = 1000, 0.1


def around(u):
    return u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u


def gray_scott(u, v, feed, kill):
    for _ in range(TURNS):
        meets = u * v * v
        u, v = (u + 0.16 * around(u) - meets + feed * (1 - u),
                v + 0.08 * around(v) + meets - (feed + kill) * v)
    return (u * u + v).sum()


def wave(u, rate, speed):
    for _ in range(TURNS):
        rate = rate + 0.1 * speed * around(u)
        u = u + rate
    return (u * u).sum()


def heat(u, source):
    for _ in range(TURNS):
        u = u + 0.1 * around(u * u) + source
    return (u * u).sum()


def gmm(weights, means, roots, points):
    n, d = points.shape
    centres = weights.shape[0]
    logs, below = roots[:, :d], roots[:, d:]
    sums = logs.sum(1)
    rows, columns = [], []
    for j in range(d):
        for i in range(j + 1, d):
            rows.append(i), columns.append(j)
    diagonal = torch.diag_embed(torch.exp(logs))
    lower = torch.zeros(centres, d, d)
    lower[:, torch.tensor(rows), torch.tensor(columns)] = below
    turned = torch.einsum("kij,nkj->nki", diagonal + lower, points[:, None] - means)
    inner = weights + sums - 0.5 * (turned * turned).sum(2)
    prior = (d + 1) * d * (-0.5 * math.log(2)) - (0.25 * d * (d - 1) * math.log(math.pi) + sum(
        math.lgamma(0.5 * (d + 1) + 0.5 * (1 - j)) for j in range(1, d + 1)))
    wishart = 0.5 * ((torch.exp(logs) ** 2).sum() + (below ** 2).sum())
    return (torch.logsumexp(inner, 1).sum() - n * torch.logsumexp(weights, 0) + wishart
            - n * d * 0.5 * math.log(2 * math.pi) - centres * prior)


def lstm(weights, ends, states, text):
    hidden, cells = list(states[::2]), list(states[1::2])
    total = 0
    for t in range(len(text) - 1):
        x = text[t] * ends[0]
        for layer in range(len(hidden)):
            w, b = weights[2 * layer], weights[2 * layer + 1]
            forget = torch.sigmoid(x * w[0] + b[0])
            taken = torch.sigmoid(hidden[layer] * w[1] + b[1])
            out = torch.sigmoid(x * w[2] + b[2])
            cells[layer] = cells[layer] * forget + taken * torch.tanh(hidden[layer] * w[3] + b[3])
            x = hidden[layer] = out * torch.tanh(cells[layer])
        predicted = x * ends[1] + ends[2]
        total = total + (text[t + 1] * (predicted - torch.log(torch.exp(predicted).sum() + 2))).sum()
    return -total / ((len(text) - 1) * text.shape[1])


def mlp(w1, b1, w2, b2, w3, b3, x, labels):
    h = torch.relu(x @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return F.cross_entropy(h @ w3 + b3, labels.long())


def conv_net(k1, b1, k2, b2, w, b, x, labels):
    h = F.max_pool2d(torch.relu(F.conv2d(x, k1, b1, padding=1)), 2)
    h = F.max_pool2d(torch.relu(F.conv2d(h, k2, b2, padding=1)), 2)
    return F.cross_entropy(h.flatten(1) @ w + b, labels.long())


def attention(w, wo, x, target):
    heads = 4
    q, k, v = [part.view(x.shape[0], heads, -1).transpose(0, 1) for part in (x @ w).chunk(3, 1)]
    weighed = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), -1) @ v
    y = x + weighed.transpose(0, 1).reshape(x.shape) @ wo
    return F.mse_loss(y, target)


CASES = {"gray_scott": gray_scott, "wave": wave, "heat": heat, "gmm": gmm, "lstm": lstm}
STEPS = {"mlp_step": mlp, "conv_net_step": conv_net, "attention_step": attention}


def median_ms(run):
    run()
    times, end = [], time.perf_counter() + 2
    while len(times) < 3 or (len(times) < 30 and time.perf_counter() < end):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2] * 1e3


def peak_bytes(run):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    now = most = 0
    events = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    for event in sorted(events, key=lambda e: e.start_us()):
        now += event.nbytes()
        most = max(most, now)
    return most


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    torch.set_num_threads(os.cpu_count())
    name, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    f = STEPS.get(name) or next((CASES[n] for n in CASES if name == n or name.startswith(n + "_")), None)
    if not f or name.endswith("_checkpoints"):
        sys.exit(3)
    args = []
    for k, shape in enumerate(sys.argv[4:]):
        values = torch.from_numpy(numpy.fromfile(f"{folder}/x{k}", dtype=numpy.float32))
        args.append(values.reshape([int(n) for n in shape.split(",") if n]))

    def value():
        with torch.no_grad():
            return f(*args)

    def gradient():
        own = [x.detach().requires_grad_(True) for x in args[:count]]
        made = list(torch.autograd.grad(f(*own, *args[count:]), own))
        with torch.no_grad():
            for k in range(len(made) if name in STEPS else 0):
                made[k] = own[k] - RATE * made[k]
        return made

    for k, made in enumerate(gradient()):
        made.detach().numpy().astype(numpy.float32).tofile(f"{folder}/g{k}")
    print(median_ms(value), median_ms(gradient), peak_bytes(gradient))


main()
