"""A path tracer: fractals given by distances, in the light of a panorama. Drag to look around, the wheel comes nearer.

Shown are paths of light, which get less noisy while the view stays; the surface that rays meet, lit by its normal
(sphere tracing); or the light that marches through the object as through a cloud (volume).
"""

import math
import pathlib
import typing

import firn as fn

SKY = pathlib.Path(__file__).parents[2] / "assets/sky.hdr"
FAR = 1e4

app = fn.App("path_tracer", help="Fractals in the light of a sky.", size=(640, 360), headless_frames=16)
scene = app.param("scene", ["sponge", "bulb", "ball"], help="object in the middle; the ball is without a ground")
show = app.param("show", ["paths", "surface", "volume"], help="how it is rendered")
bounces = app.param("bounces", 5, min=1, max=12, help="maximum number of surfaces on a path")
around = app.param("around", fn.Angle(0.62), group="Camera")
above = app.param("above", fn.Angle(0.17), min=-1.5, max=1.5, group="Camera")
distance = app.param("distance", 4.8, min=0.2, max=50, log=True, group="Camera")
view = app.param("view", fn.Angle(0.66), min=0.1, max=2, group="Camera", help="vertical field of view")
colour = app.param("colour", fn.Colour(0.86, 0.62, 0.36), help="colour of the object")
coat = app.param("coat", 1.0, min=0, max=1, help="strength of its mirror-like coat")
sky_turn = app.param("sky_turn", 0.22, min=0, max=1, help="rotation of the sky")
exposure = app.param("exposure", 0.0, min=-6, max=6, unit="stops")


class Ray(typing.NamedTuple):
    origin: fn.vec3
    direction: fn.vec3  # of length 1

    def at(self, t):
        return self.origin + self.direction * t


# ---- objects, as distances that are never too long ----


def sponge(p):
    """A Menger sponge in [-1, 1]^3. I. Quilez, "Menger fractal", 2011."""
    out = fn.abs(p) - 1
    d = fn.min(largest(out), 0) + fn.length(fn.max(out, 0))
    scale = 1
    for _ in range(4):
        r = fn.abs(1 - 3 * fn.abs(fn.mod(p * scale, 2) - 1))
        scale *= 3
        cross = fn.min(fn.min(fn.max(r.x, r.y), fn.max(r.y, r.z)), fn.max(r.z, r.x)) - 1
        d = fn.max(d, cross / scale)
    return d


@fn.function
def bulb(p):
    """The Mandelbulb of power 8, in spherical coordinates. I. Quilez, "Mandelbulb", 2009."""
    w, slope = p, 1.0
    m = fn.dot(w, w)
    for _ in fn.range(4):
        if m > 256:
            break
        slope = 8 * m**3.5 * slope + 1
        r = fn.sqrt(m)
        b, a = 8 * fn.acos(fn.clamp(w.y / fn.max(r, 1e-6), -0.999999, 0.999999)), 8 * fn.atan2(w.x, w.z)
        w = p + m**4 * fn.vec3(fn.sin(b) * fn.sin(a), fn.cos(b), fn.sin(b) * fn.cos(a))
        m = fn.dot(w, w)
    return 0.25 * fn.log(fn.max(m, 1e-12)) * fn.sqrt(m) / slope


def ball(p):
    return fn.length(p) - 1


OBJECTS = {"sponge": (sponge, 1.74), "bulb": (bulb, 1.25), "ball": (ball, 1.01)}  # and a ball that each is inside of


def largest(v):
    return fn.max(fn.max(v.x, v.y), v.z)


def crossing(ray, radius):
    """The stretch of the ray inside a ball in the middle; it ends before it begins where there is none."""
    along = fn.dot(ray.origin, ray.direction)
    inside = along * along - fn.dot(ray.origin, ray.origin) + radius * radius
    half = fn.sqrt(fn.max(inside, 0))
    return fn.max(-along - half, 0), fn.select(inside > 0, half - along, -1)


@fn.function
def march(distance, ray, t, end):
    """Steps as long as the distance to the surface, which cannot be overstepped."""
    for _ in fn.range(192):
        free = distance(ray.at(t))
        if (t > end) | (free < 1e-4 + 3e-4 * t):
            break
        t += free
    return fn.select(t > end, FAR, t)


def nearest(object_, ray):
    """The distance along the ray to what it meets, and whether that is the object."""
    distance, radius = OBJECTS[object_]
    begin, end = crossing(ray, radius)
    ground = (-1 - ray.origin.y) / ray.direction.y
    ground = fn.select(ground > 0, ground, FAR) if object_ != "ball" else fn.full(ground.shape, FAR)
    t = march(distance, ray, begin, fn.min(end, ground))
    return fn.min(t, ground), t < ground


