#!/usr/bin/env python3
"""Writes what numpy gives into numpy_expected.txt, which the tests read: run it where numpy is.

A case has a name, its inputs and its results, one a line: type, sizes, elements. Results are
computed in numpy's own types and stored in those of Firn: integers i32, floats that come of
integers f32."""
import os
import warnings

import numpy as np

warnings.simplefilter("ignore")
F, H, D, I, B = np.float32, np.float16, np.float64, np.int32, np.bool_
NAMES = {F: "f32", H: "f16", D: "f64", I: "i32", B: "bool"}
nan, inf = np.nan, np.inf
lines = []


def array(kind, x):
    name = NAMES[x.dtype.type]
    sizes = ",".join(map(str, x.shape)) or "-"
    digits = {"f64": ".17g", "f32": ".9g", "f16": ".6g"}.get(name, "d")
    lines.append(" ".join([kind, name, sizes] + [format(v, digits) for v in x.ravel().tolist()]))


def case(name, inputs, *results):
    lines.append("case " + name)
    for x in inputs:
        array("in", x)
    for kind, x in results:
        array("out", np.asarray(x).astype(kind))


def floats(*shape, low=-3, high=3, kind=F, seed=1):
    """Random, and halves of integers, so that some are equal."""
    return np.round(np.random.RandomState(seed).uniform(low, high, shape) * 8).astype(kind) / kind(8)


def ints(*shape, low=-9, high=9, seed=2):
    return np.random.RandomState(seed).randint(low, high, shape).astype(I)


def with_nan(x, *places):
    x = x.copy()
    for k, place in enumerate(places):
        x.ravel()[place] = nan if k % 3 == 0 else inf if k % 3 == 1 else -inf
    return x


def only_nan(x, *places):
    x = x.copy()
    for place in places:
        x.ravel()[place] = nan
    return x


