"""Where networks run: the device, its memory, and the threads of a CPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from disorder.models.inputs.batches import n_threads


def best_device() -> str:
    """A GPU where there is one."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def thread_pool(device: Any) -> ThreadPoolExecutor | None:
    """Threads for batches side by side on a CPU, each batch on one; None on a GPU.

    It is quicker than one batch on all threads, and gives the same bits for any number of them.
    """
    import torch

    if device.type != "cpu":
        return None
    return ThreadPoolExecutor(n_threads(), initializer=torch.set_num_threads, initargs=(1,))


def free_memory(network: Any) -> int | None:
    """Bytes that the network's device has beside its weights; None on a CPU, where batches are
    small anyway.
    """
    import torch

    kind = network.device.type
    if kind == "cuda":
        total = torch.cuda.get_device_properties(network.device).total_memory
    elif kind == "mps":
        total = torch.mps.recommended_max_memory()
    else:
        return None
    weights: int = sum(weight.nbytes for weight in network.parameters())
    return max(0, int(total) - weights)


def is_out_of_memory(error: RuntimeError | MemoryError) -> bool:
    """Whether an error says that memory ran out: CUDA has a class for it, the CPU and MPS words."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    message = str(error).lower()
    return "out of memory" in message or "can't allocate memory" in message
