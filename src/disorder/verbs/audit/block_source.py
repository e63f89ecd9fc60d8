"""The source of predicted blocks: parts that an earlier session finished come from disk, the others
from an engine (this machine, or Ray); these are written as they come, so that a run that is killed
can be resumed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from disorder.engines import Engine
from disorder.errors import DisorderError
from disorder.runs import SampleParts, is_about, storable
from disorder.types import Costs
from disorder.verbs.audit.block import Block, BlockPredictor, BlockResult
from disorder.verbs.audit.budget import Budget


@dataclass
class BlockSource:
    """Gives the results of blocks in order."""

    engine: Engine
    predictor: BlockPredictor
    parts: SampleParts
    counts: Mapping[str, int]  # variants of an example at most, by spec
    model_hash: str
    budget: Budget
    engine_name: str = "local"
    costs: Costs = field(default_factory=Costs)

    def in_order(self, blocks: Sequence[Block]) -> Iterator[tuple[Block, BlockResult]]:
        """Each block with its result; engines may finish them in another order."""
        missing = [block for block in blocks if block.part not in self.parts.known]
        waited_for = {block.part for block in missing}
        results = self.engine(missing)
        early: dict[str, BlockResult] = {}
        for block in blocks:
            if block.part not in waited_for:
                yield block, self._finished(block)
                continue
            while block.part not in early:
                result = next(results)
                self._keep(result)
                early[result.part] = result
            yield block, early.pop(block.part)

    def _finished(self, block: Block) -> BlockResult:
        """A part from disk, read once; one that is damaged is predicted again."""
        finished = self.parts.read(block.part)
        ids = {storable(example.id) for example in block.examples}
        count = self.counts[block.transformation]
        if finished is not None and not is_about(finished[0], ids, count, self.predictor.width):
            self.parts.notes.append(f"{block.part} is of other examples; it is predicted again")
            finished = None
        if finished is None:
            again = self.predictor(block)  # here, not by the engine, which is at work
            self._keep(again)
            return again
        table, skips = finished
        self.costs["resumed"] += table.num_rows
        return BlockResult(block.part, table, skips, {}, self.model_hash)

    def _keep(self, result: BlockResult) -> None:
        began = time.perf_counter()
        if result.model != self.model_hash:
            raise DisorderError(
                f"--engine {self.engine_name}: a worker has another version of the model "
                f"({result.model or 'unknown'}, not {self.model_hash or 'unknown'}); install the "
                "same everywhere, then resume"
            )
        self.costs.add(result.counts)
        spent = self.budget.to_record(self.costs)
        self.parts.write(result.part, result.table, result.skips, spent)
        self.costs["write"] += time.perf_counter() - began
