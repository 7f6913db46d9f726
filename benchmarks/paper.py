"""What the paper measured, and which of the models here are of the same families.

A. Wijs, J.-P. Katoen and D. Bošnački, *GPU-based graph decomposition into strongly
connected and maximal end components*, CAV 2014,
<https://doi.org/10.1007/978-3-319-08867-9_20>, Tables 1 and 2. The machines were an
Intel E5-2620 and an NVIDIA K20m.
"""

from typing import NamedTuple


class Measured(NamedTuple):
    """A line of both tables; times in seconds.

    Attributes:
        states: as the paper counts them.
        edges: likewise.
        components: strongly connected ones.
        tarjan_s: Tarjan's algorithm on the CPU.
        restructured_s: the GPU, with rows of up to seven successors restructured, which
            the paper calls the best setup.
        best_s: the GPU, the least of its six setups.
        mec_cpu_s: maximal end components on the CPU.
        mec_gpu_s: the same on the GPU, restructured.
        here: models of the same family, those nearest in size first.
    """

    states: float
    edges: float
    components: float
    tarjan_s: float
    restructured_s: float
    best_s: float
    mec_cpu_s: float
    mec_gpu_s: float
    here: tuple[str, ...]


MODELS: dict[str, Measured] = {
    "wlan.2500": Measured(
        *(12.6e6, 28.1e6, 12.5e6, 6.17, 20.71, 20.71, 32.33, 21.46),
        ("wlan6_t2500", "wlan6_t10", "wlan4_t2500", "wlan3_t2500", "wlan3_t500"),
    ),
    "phil.7": Measured(
        *(11.0e6, 98.5e6, 1, 23.47, 0.71, 0.70, 51.22, 0.73),
        ("phil7", "phil6", "phil5"),
    ),
    "diningcrypt.t.10": Measured(
        *(42.9e6, 279.4e6, 42.9e6, 41.42, 1.62, 1.62, 140.85, 1.80),
        ("dining_crypt9", "dining_crypt8", "dining_crypt7"),
    ),
    "test-and-set.7": Measured(
        *(51.4e6, 468.5e6, 4672, 103.92, 36.04, 19.12, 203.50, 36.70),
        ("rabin4", "beauquier7"),
    ),
    "leader.7": Measured(
        *(68.7e6, 280.5e6, 42.2e6, 68.08, 5.35, 5.35, 239.80, 7.48),
        ("leader7", "leader6"),
    ),
    "phil_lss.5,10": Measured(
        *(72.9e6, 425.6e6, 1, 99.75, 3.30, 3.25, 281.32, 3.45),
        ("phil_lss4_k5", "phil_lss4_k4", "phil_lss3_k10"),
    ),
    "coin.8.3": Measured(
        *(87.9e6, 583.0e6, 5.4e6, 135.61, 9.10, 9.10, 363.07, 12.63),
        ("coin6_k8", "coin6_k2", "coin4_k10"),
    ),
    "mutual.7.13": Measured(
        *(76.2e6, 653.7e6, 1, 121.31, 3.72, 3.72, 302.66, 3.83),
        ("mutual6", "mutual5"),
    ),
    "zeroconf_dl.F.200.1k.6": Measured(
        *(118.6e6, 273.5e6, 118.6e6, 97.91, 6.12, 6.12, 390.05, 6.23),
        ("zeroconf_dl_f50_k6", "zeroconf_dl_f100", "zeroconf_dl_f50"),
    ),
    "firewire_dl.800.36": Measured(
        *(129.3e6, 293.6e6, 129.3e6, 104.07, 6.71, 6.71, 470.96, 6.90),
        ("firewire_impl_dl_200_36", "firewire_impl_dl_100_36"),
    ),
}
"""By the paper's name."""