def statistics():
    x, none, one = floats(3, 5), floats(0), floats(1)
    q = F([0, 0.125, 0.5, 0.75, 1])
    case("quantile", [x, q], (F, np.quantile(x, q)))
    case("quantile_axis", [x, q], (F, np.quantile(x, q, axis=0)))
    case("quantile_scalar", [x], (F, np.quantile(x, 0.3, axis=1)))
    case("quantile_keep", [x], (F, np.quantile(x, 0.25, axis=-1, keepdims=True)))
    case("quantile_keep_all", [x], (F, np.quantile(x, 0.25, keepdims=True)))
    case("quantile_of_nan", [with_nan(x, 7), q], (F, np.quantile(with_nan(x, 7), q, axis=1)))
    case("quantile_of_one", [one, q], (F, np.quantile(one, q)))
    case("quantile_of_none", [none, q], (F, np.full(5, nan)))  # numpy cannot index it
    case("quantile_of_ints", [ints(4, 6)], (F, np.quantile(ints(4, 6), 0.4, axis=1)))
    double = floats(3, 5, kind=D) / 3
    case("quantile_f64", [double], (D, np.quantile(double, 0.3, axis=1)))
    half = floats(7, kind=H)
    case("quantile_f16", [half], (H, np.quantile(half, 0.4)))
    grid = np.array([[0.1, 0.9], [0.5, 0.25]], F)
    case("quantile_grid", [x, grid], (F, np.quantile(x, grid, axis=0)))
    case("percentile", [x], (F, np.percentile(x, 37.5, axis=0)))
    case("percentile_several", [x, F([10, 90])], (F, np.percentile(x, F([10, 90]))))
    case("median", [x], (F, np.median(x)))
    case("median_axis", [floats(4, 6)], (F, np.median(floats(4, 6), axis=0)))
    case("median_keep", [x], (F, np.median(x, axis=1, keepdims=True)))
    case("median_of_none", [none], (F, np.median(none)))
    case("median_of_one", [one], (F, np.median(one)))
    case("median_of_nan", [with_nan(x, 3, 9)], (F, np.median(with_nan(x, 3, 9), axis=1)))
    infinite = F([[inf, inf, 1, inf], [1, -inf, -inf, 2], [1, 2, inf, inf]])
    case("median_of_infinite", [infinite], (F, np.median(infinite, axis=1)))
    case("median_of_ints", [ints(9)], (F, np.median(ints(9))))
    case("ptp", [x], (F, np.ptp(x, axis=1)))
    case("ptp_of_ints", [ints(4, 6)], (I, np.ptp(ints(4, 6))))
    case("ptp_of_nan", [with_nan(x, 2)], (F, np.ptp(with_nan(x, 2), axis=1, keepdims=True)))

    gaps = only_nan(floats(4, 5), 0, 3, 6, 10, 11, 12, 13, 14)
    wide = with_nan(floats(3, 4), 0, 5, 10)
    for f in ["nansum", "nanmean", "nanmin", "nanmax", "nanvar", "nanstd"]:
        function = getattr(np, f)
        case(f, [gaps], (F, function(gaps)))
        case(f + "_axis", [gaps], (F, function(gaps, axis=1)))
        case(f + "_keep", [gaps], (F, function(gaps, axis=0, keepdims=True)))
        case(f + "_infinite", [wide], (F, function(wide, axis=1)))
        kind = I if f in ("nansum", "nanmin", "nanmax") else F
        case(f + "_ints", [ints(3, 4)], (kind, function(ints(3, 4), axis=0)))
        small = only_nan(floats(6, kind=H), 2)
        case(f + "_f16", [small], (H, function(small.astype(F))))
    case("nansum_of_none", [none], (F, np.nansum(none)))
    case("nanmean_of_none", [none], (F, np.nanmean(none)))
    case("nanvar_ddof", [gaps], (F, np.nanvar(gaps, axis=1, ddof=2)))

    w = floats(3, 5, low=0, high=2, seed=3)
    case("average", [x, w], (F, np.average(x, weights=w)))
    case("average_even", [x], (F, np.average(x, axis=0)))
    case("average_axis", [x, w], (F, np.average(x, axis=1, weights=w)))
    case("average_vector", [x, w[0]], (F, np.average(x, axis=1, weights=w[0])))
    case("average_ints", [ints(4), np.abs(ints(4)) + I(1)],
         (F, np.average(ints(4), weights=np.abs(ints(4)) + 1)))
    y = floats(2, 5, seed=4)
    case("cov", [x], (F, np.cov(x)))
    case("cov_columns", [x], (F, np.cov(x, rowvar=False, ddof=0)))
    case("cov_vector", [x[0]], (F, np.cov(x[0])))
    case("cov_two", [x, y], (F, np.cov(x, y)))
    case("cov_of_one", [floats(3, 1)], (F, np.cov(floats(3, 1))))
    case("cov_of_nan", [with_nan(x, 7)], (F, np.cov(with_nan(x, 7))))
    case("cov_of_ints", [ints(2, 6)], (F, np.cov(ints(2, 6))))
    case("corrcoef", [x], (F, np.corrcoef(x)))
    case("corrcoef_two", [x[0], y[0]], (F, np.corrcoef(x[0], y[0])))
    case("corrcoef_vector", [x[0]], (F, np.corrcoef(x[0])))
    flat = np.stack([x[0], np.full(5, F(2))])
    case("corrcoef_constant", [flat], (F, np.corrcoef(flat)))