@fn.function
def normal(object_, p, on_object):
    """The gradient of the distance, by three sweeps forwards; the ground's is up."""
    out = fn.vec3(0, 1, 0)
    if on_object:
        d = OBJECTS[object_][0](p)
        axes = (fn.vec3(1, 0, 0), fn.vec3(0, 1, 0), fn.vec3(0, 0, 1))
        out = fn.normalize(fn.vec3(*(fn.jvp(d, p, axis * fn.ones(p.x.shape)) for axis in axes)))
    return out


def albedo(p, on_object, colour):
    """The ground has tiles with thin seams."""
    seam = fn.max(fn.abs(fn.frac(p.x * 0.5) - 0.5), fn.abs(fn.frac(p.z * 0.5) - 0.5))
    tiles = fn.vec3(0.37, 0.36, 0.35) * fn.select(seam > 0.493, 0.45, 1)
    return fn.select(on_object, colour, tiles)


# ---- the sky: a panorama, and directions drawn from it by their light ----


class Sky(typing.NamedTuple):
    radiance: fn.Tensor  # f32[h, w, 3]; rows from straight up to straight down
    density: fn.Tensor  # f32[h, w]: chance of each texel over that of all alike
    chance: fn.Tensor  # f32[h * w]: of all texels up to and with each

    def place(self, direction, turn):
        h, w = self.density.shape
        j = fn.frac(fn.atan2(direction.z, direction.x) / (2 * math.pi) + turn) * w
        return fn.acos(fn.clamp(direction.y, -1, 1)) / math.pi * h, j

    def light(self, direction, turn):
        """The light from a direction, between texels; the panorama goes once around."""
        y, x = (each - 0.5 for each in self.place(direction, turn))
        i, j, s, t = fn.floor(y).astype(fn.i32), fn.floor(x).astype(fn.i32), fn.frac(y), fn.frac(x)
        w = self.density.shape[1]

        def texel(i, j):
            return fn.vec3(*(self.radiance[i, j % w, c] for c in range(3)))

        return fn.mix(fn.mix(texel(i, j), texel(i, j + 1), t), fn.mix(texel(i + 1, j), texel(i + 1, j + 1), t), s)

    def probability(self, direction, turn):
        """The chance of drawing the direction, per steradian."""
        i, j = self.place(direction, turn)
        sine = fn.sqrt(fn.max(1 - direction.y * direction.y, 1e-8))
        return self.density[i.astype(fn.i32), j.astype(fn.i32)] / (2 * math.pi**2 * sine)

    def draw(self, random, turn):
        h, w = self.density.shape
        k = fn.searchsorted(self.chance, random.uniform(), right=True)
        theta = (k // w + random.uniform()) * (math.pi / h)
        phi = ((k % w + random.uniform()) / w - turn) * (2 * math.pi)
        return fn.vec3(fn.sin(theta) * fn.cos(phi), fn.cos(theta), fn.sin(theta) * fn.sin(phi))


def make_sky(radiance):
    h, w, _ = radiance.shape
    i, j = fn.indices((h, w))
    bright = radiance @ fn.tensor([0.2126, 0.7152, 0.0722]) + 1e-4
    # What lies between texels counts for both.
    along = 0.75 * bright + 0.125 * (bright[i, (j + w - 1) % w] + bright[i, (j + 1) % w])
    weight = (0.75 * along + 0.125 * (along[i - 1, j] + along[i + 1, j])) * fn.sin((i + 0.5) * (math.pi / h))
    chance = fn.cumsum(weight)
    return Sky(radiance, weight * (h * w / fn.sum(weight)), chance / chance[-1])


# ---- what a pixel sees ----


class Camera(typing.NamedTuple):
    eye: tuple
    forward: tuple
    right: tuple  # right and up reach the edges of the picture
    up: tuple


def camera(aspect):
    ca, sa, cb, sb = math.cos(around), math.sin(around), math.cos(above), math.sin(above)
    high = math.tan(0.5 * view)
    back = (cb * sa, sb, cb * ca)
    eye = tuple(distance * x + y for x, y in zip(back, (0, -0.05, 0)))
    right = tuple(high * aspect * x for x in (ca, 0, -sa))
    up = tuple(high * x for x in (-sb * sa, cb, -sb * ca))
    return Camera(eye, tuple(-x for x in back), right, up)


def eye_ray(camera, shape, random):
    """The ray through a random point of each pixel."""
    h, w = shape
    i, j = fn.indices(shape)
    across, down = (j + random.uniform()) * (2 / w) - 1, (i + random.uniform()) * (2 / h) - 1
    eye, forward, right, up = (fn.vec3(*each) for each in camera)
    return Ray(eye, fn.normalize(forward + right * across - up * down))


@fn.function
def traced(object_, sky, ray, random, colour, coat, turn, bounces):
    """The light that comes along the ray, by one path."""
    light, kept = fn.vec3(0), fn.vec3(1)
    chance = -1.0  # of the path's direction, per steradian; negative where it had no choice
    for bounce in fn.range(fn.min(bounces, 12)):
        t, on_object = nearest(object_, ray)
        if t >= FAR:
            # The sky was drawn from at the surface before, too: both count by their chances (E. Veach, 1997).
            drawn = sky.probability(ray.direction, turn)
            share = fn.select(chance < 0, 1, chance * chance / (chance * chance + drawn * drawn))
            light += kept * sky.light(ray.direction, turn) * share
            break
        n = normal(object_, ray.at(t), on_object)
        p = ray.at(t) + n * (1e-3 + 6e-4 * t)
        cosine = fn.clamp(-fn.dot(n, ray.direction), 0, 1)
        mirror = coat * fn.select(on_object, 0.04 + 0.96 * (1 - cosine) ** 5, 0)
        if random.uniform() < mirror:
            ray, chance = Ray(p, fn.reflect(ray.direction, n)), -1.0
        else:
            kept = kept * albedo(p, on_object, colour)
            to_sky = Ray(p, sky.draw(random, turn))
            shine = fn.dot(n, to_sky.direction) / math.pi
            if shine > 0:
                if nearest(object_, to_sky)[0] >= FAR:
                    drawn = sky.probability(to_sky.direction, turn)
                    share = drawn / (drawn * drawn + shine * shine)
                    light += kept * sky.light(to_sky.direction, turn) * (shine * share)
            height, angle = 1 - 2 * random.uniform(), 2 * math.pi * random.uniform()
            flat = fn.sqrt(1 - height * height)
            ray = Ray(p, fn.normalize(n * 1.0001 + fn.vec3(flat * fn.cos(angle), height, flat * fn.sin(angle))))
            chance = fn.max(fn.dot(n, ray.direction), 1e-6) / math.pi
    return light


def surface(object_, ray, colour):
    """The nearest surface, lit from the upper left by its normal."""
    t, on_object = nearest(object_, ray)
    p = ray.at(t)
    lit = 1.5 + 1.5 * fn.dot(normal(object_, p, on_object), fn.normalize(fn.vec3(-1, 1, 1)))
    return fn.select(t < FAR, albedo(p, on_object, colour) * lit, fn.vec3(0.02))


@fn.function
def volume(object_, ray, colour):
    """Light that is scattered once inside the object, as by a cloud, on its way from above."""
    distance, radius = OBJECTS[object_]

    def density(p):
        return 20 * fn.smoothstep(0.02, -0.02, distance(p))

    t, end = crossing(ray, radius)
    step, light, depth = radius / 48, 0.0, 0.0
    for _ in fn.range(96):
        if (t > end) | (depth > 6):
            break
        rho = density(ray.at(t))
        if rho > 0:
            shade = 0.0
            for k in fn.range(16):
                shade += density(ray.at(t) + fn.vec3(-0.06, 0.08, 0.06) * (k + 0.5)) * 0.12
            light += fn.exp(-depth - shade) * rho * step
            depth += rho * step
        t += step
    return colour * light + fn.vec3(0.10, 0.14, 0.20) * fn.exp(-depth)


@fn.structural(scene, show)
def add_sample(object_, show):
    @fn.jit
    def sample(total, sky, camera, colour, coat, turn, bounces, number, seed):
        """Adds one sample to every pixel; the same seed and number give the same light."""
        h, w, _ = total.shape
        i, j = fn.indices((h, w))
        random = fn.Generator(i * w + j, fn.pcg(number + fn.pcg(seed)))
        ray, colour = eye_ray(camera, (h, w), random), fn.vec3(*colour)
        if show == "paths":
            light = traced(object_, sky, ray, random, colour, coat, turn, bounces)
        else:
            light = surface(object_, ray, colour) if show == "surface" else volume(object_, ray, colour)
        return total + fn.stack(light)

    return sample


@fn.jit
def developed(total, samples, exposure):
    """The mean as a picture from 0 to 1. K. Narkowicz, "ACES Filmic Tone Mapping Curve", 2016."""
    c = total * (0.3 * fn.exp2(exposure) / samples)
    return fn.clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0, 1) ** (1 / 2.2)


def move(window):
    mouse, per_pixel = window.mouse(), 3 / window.pixels().height
    if mouse.left.down:
        around.value -= mouse.dj * per_pixel
        above.value += mouse.di * per_pixel
    distance.value *= math.exp(-0.12 * mouse.wheel)


@app.run
def main(window):
    sky = make_sky(fn.load_image(str(SKY), linear=True))
    shown, samples = None, 0
    while window.open():
        move(window)
        width, height = window.pixels()
        params = scene, show, around, above, distance, view, colour, coat, sky_turn, bounces
        now = [each.value for each in params] + [width, height, add_sample.compiling]
        if window.reset() or now != shown:
            total, samples, shown = fn.zeros((height, width, 3)), 0, now
        if window.playing() or samples == 0:
            settings = colour.value, coat, sky_turn, bounces
            total = add_sample(total, sky, camera(width / height), *settings, samples, app.seed())
            samples += 1
        window.show(developed(total, samples, exposure))
        if app.writes_numbers():
            app.set_numbers(total / samples)  # files of numbers have the light as it is
