"""Plain training: how well does the model learn the task itself? Also the corruption experiments,
by `--with T`.

`--with derange` trains on one permutation of every example (UNLI, Table 6); `--with original --with
drop…` on several copies (NDSC).
"""

from __future__ import annotations

from disorder.registry import recipe
from disorder.verbs.train.recipe_plan import Job, Phase


@recipe(paper="UNLI, WS, NDSC", spans=True)
def plain(job: Job) -> list[Phase]:
    """Cross-entropy on the gold labels (answers in a passage; squared error for numbers), on the
    texts of `--with`.
    """
    return [job.task_phase()]