def searches():
    table = np.sort(floats(9))
    table[4] = table[5]
    v = np.concatenate([floats(2, 8, low=-4, high=4, seed=5).ravel(), table,
                        F([nan, inf, -inf])]).reshape(4, 7)
    case("searchsorted", [table, v], (I, np.searchsorted(table, v)))
    case("searchsorted_right", [table, v], (I, np.searchsorted(table, v, side="right")))
    holes = np.concatenate([table, F([inf, nan, nan])])
    case("searchsorted_nan", [holes, v], (I, np.searchsorted(holes, v)))
    case("searchsorted_nan_right", [holes, v], (I, np.searchsorted(holes, v, side="right")))
    case("searchsorted_none", [floats(0), v], (I, np.searchsorted(floats(0), v)))
    case("searchsorted_one", [floats(1), v], (I, np.searchsorted(floats(1), v)))
    case("searchsorted_for_none", [table, floats(0)], (I, np.searchsorted(table, floats(0))))
    whole = np.sort(ints(12))
    case("searchsorted_ints", [whole, ints(7, seed=6)], (I, np.searchsorted(whole, ints(7, seed=6))))
    case("searchsorted_mixed", [whole, v], (I, np.searchsorted(whole, v)))
    case("digitize", [v, table], (I, np.digitize(v, table)))
    case("digitize_right", [v, table], (I, np.digitize(v, table, right=True)))
    case("digitize_falling", [v, table[::-1]], (I, np.digitize(v, table[::-1])))
    case("digitize_falling_right", [v, table[::-1]], (I, np.digitize(v, table[::-1], right=True)))
    case("digitize_one", [v, floats(1)], (I, np.digitize(v, floats(1))))
    xp, fp = np.unique(floats(9)), floats(9, seed=7)[: len(np.unique(floats(9)))]
    case("interp", [v, xp, fp], (F, np.interp(v, xp, fp)))
    case("interp_outside", [v, xp, fp], (F, np.interp(v, xp, fp, left=-7, right=nan)))
    # At nan numpy gives the only height, where it gives nan as soon as there are two.
    case("interp_one", [v, xp[:1], fp[:1]],
         (F, np.where(np.isnan(v), nan, np.interp(v, xp[:1], fp[:1]))))
    case("interp_ints", [ints(6), I([-9, 0, 9]), I([0, 90, 0])],
         (F, np.interp(ints(6), [-9, 0, 9], [0, 90, 0])))
    double = np.linspace(-3, 3, 7)
    case("interp_f64", [double / 3, double, double ** 2],
         (D, np.interp(double / 3, double, double ** 2)))
    for name, x in [("floats", floats(4, 9)), ("nan", with_nan(floats(13), 1, 2, 3, 4, 7)),
                    ("ints", ints(25)), ("none", floats(0)), ("one", floats(1)),
                    ("bools", ints(9) > 0), ("zeros", F([0.0, -0.0, 1, 0.0]))]:
        kind = x.dtype.type
        values, index, inverse, counts = np.unique(x, True, True, True)
        case("unique_" + name, [x], (kind, values))
        case("unique_all_" + name, [x], (kind, values), (I, index), (I, counts),
             (I, inverse.reshape(x.shape)))


def differences():
    x, one, none = floats(4, 6), floats(1), floats(0)
    case("diff", [x], (F, np.diff(x)))
    case("diff_twice", [x], (F, np.diff(x, n=2, axis=0)))
    case("diff_never", [x], (F, np.diff(x, n=0)))
    case("diff_of_one", [one], (F, np.diff(one)))
    case("diff_of_none", [none], (F, np.diff(none)))
    case("diff_beyond", [x], (F, np.diff(x, n=7)))
    case("diff_of_ints", [ints(3, 4)], (I, np.diff(ints(3, 4))))
    case("diff_of_bools", [ints(9) > 0], (B, np.diff(ints(9) > 0)))
    case("diff_of_nan", [with_nan(x, 3, 8, 9)], (F, np.diff(with_nan(x, 3, 8, 9))))
    t, s = F([0, 0.5, 0.75, 2, 3, 5]), F([0, 1, 1.5, 4])
    case("gradient", [x], (F, np.gradient(x, axis=1)))
    case("gradient_axes", [x], *[(F, g) for g in np.gradient(x)])
    case("gradient_spacing", [x], (F, np.gradient(x, 0.25, axis=0)))
    case("gradient_second", [x], (F, np.gradient(x, 0.25, axis=1, edge_order=2)))
    case("gradient_coordinates", [x, t], (F, np.gradient(x, t, axis=1)))
    case("gradient_coordinates_first", [x, s], (F, np.gradient(x, s, axis=0)))
    case("gradient_coordinates_second", [x, t], (F, np.gradient(x, t, axis=1, edge_order=2)))
    case("gradient_of_two", [floats(2)], (F, np.gradient(floats(2))))
    case("gradient_of_two_coordinates", [floats(2), F([1, 3])],
         (F, np.gradient(floats(2), F([1, 3]))))
    case("gradient_of_three", [floats(3)], (F, np.gradient(floats(3), edge_order=2)))
    case("gradient_of_ints", [ints(5)], (F, np.gradient(ints(5))))
    case("gradient_f64", [floats(7, kind=D) / 3], (D, np.gradient(floats(7, kind=D) / 3, 0.1)))
    case("trapz", [x], (F, np.trapz(x)))
    case("trapz_spacing", [x], (F, np.trapz(x, dx=0.5, axis=0)))
    case("trapz_coordinates", [x, t], (F, np.trapz(x, t)))
    case("trapz_shaped", [x, np.cumsum(np.abs(x), axis=0)],
         (F, np.trapz(x, np.cumsum(np.abs(x), axis=0), axis=0)))
    case("trapz_of_one", [one], (F, np.trapz(one)))
    case("trapz_of_none", [none], (F, np.trapz(none)))
    case("trapz_of_ints", [ints(5)], (F, np.trapz(ints(5))))
    middle = (x[:, 1:] + x[:, :-1]) / 2
    case("cumulative_trapezoid", [x, t], (F, np.cumsum(middle * np.diff(t), axis=1)))
    case("cumulative_trapezoid_of_one", [one], (F, np.zeros(0)))


