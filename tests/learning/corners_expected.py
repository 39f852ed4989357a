# The values and derivatives of corner_rows.def at the points of f64 in corners.h, by 60 digits of mpmath,
# rounded to f64: python3 corners_expected.py > corners_expected.txt (python3-mpmath).
import base64, math, struct
from mpmath import mp, mpf

mp.dps = 60


def points():
    least, digits, most = -1074, 53, 1024
    out = [0.0, -0.0, math.inf, -math.inf, math.nan]
    largest = math.ldexp(2 - math.ldexp(1, 1 - digits), most - 1)
    for each in (math.ldexp(1, least), math.ldexp(1, least + digits - 1), largest, 1.0, 0.5, 2.0, 3.0, 6.0):
        out += [each, -each]
    state = 12345

    def following():
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return state

    span = most - least
    for k in range(160):
        sign = -1.0 if following() >> 31 else 1.0
        significand = 1.0 + math.ldexp(following(), -32)
        out.append(sign * math.ldexp(significand, least + k * span // 160))
    for k in range(160):
        scale = (1, 4, 20, 100.0 if k % 8 < 4 else 800.0)[k % 4]
        out.append((math.ldexp(following(), -31) - 1.0) * scale)
    for centre in (1.0, -1.0, 0.5, 3.0):
        for bits in (3, 6, 9, 12, 16, 20, 30):
            for sign in (1.0, -1.0):
                out.append(centre * (1.0 + sign * math.ldexp(1.0, -bits)))
    return out


def partners(x):
    out = [x[(i * 7919 + 13) % len(x)] for i in range(len(x))]
    for i in range(len(x)):
        if i % 2:
            out[i] = math.remainder(out[i], 40.0) if math.isfinite(out[i]) else math.nan
        if i % 16 == 3:
            out[i] = x[i]
    return out


def sig(x):
    return 1 / (1 + mp.exp(-x))


def sech2(x):
    return 1 / mp.cosh(x) ** 2


def softplus(x):
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def of_turns(x, f):
    whole = mp.nint(x)
    return f(mp.pi * (x - whole)) * (1 if int(whole) % 2 == 0 else -1)


def sinc(x):
    return mpf(1) if x == 0 else of_turns(x, mp.sin) / (mp.pi * x)


def slope_of_sinc(x):
    u = mp.pi * x
    if abs(u) < mpf(10) ** -8:
        return mp.pi * (-u / 3 + u**3 / 30)
    return (of_turns(x, mp.cos) - sinc(x)) / x


def cdf(x):
    return mpf(0) if x < -1e6 else mp.erfc(-x / mp.sqrt(2)) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def signed_root(x):
    return mp.sign(x) * mp.cbrt(abs(x))


def real(f):
    """nan where the function is not real."""
    def of(*args):
        value = f(*args)
        return mp.nan if isinstance(value, mp.mpc) and value.imag != 0 else mp.re(value)
    return of


def power_slope(x, y):
    if x < 0 and abs(y) > 2**63:
        return -y * mp.power(-x, y - 1)  # whose exponent is odd
    return mpf(0) if y == 0 else y * mp.power(x, y - 1)


def log_of_sum(x, y):
    return max(x, y) + mp.log1p(mp.exp(-abs(x - y)))


def kept(p):
    """The logarithm of a probability, at least -100."""
    if not 0 <= p <= 1:
        return mp.nan
    return mpf(-100) if p == 0 else max(mp.log(p), mpf(-100))


def slope_of_kept(p):
    if not 0 <= p <= 1:
        return mp.nan
    return mpf(0) if p == 0 or mp.log(p) < -100 else 1 / p


ONE = {
    'abs': (lambda x: abs(x), mp.sign),
    'square': (lambda x: x * x, lambda x: 2 * x),
    'exp': (mp.exp, mp.exp),
    'exp2': (lambda x: mpf(2) ** x, lambda x: mp.log(2) * mpf(2) ** x),
    'expm1': (mp.expm1, mp.exp),
    'log': (mp.log, lambda x: 1 / x),
    'log2': (lambda x: mp.log(x) / mp.log(2), lambda x: 1 / (x * mp.log(2))),
    'log10': (lambda x: mp.log(x) / mp.log(10), lambda x: 1 / (x * mp.log(10))),
    'log1p': (mp.log1p, lambda x: 1 / (1 + x)),
    'sqrt': (mp.sqrt, lambda x: 0.5 / mp.sqrt(x)),
    'rsqrt': (lambda x: 1 / mp.sqrt(x), lambda x: -0.5 / mp.sqrt(x) / x),
    'rcp': (lambda x: 1 / x, lambda x: -1 / x**2),
    'sin': (mp.sin, mp.cos),
    'cos': (mp.cos, lambda x: -mp.sin(x)),
    'tan': (mp.tan, lambda x: 1 + mp.tan(x) ** 2),
    'asin': (mp.asin, lambda x: 1 / mp.sqrt(1 - x * x)),
    'acos': (mp.acos, lambda x: -1 / mp.sqrt(1 - x * x)),
    'atan': (mp.atan, lambda x: 1 / (1 + x * x)),
    'sinh': (mp.sinh, mp.cosh),
    'cosh': (mp.cosh, mp.sinh),
    'tanh': (mp.tanh, sech2),
    'erf': (mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    'asinh': (mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x)),
    'acosh': (mp.acosh, lambda x: 1 / mp.sqrt(x - 1) / mp.sqrt(x + 1) if x >= 1 else mp.nan),
    'atanh': (mp.atanh, lambda x: 1 / ((1 - x) * (1 + x))),
    'cbrt': (signed_root, lambda x: 1 / (3 * signed_root(x) ** 2)),
    'sinc': (sinc, slope_of_sinc),
    'sigmoid': (sig, lambda x: sig(x) * sig(-x)),
    'gelu': (lambda x: x * cdf(x), lambda x: cdf(x) + x * density(x)),
    'silu': (lambda x: x * sig(x), lambda x: sig(x) * (1 + x * sig(-x))),
    'softplus': (softplus, sig),
    'log_sigmoid': (lambda x: -softplus(-x), lambda x: sig(-x)),
    'mish': (lambda x: x * mp.tanh(softplus(x)),
             lambda x: mp.tanh(softplus(x)) + x * sech2(softplus(x)) * sig(x)),
    'right_logit': (lambda x: softplus(-x), lambda x: -sig(-x)),
    'wrong_logit': (softplus, sig),
    'right_probability': (lambda x: -kept(x), lambda x: -slope_of_kept(x)),
    'wrong_probability': (lambda x: mp.nan if not 0 <= x <= 1 else mpf(100) if x == 1 else -mp.log1p(-x),
                          lambda x: mp.nan if not 0 <= x <= 1 else mpf(0) if x == 1 else 1 / (1 - x)),
    'divergence': (lambda x: (mp.log(mpf(1) / 4) - x) / 4, lambda x: -mpf(1) / 4),
}
TWO = {
    'mse': (lambda x, y: (x - y)**2, lambda x, y: 2 * (x - y), lambda x, y: 2 * (y - x)),
    'l1': (lambda x, y: abs(x - y), lambda x, y: mp.sign(x - y), lambda x, y: mp.sign(y - x)),
    'div': (lambda x, y: x / y, lambda x, y: 1 / y, lambda x, y: -x / y**2),
    'pow': (mp.power, power_slope, lambda x, y: mpf(0) if x == 0 and y >= 0 else mp.power(x, y) * mp.log(x)),
    'atan2': (mp.atan2, lambda x, y: y / (x * x + y * y), lambda x, y: -x / (x * x + y * y)),
    'hypot': (mp.hypot, lambda x, y: x / mp.hypot(x, y), lambda x, y: y / mp.hypot(x, y)),
    'logaddexp': (log_of_sum, lambda x, y: sig(x - y), lambda x, y: sig(y - x)),
}


def number(f, args):
    if not all(map(math.isfinite, args)):
        return 0.0
    try:
        return float(real(f)(*map(mpf, args)))
    except OverflowError:
        return math.inf
    except (ZeroDivisionError, ValueError):
        return math.nan


def line(name, which, f, all_args):
    data = b''.join(struct.pack('<d', number(f, args)) for args in all_args)
    print(name, which, base64.b64encode(data).decode())


if __name__ == "__main__":
    x = points()
    y = partners(x)
    for name, (value, slope) in ONE.items():
        line(name, 'value', value, [(a,) for a in x])
        line(name, 'by_x', slope, [(a,) for a in x])
    for name, (value, by_x, by_y) in TWO.items():
        line(name, 'value', value, list(zip(x, y)))
        line(name, 'by_x', by_x, list(zip(x, y)))
        line(name, 'by_y', by_y, list(zip(x, y)))
