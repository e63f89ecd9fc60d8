"""The decorators that declare parts: all that the program knows of a part is said there, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from disorder.registry.declaration import F, first_paragraph
from disorder.registry.kinds import (
    CheckPart,
    DataPart,
    EnginePart,
    ExplanationPart,
    MetricPart,
    ModelPart,
    Need,
    NetworkPart,
    PromptPart,
    RecipePart,
    SplitterPart,
    TaggerPart,
    TaskPart,
    TransformationPart,
)
from disorder.registry.lookup import declare, register
from disorder.specs import split_spec

if TYPE_CHECKING:
    from disorder.types import Task

TAGGERS = {"en": "english", "zh": "jieba"}  # language → tagger, unless a part or the user names one


def transformation(
    *,
    keeps: str,
    destroys: str,
    keeps_words: bool = False,
    paper: str = "",
    scope: Literal["sentence", "pair"] = "sentence",
    side: Literal["a", "b", "both", "task", "last"] = "last",
    draws: int | None = None,
    deterministic: bool = False,
    copies: bool = False,
    suites: tuple[str, ...] = (),
    sweep: tuple[str, ...] = (),
    words: Mapping[str, str] | None = None,
    needs: tuple[Need, ...] = (),
    tagger: Mapping[str, str] | None = None,
    shows: tuple[str, ...] = (),
    single: bool | None = None,
    units: bool | None = None,
    nested: tuple[str, ...] = (),
    drawn_as: str = "",
    perturbs: Literal["words", "shots", "options"] = "words",
) -> Callable[[F], F]:
    """Register a way to perturb a text.

    `keeps` and `destroys` say it in words; `keeps_words` claims that nothing but the order of the
    words changes, so that word-order sensitivity can be measured. `side` is the text perturbed
    unless the user says otherwise ("task": the one the task names; "last": the second of a pair).
    `draws` is how many variants the paper draws (None: the run's q); a deterministic one has a
    single variant. `copies` marks those that copy one text into the other, for which agreement is
    with the default label. `suites` are the sets it belongs to, there once per setting of `sweep`.
    `words` names the splitter for each fidelity when the paper fixes one. `needs` says what
    the text alone does not hold: with "tags" and "importance" the sentence carries them, by
    `tagger` for each language where it matters; with "vocabulary" and "training data" the function
    takes a `Context` as its fourth argument. `shows` names settings that the canonical spec always
    spells out, because their default says too little. `single` says whether single texts can be
    perturbed; usually they cannot where a transformation takes a pair. `units` says whether other
    units than words can be moved (unit=char|subword|token|sentence|line), usually those that change
    nothing but order. `nested` names settings that do not change the draws: a larger share then
    contains a smaller one. `drawn_as` names the transformation whose draws it shares, as a control.
    `perturbs` is "shots" for those that are for the examples of a prompt, "options" for those that
    are for the options of a question (--break shots, --break options).
    """
    return declare(
        TransformationPart,
        paper=paper,
        keeps=keeps,
        destroys=destroys,
        keeps_words=keeps_words,
        scope=scope,
        side=side,
        draws=1 if deterministic else draws,
        deterministic=deterministic,
        copies=copies,
        suites=suites,
        sweep=sweep,
        words=words or {},
        needs=needs,
        tagger=TAGGERS | dict(tagger or {}),
        shows=shows,
        single=scope == "sentence" if single is None else single,
        units=keeps_words and scope == "sentence" and not needs if units is None else units,
        nested=nested,
        drawn_as=drawn_as,
        perturbs=perturbs,
    )


def words(*, language: str, needs: str = "") -> Callable[[F], F]:
    """Register a way to split a text into words."""
    return declare(SplitterPart, language=language, needs=needs)


def tagger(*, language: str, needs: str) -> Callable[[F], F]:
    """Register a way to find word classes."""
    return declare(TaggerPart, language=language, needs=needs)


def metric(
    *,
    better: str,
    title: str = "",
    meaning: str = "",
    unit: str = "share",
    paper: str = "",
    of: Literal["texts", "variants", "permutations", "order", "options"] = "variants",
    on: Literal["labels", "numbers", "any", "likelihoods"] = "labels",
    shown: Literal["table", "page", "permutations", "file"] = "table",
    position: int = 100,
    name: str = "",
    parameter: str = "",
    points: tuple[str, ...] = (),
    needs_probabilities: bool = False,
    least_labels: int = 1,
    copies: Literal["as others", "by default label", "never"] = "as others",
    watched: Literal["mean", "ratio", "never"] | None = None,
    decided_at: Callable[..., Any] | None = None,
    depends_on_q: bool = False,
    alone: str = "",
    needs_skill: bool = False,
) -> Callable[[F], F]:
    """Register a score: a function from `Outcomes` to its decomposition by example.

    `title` is how tables head it (default: its name), `meaning` what it says in one line (default:
    the docstring's first sentence), `better` in words which way is good, `unit` what its numbers
    are. `of` says what it measures: original and perturbed texts alike, any perturbed ones, those
    with several variants per example, those that keep the words and change their order, or
    questions whose options were put into other orders. `on` says whether predictions must be labels
    or numbers (any: either), or are log-probabilities of the texts themselves. `shown` is where it
    appears: in every table, on pages only, among the scores of permutations, or in files only;
    `position` orders it there. A metric with a `parameter` is written NAME@VALUE and gets the value
    as its second argument; it is measured at `points` unless others are requested.
    `needs_probabilities` marks one that says nothing of a model that gives labels only, and is not
    measured there; `least_labels` is how many labels the data must have, `copies` whether it is
    measured where one text is a copy of the other (always, where the task has a default label,
    never). `watched` says how its interval is watched while texts are predicted (`--stop-when`,
    `--fail-if`): as a mean of one value per example, as a ratio of skills, or not (default: by the
    type that the function returns). `decided_at` gives, for (task, fidelity, value of the
    parameter), the share of accepted permutations that decides an example, where one does
    (`--curtail`). `depends_on_q` marks one whose expected value changes with the number of
    permutations; `alone` says why a limit on it alone misleads, where it does: a gate then names a
    better rule. `needs_skill` marks one that means nothing of a model without skill: a gate then
    decides nothing by it.
    """

    def enter(function: F) -> F:
        own = name or function.__name__
        entry = MetricPart(
            name=own,
            function=function,
            paper=paper,
            title=title or own,
            meaning=meaning or first_paragraph(function).rstrip("."),
            better=better,
            unit=unit,
            of=of,
            on=on,
            shown=shown,
            position=position,
            parameter=parameter,
            points=points,
            needs_probabilities=needs_probabilities,
            least_labels=least_labels,
            copies=copies,
            watched=watched or _watched_by(function),
            decided_at=decided_at,
            depends_on_q=depends_on_q,
            alone=alone,
            needs_skill=needs_skill,
        )
        register(entry)
        return function

    return enter


def _watched_by(function: Callable[..., Any]) -> Literal["mean", "ratio", "never"]:
    """How the interval of a score can be watched, by the type that its function returns."""
    returned = function.__annotations__.get("return", "Mean")
    names = str(getattr(returned, "__name__", returned)).replace("|", " ").split()
    if "SkillRatio" in names:
        return "ratio"
    return "mean" if {"Share", "Mean"} & set(names) else "never"


def model(*, form: str, needs: str = "", only_reads: bool = False) -> Callable[[F], F]:
    """Register a loader of predictors; `form` shows the spec a user types.

    Its keyword-only parameters beside `task` are settings that only this kind of model takes. A
    loader with a parameter `prompt` is one of language models and gets the
    `disorder.models.prompting.Prompt` of the task. `only_reads` claims that loading reads weights
    and settings, and neither runs code that the spec names nor reaches another machine: only such a
    model is loaded because a run folder names it.
    """
    return declare(ModelPart, name=_form_name(form), form=form, needs=needs, only_reads=only_reads)


def prompt(
    *,
    words: Mapping[str, str] | None = None,
    texts: Literal[0, 1, 2] = 0,
    on: Literal["labels", "numbers", "options"] = "labels",
    of: str = "",
) -> Callable[[F], F]:
    """Register a prompt for language models: a function that returns a Jinja template.

    The template fills in `text_a`, `text_b` (None for single texts) and `options`, the words to
    choose from; its block `instruction` stands once at the beginning, the rest once per text.
    `words` maps labels to the words that stand for them; it is the prompt of every task whose
    labels are among them, none: of any task. `texts` is how many texts it takes (0: any number).
    `on` says whether labels are names, numbers whose mean is predicted, or the letters of options
    that every question has of its own (`ask` is then filled in too). `of` names the one task
    that it is for, where labels alone do not say it.
    """
    return declare(PromptPart, words=words or {}, texts=texts, on=on, of=of)


def data(
    *,
    form: str,
    needs: str = "",
    task: Task | Callable[[str], Task] | None = None,
    groups: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Register a source of rows; `form` shows the spec a user types.

    The function takes what follows the name and its colon and yields (where, row) pairs. `task`
    is the task of the data (labels, which text is perturbed, reject and default label, language),
    or a function from an address to it; without one it is guessed from the labels. `groups` names
    columns that scores are split by.
    """
    return declare(
        DataPart, name=_form_name(form), form=form, needs=needs, task=task, groups=groups
    )


def _form_name(form: str) -> str:
    return split_spec(form)[0].split("[")[0]


def network(*, paper: str = "", lr: float = 1e-3, epochs: int = 8) -> Callable[[F], F]:
    """Register a network for training from scratch, with the settings it learns well with."""
    return declare(NetworkPart, paper=paper, lr=lr, epochs=epochs)


def recipe(
    *,
    paper: str = "",
    positive: tuple[str, ...] = (),
    shares: tuple[str, ...] = (),
    of_trained: bool = False,
    perturbs: bool = False,
    spans: bool = False,
) -> Callable[[F], F]:
    """Register a way to train: which inputs, which loss, in which phases.

    `positive` names settings that must be above 0, `shares` those that must be from 0 to below 1:
    checked before data is read. `of_trained` marks those that the papers start from a fine-tuned
    model, `perturbs` those that need perturbed copies, `spans` those that can also learn answers in
    a passage.
    """
    return declare(
        RecipePart,
        paper=paper,
        positive=positive,
        shares=shares,
        of_trained=of_trained,
        perturbs=perturbs,
        spans=spans,
    )


def explanation(
    *,
    asks: str,
    paper: str = "",
    on: Literal["labels", "numbers", "any"] = "labels",
    needs: str = "",
    usual: bool = True,
) -> Callable[[F], F]:
    """Register a way to see what a model relies on; `asks` is the question above its pictures.

    `on` says whether predictions must be labels or numbers. `needs` says in words what not every
    model or machine has. `usual` ones are shown when the user names none.
    """
    return declare(ExplanationPart, paper=paper, asks=asks, on=on, needs=needs, usual=usual)


def check(
    *,
    asks: str,
    paper: str = "",
    trains: bool = True,
    pairs: bool = False,
    position: int = 100,
) -> Callable[[F], F]:
    """Register a check of a dataset; `asks` is the question that stands above its findings.

    `trains` says that models are trained for it, `pairs` that it is for pairs of texts. `position`
    orders checks on the page.
    """
    return declare(CheckPart, paper=paper, asks=asks, trains=trains, pairs=pairs, position=position)


def task(
    *, columns: tuple[tuple[str, ...], ...], scored: Literal["choice", "pair"], title: str
) -> Callable[[F], F]:
    """Register a form of data: a function that makes a `TaskRow` of a row.

    `columns` are the columns that show it, each with the names it may have, the first the usual
    one. `scored` says what a prediction is: one of the example's own options, or the preferred one
    of two texts. `title` names it in a sentence.
    """
    return declare(TaskPart, columns=columns, scored=scored, title=title)


def engine(*, name: str = "", needs: str = "") -> Callable[[F], F]:
    """Register a place where blocks are run: a function, or a class, that makes a
    `disorder.engines.Engine` from a maker of workers, the address of a cluster (None: this machine)
    and a number of workers (None: as many as there is room for).
    """
    return declare(EnginePart, name=name, needs=needs)
