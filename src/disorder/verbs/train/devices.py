"""Devices: where the network runs, one device with nothing else to install, or several through
Hugging Face Accelerate.

Several: `accelerate launch -m disorder train …` (or torchrun). Each process then takes its share of
the batches of a step.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from disorder.errors import BadSetting, MissingPackage

KNOWN = ("cpu", "cuda", "mps")


class OneDevice:
    """A GPU, or the CPU."""

    rank = 0
    n_processes = 1

    def __init__(self, device: str | None, precision: str) -> None:
        import torch

        best = "mps" if torch.backends.mps.is_available() else "cpu"
        best = "cuda" if torch.cuda.is_available() else best
        self.device = torch.device(device or best)
        has_bf16 = self.device.type == "cuda" and torch.cuda.is_bf16_supported()
        self.is_bf16 = precision == "bf16" or (precision == "auto" and has_bf16)

    def prepare(self, network: Any) -> Any:
        """The network, moved here."""
        return network.to(self.device)

    def autocast(self) -> AbstractContextManager[Any]:
        """Mixed precision where it was chosen, or where the device has it."""
        import torch

        if not self.is_bf16:
            return nullcontext()
        context: AbstractContextManager[Any] = torch.autocast(
            self.device.type, dtype=torch.bfloat16
        )
        return context

    def accumulate(self, network: Any, *, is_last: bool) -> AbstractContextManager[Any]:
        """The scope for the gradients of one batch of a step."""
        return nullcontext()

    def backward(self, loss: Any) -> None:
        """Compute the gradients of the loss."""
        loss.backward()

    def from_first(self, value: Any) -> Any:
        """The first process's value, in all of them."""
        return value

    def wait(self) -> None:
        """Wait until all processes are here."""


class SeveralDevices(OneDevice):
    """One process per device; gradients are averaged over them."""

    def __init__(self, device: str | None, precision: str) -> None:
        try:
            from accelerate import Accelerator
        except ImportError as error:
            raise MissingPackage("training on several devices", "accelerate", "train") from error
        super().__init__(device, precision)
        mixed = "bf16" if self.is_bf16 else "no"
        self.accelerator = Accelerator(mixed_precision=mixed, cpu=self.device.type == "cpu")
        self.device = self.accelerator.device
        self.rank = self.accelerator.process_index
        self.n_processes = self.accelerator.num_processes

    def prepare(self, network: Any) -> Any:
        """The network, wrapped so that gradients are shared."""
        return self.accelerator.prepare_model(network)

    def autocast(self) -> AbstractContextManager[Any]:
        """Mixed precision as Accelerate was told."""
        context: AbstractContextManager[Any] = self.accelerator.autocast()
        return context

    def accumulate(self, network: Any, *, is_last: bool) -> AbstractContextManager[Any]:
        """Gradients are exchanged at the last batch of a step only."""
        if is_last:
            return nullcontext()
        context: AbstractContextManager[Any] = self.accelerator.no_sync(network)
        return context

    def backward(self, loss: Any) -> None:
        """Compute the gradients of the loss."""
        self.accelerator.backward(loss)

    def from_first(self, value: Any) -> Any:
        """The first process's value, in all of them."""
        from accelerate.utils import broadcast_object_list

        return broadcast_object_list([value])[0]

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.accelerator.wait_for_everyone()


def choose_devices(device: str | None, precision: str) -> OneDevice:
    """The device to train on; several where a launcher started several processes."""
    import torch

    if device is not None and device.split(":")[0] not in KNOWN:
        raise BadSetting("train", device=device, need=" or ".join(KNOWN))
    if device is not None and device.startswith("cuda") and not torch.cuda.is_available():
        raise BadSetting("train", device=device, need="a GPU that torch can use; here is none")
    is_launched = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return SeveralDevices(device, precision) if is_launched else OneDevice(device, precision)


def is_first_process() -> bool:
    """Whether this process prints and writes for all that a launcher started."""
    return os.environ.get("RANK", "0") == "0"
