# The values and derivatives of row_corners.h at the rows of f64 there, by 60 digits of mpmath, rounded to f64:
# python3 row_corners_expected.py > row_corners_expected.txt (python3-mpmath).
import base64, math, struct
from mpmath import mp, mpf
from corners_expected import points

WEIGHTS = [mpf(1), mpf(-1) / 2, mpf(1) / 4, mpf(2)]


def rows():
    start = points()
    most = start[9]
    out = []
    for begin in range(5, len(start) - 15, 16):
        for scale in range(4):
            out.append([start[begin + scale + 4 * k] for k in range(4)])
    for v in (0.0, 1.0, -3.0, 100.0, 30000.0, -30000.0, most / 4, -most / 4):
        out += [[v, v, v, v], [v, 0.0, 1.0, -1.0], [0.5, v, v, -1.0], [2.0, v, 0.25, v]]
    return out


def log_of_rest(row):
    at = row.index(max(row))
    return mp.log1p(sum(mp.exp(x - row[at]) for k, x in enumerate(row) if k != at))


def of_row(row, label):
    row = list(map(mpf, row))
    logs = [x - max(row) - log_of_rest(row) for x in row]
    shares = list(map(mp.exp, logs))
    mean = sum(p * w for p, w in zip(shares, WEIGHTS))
    hit = [mpf(k == label) for k in range(4)]
    smooth = [mpf(3) / 4 * t + mpf(1) / 16 for t in hit]
    return {
        'softmax': (shares, [p * (w - mean) for p, w in zip(shares, WEIGHTS)]),
        'log_softmax': (logs, [w - p * sum(WEIGHTS) for p, w in zip(shares, WEIGHTS)]),
        'logsumexp': ([max(row) + log_of_rest(row)], shares),
        'cross_entropy': ([-logs[label]], [p - t for p, t in zip(shares, hit)]),
        'smooth_cross_entropy': ([-sum(t * l for t, l in zip(smooth, logs))],
                                 [p - t for p, t in zip(shares, smooth)]),
    }


def number(x):
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


lines = {}
for r, row in enumerate(rows()):
    for name, parts in of_row(row, r * 7 % 4).items():
        for which, numbers in zip(('value', 'slope'), parts):
            data = b''.join(struct.pack('<d', number(x)) for x in numbers)
            lines[name, which] = lines.get((name, which), b'') + data
for (name, which), data in lines.items():
    print(name, which, base64.b64encode(data).decode())