def closeness():
    a = F([1, 1, 1, 0, 0, nan, inf, inf, -inf, nan, 1, inf])
    b = F([1, 1.000005, 1.0001, 1e-9, 1e-7, nan, inf, -inf, -inf, 1, inf, 1])
    case("isclose", [a, b], (B, np.isclose(a, b)))
    case("isclose_nan", [a, b], (B, np.isclose(a, b, equal_nan=True)))
    case("isclose_wide", [a, b], (B, np.isclose(a, b, rtol=0, atol=1e-3)))
    case("isclose_row", [floats(3, 4), floats(3, 4)[:1]],
         (B, np.isclose(floats(3, 4), floats(3, 4)[:1])))
    case("isclose_ints", [ints(6), ints(6) // I(2)], (B, np.isclose(ints(6), ints(6) // 2)))
    case("allclose_yes", [a[:2], b[:2]], (B, np.allclose(a[:2], b[:2])))
    case("allclose_no", [a[:3], b[:3]], (B, np.allclose(a[:3], b[:3])))
    case("allclose_none", [floats(0), floats(0)], (B, np.allclose(floats(0), floats(0))))
    x = floats(3, 4)
    case("array_equal_yes", [x, x], (B, np.array_equal(x, x)))
    case("array_equal_no", [x, x + (x == x[2, 1])], (B, False))
    case("array_equal_nan", [a, a], (B, np.array_equal(a, a)))
    case("array_equal_both_nan", [a, a], (B, np.array_equal(a, a, equal_nan=True)))
    case("array_equal_rows", [x, x[:1]], (B, np.array_equal(x, x[:1])))
    same = np.zeros((3, 4), F)
    case("array_equal_broadcast", [same, same[:1]], (B, np.array_equal(same, same[:1])))
    case("array_equal_ranks", [x[0], x[:1]], (B, np.array_equal(x[0], x[:1])))
    case("array_equal_of_one", [x[:1], x[:1]], (B, True))
    case("array_equal_types", [ints(4), ints(4).astype(F)], (B, True))

def products():
    a, b = floats(3, 4), floats(4, 5, seed=5)
    t, u = floats(2, 3, 4), floats(4, 3, 5, seed=6)
    case("tensordot", [a, b], (F, np.tensordot(a, b, 1)))
    case("tensordot_two", [t, floats(3, 4, 2, seed=7)],
         (F, np.tensordot(t, floats(3, 4, 2, seed=7))))
    case("tensordot_pairs", [t, u], (F, np.tensordot(t, u, ([1, 2], [1, 0]))))
    case("tensordot_none", [a, b], (F, np.tensordot(a, b, 0)))
    case("tensordot_all", [a, a], (F, np.tensordot(a, a, 2)))
    case("tensordot_empty", [floats(3, 0), floats(0, 2)],
         (F, np.tensordot(floats(3, 0), floats(0, 2), 1)))
    case("tensordot_ints", [ints(3, 4), ints(4, 2)], (I, np.tensordot(ints(3, 4), ints(4, 2), 1)))
    case("outer", [a[0], b[0]], (F, np.outer(a[0], b[0])))
    case("outer_shaped", [a, b], (F, np.outer(a, b)))
    case("outer_nan", [with_nan(a[0], 0, 1), F([0, 1])], (F, np.outer(with_nan(a[0], 0, 1), F([0, 1]))))
    case("inner", [a[0], a[1]], (F, np.inner(a[0], a[1])))
    case("inner_matrices", [a, floats(2, 4)], (F, np.inner(a, floats(2, 4))))
    case("inner_number", [a, F(2.5)], (F, np.inner(a, F(2.5))))
    case("vdot", [a, a.T.reshape(2, 6)], (F, np.vdot(a, a.T.reshape(2, 6))))
    case("vdot_none", [floats(0), floats(0)], (F, np.vdot(floats(0), floats(0))))
    case("kron", [a, b[:2]], (F, np.kron(a, b[:2])))
    case("kron_ranks", [a[0], floats(2, 1, 3)], (F, np.kron(a[0], floats(2, 1, 3))))
    case("kron_empty", [a, floats(0, 2)], (F, np.kron(a, floats(0, 2))))
    case("kron_ints", [ints(2, 3), ints(3, 2)], (I, np.kron(ints(2, 3), ints(3, 2))))
    case("cross", [floats(4, 3), floats(4, 3, seed=8)],
         (F, np.cross(floats(4, 3), floats(4, 3, seed=8))))
    case("cross_row", [floats(4, 3), floats(3, seed=8)],
         (F, np.cross(floats(4, 3), floats(3, seed=8))))
    case("cross_ints", [ints(2, 3), ints(2, 3, seed=8)], (I, np.cross(ints(2, 3), ints(2, 3, seed=8))))
    m = floats(3, 3) + 3 * np.eye(3, dtype=F)
    for k in [-2, -1, 0, 1, 2, 5]:
        power = np.linalg.matrix_power(m.astype(D), k)
        case("matrix_power_%s" % str(k).replace("-", "minus_"), [m], (F, power))
    batch = floats(2, 3, 3)
    case("matrix_power_batch", [batch], (F, np.linalg.matrix_power(batch, 3)))
    case("matrix_power_ints", [ints(2, 2)], (I, np.linalg.matrix_power(ints(2, 2), 3)))
    for n, m in [(9, 3), (9, 4), (3, 8), (4, 8), (1, 1), (5, 5), (1, 4), (4, 4)]:
        a, v = floats(n, seed=n), floats(m, seed=m + 20)
        for mode in ["full", "same", "valid"]:
            for f in [np.convolve, np.correlate]:
                case("%s_%s_%d_%d" % (f.__name__, mode, n, m), [a, v], (F, f(a, v, mode)))
    case("convolve_ints", [ints(6), ints(3)], (I, np.convolve(ints(6), ints(3))))
    holes = with_nan(floats(9), 4)
    case("convolve_nan", [holes, floats(2, seed=9)], (F, np.convolve(holes, floats(2, seed=9))))


def elementwise():
    x = F([0, -0.0, 1, -1, 0.5, -0.75, 1e-7, -1e-20, 3, -40, 1e5, -1e25, inf, -inf, nan])
    for f in ["arcsinh", "arccosh", "arctanh", "cbrt", "deg2rad", "rad2deg"]:
        case(f, [x], (F, getattr(np, f)(x.astype(D))))
        case(f + "_f16", [H([0, 0.5, -0.5, 1, 2])], (H, getattr(np, f)(F([0, 0.5, -0.5, 1, 2]))))
        case(f + "_ints", [I([0, 1, -1, 2])], (F, getattr(np, f)(I([0, 1, -1, 2]))))
    case("deg2rad_f64", [D([30, -45.5])], (D, np.deg2rad(D([30, -45.5]))))
    y = F([0, -0.0, 1, -2, 0.25, 1.5, -2.75, 1e-6, 1001.5, -1e6, nan])
    case("sinc", [y], (F, np.sinc(y.astype(D))))
    case("nan_to_num", [x], (F, np.nan_to_num(x)))
    case("nan_to_num_given", [x], (F, np.nan_to_num(x, nan=7, posinf=8, neginf=-9)))
    case("nan_to_num_f16", [H([nan, inf, -inf, 1])], (H, np.nan_to_num(H([nan, inf, -inf, 1]))))
    case("nan_to_num_f64", [D([nan, inf, -inf, 1])], (D, np.nan_to_num(D([nan, inf, -inf, 1]))))
    case("nan_to_num_ints", [ints(4)], (I, np.nan_to_num(ints(4))))
    case("heaviside", [x, np.full_like(x, 0.5)], (F, np.heaviside(x, 0.5)))
    case("heaviside_ints", [I([-1, 0, 2])], (F, np.heaviside(I([-1, 0, 2]), 3)))
    s = F([-1, 1, -0.0, 0, nan, -inf, 1, -1, 1, 1, -1, 1, -1, -1, -1])
    case("copysign", [x, s], (F, np.copysign(x, s)))
    case("copysign_of_zero", [x, s], (F, 1 / np.copysign(F(0), s)))
    d = F([1, 2, 0.3, -0.3, 0.25, 0.5, -2, 1e-21, inf, -inf, 7, 1e24, 1, 0, 1])
    case("fmod", [x, d], (F, np.fmod(x, d)))
    case("fmod_ints", [ints(8), I([2, -3, 4, 5, -7, 1, 3, 2])],
         (I, np.fmod(ints(8), I([2, -3, 4, 5, -7, 1, 3, 2]))))


def makers():
    case("logspace", [], (F, np.logspace(-2, 3, 6)))
    case("logspace_base", [F(0), F(8)], (F, np.logspace(0, 8, 5, base=2)))
    case("logspace_one", [], (F, np.logspace(1, 2, 1)))
    case("geomspace", [], (F, np.geomspace(1, 1000, 7)))
    case("geomspace_negative", [F(-2), F(-0.125)], (F, np.geomspace(-2, -0.125, 5)))
    case("geomspace_one", [], (F, np.geomspace(3, 5, 1)))
    x = floats(4)
    case("vander", [x], (F, np.vander(x)))
    case("vander_columns", [x], (F, np.vander(x, 6, increasing=True)))
    case("vander_none", [x], (F, np.vander(x, 0)))
    case("vander_empty", [floats(0)], (F, np.vander(floats(0), 3)))
    case("vander_ints", [ints(3)], (I, np.vander(ints(3), 3)))
    case("vander_nan", [with_nan(x, 1, 2)], (F, np.vander(with_nan(x, 1, 2), 3)))
    for k in [-2, 0, 1, 7]:
        name = str(k).replace("-", "minus_")
        case("eye_" + name, [], (F, np.eye(3, 5, k)))
        case("diag_" + name, [x], (F, np.diag(x, k)))
        case("diag_of_matrix_" + name, [floats(3, 5)], (F, np.diag(floats(3, 5), k)))
    case("diag_nan", [with_nan(x, 1)], (F, np.diag(with_nan(x, 1))))
    case("diag_of_none", [floats(0)], (F, np.diag(floats(0))))
    for mode in ["edge", "reflect", "symmetric", "wrap"]:
        m = ints(3, 4)
        case("pad_" + mode, [m], (I, np.pad(m, ((1, 2), (2, 0)), mode)))
        case("pad_one_" + mode, [ints(1)], (I, np.pad(ints(1), (2, 1), mode)))
    case("pad_wide_reflect", [ints(3)], (I, np.pad(ints(3), (7, 8), "reflect")))
    case("pad_wide_symmetric", [ints(3)], (I, np.pad(ints(3), (7, 8), "symmetric")))
    # numpy 1.24 repeats what is wider than x otherwise than it says; mended in 1.25.
    i = np.arange(-7, 11) % 3
    case("pad_wide_wrap", [ints(3)], (I, ints(3)[i]))
    m = floats(3, 4)
    case("roll_axes", [m], (F, np.roll(m, (1, -2), (0, 1))))
    case("roll_same_axis", [m], (F, np.roll(m, (1, 1), (1, 1))))
    case("fliplr", [m], (F, np.fliplr(m)))
    case("flipud", [m], (F, np.flipud(m)))
    for k in [-1, 0, 1, 2, 3]:
        case("rot90_%s" % str(k).replace("-", "minus_"), [m], (F, np.rot90(m, k)))
    case("rot90_axes", [floats(2, 3, 4)], (F, np.rot90(floats(2, 3, 4), axes=(2, 0))))
    case("rot90_empty", [floats(0, 3)], (F, np.rot90(floats(0, 3))))


def spectra():
    for n in [1, 2, 3, 8, 17]:
        x = floats(2, n, seed=n)
        for m in [n, n + 3, max(1, n - 2)] if n > 2 else [n]:
            y = np.fft.rfft(x, m)
            case("rfft_%d_%d" % (n, m), [x], (F, y.real), (F, y.imag))
    x = floats(5, 4, 3)
    y = np.fft.rfft(x, axis=1)
    case("rfft_axis", [x], (F, y.real), (F, y.imag))
    y = np.fft.rfft(ints(9))
    case("rfft_ints", [ints(9)], (F, y.real), (F, y.imag))
    x = floats(9, kind=D)
    y = np.fft.rfft(x)
    case("rfft_f64", [x], (D, y.real), (D, y.imag))
    for m in [2, 3, 9]:
        re, im = floats(2, m, seed=m), floats(2, m, seed=m + 50)
        for n in [2 * m - 2, 2 * m - 1] + ([1, 4, 2 * m + 3] if m > 3 else []):
            case("irfft_%d_%d" % (m, n), [re, im], (F, np.fft.irfft(re + 1j * im, n)))
    re, im = floats(4, 5, 2, seed=3), floats(4, 5, 2, seed=4)
    case("irfft_axis", [re, im], (F, np.fft.irfft(re + 1j * im, axis=0)))


def determinants():
    single = F([[1, 2], [2, 4]])
    for name, a in [("small", floats(2, 2)), ("batch", floats(3, 4, 4)), ("singular", single),
                    ("of_one", F([[-3]])), ("ints", ints(3, 3)), ("none", np.zeros((0, 0), F)),
                    ("zeros", np.zeros((2, 3, 3), F)), ("nan", F([[nan, 1], [2, 3]])),
                    ("f64", floats(5, 5, kind=D)), ("large", floats(12, 12) * F(1e5))]:
        kind = D if a.dtype == np.float64 else F
        sign, log = np.linalg.slogdet(a.astype(kind))
        case("slogdet_" + name, [a], (kind, sign), (kind, log))


def edges():
    """Reads beyond the edges are what pad puts there."""
    for n in [1, 2, 5]:
        x = np.arange(1, n + 1, dtype=F)
        far = F(3 * n + 4)
        wide = int(far)
        for mode in ["edge", "wrap", "symmetric", "reflect"]:
            # numpy 1.24 repeats what is wider than x otherwise than it says; mended in 1.25.
            i = np.arange(-wide, n + wide)
            y = x[i % n] if mode == "wrap" else np.pad(x, wide, mode)
            case("read_%s_%d" % (mode, n), [x, i.astype(I)], (F, y))


statistics()
spectra()
determinants()
edges()
searches()
differences()
closeness()
products()
elementwise()
makers()
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "numpy_expected.txt")
with open(path, "w") as out:
    out.write("\n".join(lines) + "\n")
