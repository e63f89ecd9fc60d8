"""Is it enough to refuse when unsure? Word Salad's threshold on the top probability (Gupta et al., 2021)."""

from __future__ import annotations

from disorder.registry import recipe
from disorder.train._calibrate import both, calibrated, observed
from disorder.train._plan import Job, Phase


@recipe(paper="WS", of_trained=True, breaks=True)
def threshold(job: Job, *, learn: bool = True) -> list[Phase]:
    """Plain training (none with learn=false), then a temperature and a threshold that tells broken texts apart."""
    specs = job.broken_by()
    after = both(observed(job, specs), calibrated(job, specs))
    return [Phase("task", job.copies("original"), job.dev_inputs(), job.labels, job.loss, job.epochs(learn), after=after)]
