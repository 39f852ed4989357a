"""Galaxies that collide: gravity between all pairs of bodies. Drag to turn the camera, the wheel comes nearer."""

import math
import typing

import firn as fn

DISC_MASS, DISC_SHARE = 0.3, 0.75  # of a galaxy's mass, of its bodies; the rest is a round halo
DISC_SCALE, DISC_HEIGHT, HALO_SCALE = 0.32, 0.02, 0.45

app = fn.App("n_body", help="Galaxies that collide.", headless_frames=110)
dt = app.param("dt", 0.01, min=0, max=0.03, help="time step; a galaxy rotates in about 4")
softening = app.param("softening", 0.05, min=0.01, max=0.3, help="softening length of the force between close bodies")
steps = app.param("steps", 4, min=1, max=16, help="simulation steps per frame")
count = app.param("bodies", 2048, min=64, max=32768, log=True, help="number of bodies, from the next reset")
every = app.param("report", 25, min=1, max=100, help="frames between two measurements of the energy")


class Bodies(typing.NamedTuple):
    position: fn.vec3  # each component is f32[n]
    velocity: fn.vec3
    acceleration: fn.vec3  # at the position
    mass: fn.Tensor
    galaxy: fn.Tensor  # 0 or 1


class Galaxy(typing.NamedTuple):
    mass: float
    place: tuple
    velocity: tuple
    inclination: float
    turn: float


def parabola(mass_a, mass_b, distance, nearest):
    """Two galaxies that fall towards each other on a parabola whose nearest point is `nearest`."""
    mass = mass_a + mass_b
    across = math.sqrt(2 * mass * nearest) / distance
    inward = math.sqrt(max(2 * mass / distance - across**2, 0))

    def galaxy(own, share, inclination, turn):
        return Galaxy(own, (share * distance, 0, 0), (-share * inward, share * across, 0), inclination, turn)

    return galaxy(mass_a, mass_b / mass, 0.35, 0.4), galaxy(mass_b, -mass_a / mass, 1.1, -0.7)


class Streams:
    """Numbers of one kind for every body; each call gives a stream of its own."""

    def __init__(self, count, seed):
        self.count, self.seed, self.next = count, seed, 0

    def draw(self, kind):
        self.next += 1
        return kind((self.count,), seed=self.seed, stream=self.next - 1)

    def uniform(self):
        return self.draw(fn.rand)

    def normal(self):
        return self.draw(fn.randn)

    def normals(self):
        return fn.vec3(self.normal(), self.normal(), self.normal())


def disc_inside(radius):
    """The mass of the disc inside a radius."""
    scaled = radius / DISC_SCALE
    return DISC_MASS * (1 - (1 + scaled) * fn.exp(-scaled))


def halo_inside(radius):
    ratio = radius * fn.rsqrt(fn.square(radius) + HALO_SCALE**2)
    return (1 - DISC_MASS) * ratio * ratio * ratio


def disc(random):
    """Positions and velocities of stars that circle where the pull of what is inside holds them, a little warm."""
    radius = -DISC_SCALE * fn.log((1 - random.uniform()) * (1 - random.uniform()))
    radius = fn.min(radius, 5 * DISC_SCALE)
    angle = 2 * math.pi * random.uniform()
    c, s = fn.cos(angle), fn.sin(angle)
    speed = fn.sqrt((disc_inside(radius) + halo_inside(radius)) / fn.max(radius, 0.02))
    warmth = 0.06 * speed * random.normals()
    position = fn.vec3(radius * c, radius * s, DISC_HEIGHT * random.normal())
    return position, fn.vec3(-speed * s, speed * c, 0) + warmth


def halo(random):
    """A Plummer sphere, with the spread of velocities that its stars need against all mass inside."""
    inside = 0.02 + 0.93 * random.uniform()
    radius = HALO_SCALE * fn.rsqrt(inside ** (-2 / 3) - 1)
    height, angle = 2 * random.uniform() - 1, 2 * math.pi * random.uniform()
    flat = fn.sqrt(1 - height * height)
    mass = 1 - DISC_MASS + disc_inside(radius)
    spread = fn.sqrt(mass / 6 * fn.rsqrt(fn.square(radius) + HALO_SCALE**2))
    return radius * fn.vec3(flat * fn.cos(angle), flat * fn.sin(angle), height), spread * random.normals()


