"""The ground state of atoms and molecules by variational Monte Carlo: a network is the electrons' wave function."""

import numpy as np

import firn as fn

# Nuclei as charge, x, y, z in Bohr radii; electrons with spin up and down; and the energy in Hartree, as it is known.
SYSTEMS = {
    "H": ([(1, 0, 0, 0)], 1, 0, -0.5),
    "He": ([(2, 0, 0, 0)], 1, 1, -2.90372),
    "H2": ([(1, -0.7, 0, 0), (1, 0.7, 0, 0)], 1, 1, -1.17447),
    "Li": ([(3, 0, 0, 0)], 2, 1, -7.47806),
    "LiH": ([(3, -1.5075, 0, 0), (1, 1.5075, 0, 0)], 2, 2, -8.07055),
    "Be": ([(4, 0, 0, 0)], 2, 2, -14.66736),
}

HELP = "A network learns the wave function of an atom or a molecule."
app = fn.App("variational_monte_carlo", help=HELP, size=(640, 640), headless_frames=100)
system = app.param("system", "H2", choices=list(SYSTEMS), help="the atom or molecule, from the next reset")
walkers = app.param("walkers", 512, min=64, max=8192, help="samples of all electrons' places, from the next reset")
rate = app.param("rate", 0.004, min=1e-5, max=0.1, log=True, help="learning rate")


class WaveFunction(fn.Module):
    """log |psi| of electrons at [walkers, n, 3]: a sum of Slater determinants: exchange of two turns the sign."""

    def __init__(self, nuclei, up, down, width=32, determinants=4):
        super().__init__()
        self.nuclei, self.up, self.down, self.determinants = np.array(nuclei, "f4"), up, down, determinants
        self.first = fn.Linear(4 * len(nuclei) + 1, width)
        self.mixing = [fn.Linear(3 * width, width) for _ in range(2)]
        self.orbitals = [fn.Linear(width, determinants * n) for n in (up, down) if n]
        self.reach = self.add_parameter("reach", (len(nuclei),), fn.constant_init(1))
        if up + down > 1:
            self.cusp = self.add_parameter("cusp", (2,), fn.constant_init(1))

    def forward(self, electrons):
        n = self.up + self.down
        apart = electrons[:, :, None] - self.nuclei[:, 1:]  # [walkers, electrons, nuclei, 3]
        distance = fn.norm(apart, axis=3)
        spin = fn.select(fn.arange(n)[:, None] < self.up, 0.5, -0.5) + 0 * electrons[..., :1]
        seen = [*(apart[:, :, k] for k in range(len(self.nuclei))), distance, spin]
        x = fn.tanh(self.first(fn.concat(seen, axis=2)))
        for layer in self.mixing:  # each electron sees the mean of all others of each spin
            means = [fn.mean(each, axis=1, keep_dims=True) + 0 * x for each in self.by_spin(x)]
            x = x + fn.tanh(layer(fn.concat([x, means[0], means[-1]], axis=2)))
        envelope = fn.sum(fn.exp(-abs(self.reach.value()) * distance), axis=2)[..., None]
        sign, log = 1, 0
        for part, far, layer in zip(self.by_spin(x), self.by_spin(envelope), self.orbitals):
            count = part.shape[1]
            matrices = fn.reshape(far * layer(part), (-1, count, self.determinants, count))
            each = fn.slogdet(fn.permute(matrices, (0, 2, 1, 3)))
            sign, log = sign * each.sign, log + each.logabsdet
        most = fn.stop_gradient(fn.max(log, axis=1, keep_dims=True))
        total = fn.sum(sign * fn.exp(log - most), axis=1)
        return fn.log(abs(total)) + most[:, 0] + self.repulsion(electrons)

    def by_spin(self, x):
        return [x[:, : self.up], x[:, self.up :]] if self.down else [x]

    def repulsion(self, electrons):
        """Electrons avoid each other: the slope where two meet is known (Kato's cusp)."""
        total = fn.zeros((electrons.shape[0],))
        for i, j in pairs(self.up + self.down):
            alike = (i < self.up) == (j < self.up)
            reach = abs(self.cusp.value()[int(alike)])
            distance = fn.norm(electrons[:, i] - electrons[:, j], axis=1)
            total -= (0.25 if alike else 0.5) / (reach * (1 + reach * distance))
        return total


