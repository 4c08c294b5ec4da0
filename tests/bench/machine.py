"""Facts about the machine that a figure is worthless without."""

import os
import platform
import time
from pathlib import Path

from dots.models.isa import available, physical_cores


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def facts() -> dict[str, str]:
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": str(physical_cores()),
        "instructions": ", ".join(available()) or "neither AVX512-VNNI nor AVX2",
        "memory": f"{pages / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    }