def tilted(a, inclination, turn):
    """Turned about x by the inclination, then about z."""
    y = fn.cos(inclination) * a.y - fn.sin(inclination) * a.z
    z = fn.sin(inclination) * a.y + fn.cos(inclination) * a.z
    return fn.vec3(fn.cos(turn) * a.x - fn.sin(turn) * y, fn.sin(turn) * a.x + fn.cos(turn) * y, z)


def colliding_galaxies(count, seed):
    """Two galaxies, each a disc of stars that circle in a round halo with most of the mass."""
    random = Streams(count, seed)
    a, b = parabola(1.0, 0.6, 3.6, 0.55)
    first = fn.arange(count) % 2 == 0

    def each(x, y):
        return fn.select(first, x, y)

    in_disc = random.uniform() < DISC_SHARE
    stars, round_ = disc(random), halo(random)
    inclination, turn, total = each(a.inclination, b.inclination), each(a.turn, b.turn), each(a.mass, b.mass)

    def placed(part, shift_a, shift_b):
        return tilted(part, inclination, turn) + fn.vec3(*(each(x, y) for x, y in zip(shift_a, shift_b)))

    position, velocity = (fn.select(in_disc, x, y) for x, y in zip(stars, round_))
    half = 0.5 * count
    still = fn.vec3(fn.zeros(count))
    return Bodies(
        placed(position, a.place, b.place),
        placed(fn.sqrt(total) * velocity, a.velocity, b.velocity),  # less mass rotates more slowly
        still,
        total * fn.select(in_disc, DISC_MASS / (DISC_SHARE * half), (1 - DISC_MASS) / ((1 - DISC_SHARE) * half)),
        fn.select(first, 0.0, 1.0),
    )


def at(v, j):
    return fn.vec3(v.x[j], v.y[j], v.z[j])


@fn.function
def gravity(position, mass, softening):
    """The pull of all bodies on each, for distances that are softened: each body is a loop over the others."""
    pull = fn.vec3(fn.zeros(mass.shape))
    for j in fn.range(mass.shape[0]):
        away = at(position, j) - position
        square = fn.dot(away, away) + softening * softening
        pull = pull + mass[j] / (square * fn.sqrt(square)) * away
    return pull


@fn.jit
def leapfrog(bodies, dt, softening):
    """A step: kick, drift, kick. Second order, and the energy swings about its value."""
    halfway = bodies.velocity + 0.5 * dt * bodies.acceleration
    position = bodies.position + dt * halfway
    acceleration = gravity(position, bodies.mass, softening)
    velocity = halfway + 0.5 * dt * acceleration
    return bodies._replace(position=position, velocity=velocity, acceleration=acceleration)


@fn.jit
def energy(bodies, softening):
    """Kinetic and potential energy."""
    position, velocity, mass = bodies.position, bodies.velocity, bodies.mass
    n = mass.shape[0]
    depth = fn.zeros(n)
    for j in fn.range(n):
        away = at(position, j) - position
        inverse = mass[j] / fn.sqrt(fn.dot(away, away) + softening * softening)
        depth += fn.select(fn.arange(n) == j, 0.0, inverse)
    return 0.5 * fn.sum(mass * fn.dot(velocity, velocity)), -0.5 * fn.sum(mass * depth)


def drawn(bodies):
    """The bodies as light, blue and amber by galaxy."""
    blue, amber = fn.vec3(0.20, 0.48, 1.00), fn.vec3(1.00, 0.42, 0.16)
    colour = fn.stack(fn.mix(blue, amber, bodies.galaxy))
    drawing = fn.Drawing()
    drawing.camera(distance=4.0, yaw=0.5, pitch=0.65)
    drawing.points(fn.stack(bodies.position.xzy), colour=colour, radius=0.015, lit=False, additive=True)
    return drawing


def start():
    bodies = colliding_galaxies(count.value, app.seed())
    return leapfrog(bodies, 0.0, softening)  # a step of no time finds the accelerations


@app.run
def main(window):
    bodies, done, first = start(), 0, None
    while window.open():
        if window.reset():
            bodies, done, first = start(), 0, None
        if window.playing():
            for _ in range(steps):
                bodies = leapfrog(bodies, dt, softening)
            done += steps.value
            if first is None or window.frame() % every == 0:
                kinetic, potential = (each.item() for each in energy(bodies, softening))
                first = first or kinetic + potential
                drift = (kinetic + potential - first) / abs(first)
                window.gui().plot("energy drift", drift)
                print(f"step {done}: kinetic {kinetic:.6f}, potential {potential:.6f}, drift {drift:.2e}")
        window.show(drawn(bodies))
