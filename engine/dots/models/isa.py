"""Which instruction set the kernels are made for, and how many threads they use."""

import os
from enum import StrEnum
from pathlib import Path

from llvmlite import binding


class Isa(StrEnum):
    AVX512_VNNI = "avx512vnni"
    AVX2 = "avx2"


NEEDS: dict[Isa, frozenset[str]] = {
    Isa.AVX512_VNNI: frozenset({"avx512f", "avx512bw", "avx512vl", "avx512vnni", "fma", "f16c"}),
    Isa.AVX2: frozenset({"avx2", "fma", "f16c"}),
}


def cpu_features() -> frozenset[str]:
    """What the compiler will be told of: NUMBA_CPU_FEATURES narrows it, as it does for Numba itself."""
    told = os.environ.get("NUMBA_CPU_FEATURES")
    if told is not None:
        return frozenset(f[1:] for f in told.split(",") if f.startswith("+"))
    return frozenset(name for name, there in binding.get_host_cpu_features().items() if there)


def cpu_name() -> str:
    """What the compiler makes code for; NUMBA_CPU_NAME changes it, as it does for Numba itself."""
    return os.environ.get("NUMBA_CPU_NAME") or str(binding.get_host_cpu_name())


def available() -> list[Isa]:
    """Best first; empty on other processors."""
    features = cpu_features()
    return [isa for isa in Isa if NEEDS[isa] <= features]


def threads_allowed() -> int:
    """SPACES_THREADS, or one for each core."""
    told = os.environ.get("SPACES_THREADS", "")
    return max(1, int(told)) if told.isdecimal() else physical_cores()


def physical_cores() -> int:
    """Cores this process may run on; two threads of one core count once."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = set()
    for cpu in allowed:
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.is_file() else str(cpu))
    return max(1, len(cores))