def pairs(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


@fn.function
def local_energy(psi, electrons, nuclei):
    """(H psi) / psi of each walker: by derivatives, no differences."""
    log_psi = psi(electrons)
    slope = fn.grad(fn.sum(log_psi), electrons)
    laplacian = fn.sum(fn.square(slope), axis=(1, 2))
    n = electrons.shape[1]
    for k in range(3 * n):
        along = fn.zeros(electrons.shape)
        along[:, k // 3, k % 3] = 1
        laplacian += fn.jvp(slope, electrons, along)[:, k // 3, k % 3]
    apart = fn.norm(electrons[:, :, None] - nuclei[:, 1:], axis=3)
    energy = -0.5 * laplacian - fn.sum(nuclei[:, 0] / apart, axis=(1, 2))
    for i, j in pairs(n):
        energy += 1 / fn.norm(electrons[:, i] - electrons[:, j], axis=1)
    for i, j in pairs(len(nuclei)):
        energy += float(nuclei[i, 0] * nuclei[j, 0] / np.linalg.norm(nuclei[i, 1:] - nuclei[j, 1:]))
    return energy, log_psi


class Training:
    def __init__(self, name, walkers, seed):
        nuclei, up, down, self.known = SYSTEMS[name]
        self.psi = psi = WaveFunction(nuclei, up, down)
        psi.reset(seed)
        self.adam = adam = fn.Adam(psi.parameters())
        self.electrons = fn.randn((walkers, up + down, 3), seed=seed, stream=1)
        self.seed, self.count, self.width, self.energies = seed, 0, 0.5, []

        @fn.compile(state=psi)
        def walk(x: fn.f32[walkers, up + down, 3], width: fn.f32, seed: fn.u32, stream: fn.i32):
            """Steps by Metropolis and his coauthors: places come as often as psi squared says."""
            log, accepted = psi(x), fn.tensor(0.0)
            for k in fn.range(10):
                trial = x + width * fn.randn(x.shape, seed=seed, stream=stream + 2 * k)
                trial_log = psi(trial)
                accept = fn.rand((walkers,), seed=seed, stream=stream + 2 * k + 1) < fn.exp(2 * (trial_log - log))
                x, log = fn.select(accept[:, None, None], trial, x), fn.select(accept, trial_log, log)
                accepted = accepted + fn.mean(accept.astype(fn.f32)) / 10
            return x, accepted

        @fn.compile(state=(psi, adam))
        def step(x: fn.f32[walkers, up + down, 3]):
            energy, log_psi = local_energy(psi, x, psi.nuclei)
            # Walkers near a zero of psi are cut off at five mean deviations from the median.
            middle = fn.median(energy)
            spread = 5 * fn.mean(abs(energy - middle))
            cut = fn.stop_gradient(fn.clamp(energy, middle - spread, middle + spread))
            adam.step(2 * fn.mean((cut - fn.mean(cut)) * log_psi))
            return fn.mean(cut)

        self.walk, self.step = walk, step

    def advance(self, rate):
        self.adam["lr"] = rate / (1 + self.count / 500)
        self.electrons, accepted = self.walk(self.electrons, self.width, self.seed, 100 * self.count + 2)
        self.width *= 1.05 if accepted.item() > 0.5 else 0.95
        self.energies.append(self.step(self.electrons).item())
        self.count += 1

    def energy(self):
        """The mean over the last quarter of the steps, in Hartree."""
        return float(np.mean(self.energies[-max(1, self.count // 4) :]))


@fn.compile
def density(picture: fn.f32["n", "m"], electrons: fn.f32["walkers", "e", 3], scale: fn.f32):
    """Where the electrons were, from the side; older places fade."""
    n, m = picture.shape
    picture = 0.97 * picture
    place = fn.floor(electrons * scale).astype(fn.i32)
    fn.scatter_add(picture, (place[..., 1] + n // 2, place[..., 0] + m // 2), 1.0)
    return picture


def main(window):
    def start():
        return Training(system.value, walkers.value, app.seed())

    training, picture = start(), fn.zeros((160, 160))
    while window.open():
        if window.reset():
            training, picture = start(), fn.zeros((160, 160))
        if window.playing():
            training.advance(rate.value)
            window.gui().plot("energy", {"network": training.energies[-1], "known": training.known}, unit="Hartree")
            picture = density(picture, training.electrons, 24.0)
        window.show(fn.log(1 + picture), fn.colormap.inferno)
    print(f"{system.value}: {training.energy():.4f} Hartree after {training.count} steps; known: {training.known}")


if __name__ == "__main__":
    app.run(main)
