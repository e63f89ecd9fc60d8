"""The kinds of parts: a typed record for each, whose fields are what its decorator takes.

All that the program knows of a part is said on its decorator, once.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from disorder.registry.lookup import F, Part, first_paragraph, register

if TYPE_CHECKING:
    from disorder.types import Task

P = ParamSpec("P")
Need = Literal["tags", "importance", "vocabulary", "training data"]
SIDES = {
    "both": "both texts",
    "task": "the text that the task names",
    "last": "the second text of a pair",
    "a": "text_a",
    "b": "text_b",
}
APPLIES = {"shots": "examples of a prompt", "options": "options of a question"}
TAGGERS = {"en": "english", "zh": "jieba"}  # language → tagger, unless a part or the user names one


def decorator(kind: Callable[P, Part]) -> Callable[P, Callable[[F], F]]:
    """The decorator that enters functions as parts of a kind; it takes the fields of the record."""

    def declare(*args: P.args, **kwargs: P.kwargs) -> Callable[[F], F]:
        def enter(function: F) -> F:
            register(kind(*args, **kwargs).with_function(function))
            return function

        return enter

    declare.__doc__ = kind.__doc__
    declare.__wrapped__ = kind  # type: ignore[attr-defined]  # its signature
    return declare


@dataclass(frozen=True, kw_only=True, eq=False)
class TransformationPart(Part):
    """A way to perturb a text.

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
    are for the options of a question (--on shots, --on options).
    """

    kind = "transformation"

    keeps: str
    destroys: str
    keeps_words: bool = False
    scope: Literal["sentence", "pair"] = "sentence"
    side: Literal["a", "b", "both", "task", "last"] = "last"
    draws: int | None = None
    deterministic: bool = False
    copies: bool = False
    suites: tuple[str, ...] = ()
    sweep: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    tagger: Mapping[str, str] = field(default_factory=dict)
    shows: tuple[str, ...] = ()
    single: bool | None = None
    units: bool | None = None
    nested: tuple[str, ...] = ()
    drawn_as: str = ""
    perturbs: Literal["words", "shots", "options"] = "words"

    def completed(self, function: Callable[..., Any]) -> dict[str, Any]:
        """What follows from the rest."""
        is_of_sentence = self.scope == "sentence"
        moves_units = self.keeps_words and is_of_sentence and not self.needs
        return {
            "draws": 1 if self.deterministic else self.draws,
            "tagger": TAGGERS | dict(self.tagger),
            "single": is_of_sentence if self.single is None else self.single,
            "units": moves_units if self.units is None else self.units,
        }

    def known(self) -> dict[str, str]:
        """What it keeps and destroys, where it applies, and how many texts it makes."""
        perturbed = f", perturbs {SIDES[self.side]}" if self.perturbs == "words" else ""
        variants = f"{self.draws}" if self.draws else "q"
        weighed = ", and what the model's loss hangs on" if "importance" in self.needs else ""
        return {
            "keeps": self.keeps,
            "destroys": self.destroys,
            "applies_to": ("single texts and pairs" if self.single else "pairs") + perturbed
            if self.perturbs == "words"
            else f"the {APPLIES[self.perturbs]} (--on {self.perturbs})",
            "languages": "those with a tagger" if "tags" in self.needs else "all",
            "needs": " and ".join(self.needs),
            "cost": f"{variants} model call{'' if variants == '1' else 's'} per example{weighed}",
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitterPart(Part):
    """A way to split a text into words."""

    kind = "words"

    language: str
    needs: str = ""

    def known(self) -> dict[str, str]:
        """Its language, and what must be installed."""
        return {"languages": self.language, "needs": self.needs}


@dataclass(frozen=True, kw_only=True, eq=False)
class TaggerPart(Part):
    """A way to find word classes."""

    kind = "tagger"

    language: str
    needs: str

    def known(self) -> dict[str, str]:
        """Its language, and what must be installed."""
        return {"languages": self.language, "needs": self.needs}


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricPart(Part):
    """A score: a function from `Outcomes` to its decomposition by example.

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

    kind = "metric"

    better: str
    title: str = ""
    meaning: str = ""
    unit: str = "share"
    of: Literal["texts", "variants", "permutations", "order", "options"] = "variants"
    on: Literal["labels", "numbers", "any", "likelihoods"] = "labels"
    shown: Literal["table", "page", "permutations", "file"] = "table"
    position: int = 100
    parameter: str = ""
    points: tuple[str, ...] = ()
    needs_probabilities: bool = False
    least_labels: int = 1
    copies: Literal["as others", "by default label", "never"] = "as others"
    watched: Literal["mean", "ratio", "never"] | None = None
    decided_at: Callable[..., Any] | None = None
    depends_on_q: bool = False
    alone: str = ""
    needs_skill: bool = False

    def completed(self, function: Callable[..., Any]) -> dict[str, Any]:
        """What follows from the rest."""
        return {
            "title": self.title or self.name or function.__name__,
            "meaning": self.meaning or first_paragraph(function).rstrip("."),
            "watched": self.watched or _watched_by(function),
        }

    def known(self) -> dict[str, str]:
        """Which way is good, and that it costs no prediction."""
        return {
            "form": f"{self.name}@{self.parameter}" if self.parameter else self.name,
            "shown_as": "" if self.title == self.name else self.title,
            "better": self.better,
            "languages": "all",
            "needs": "probabilities" if self.needs_probabilities else "",
            "cost": "no model calls",
        }


def _watched_by(function: Callable[..., Any]) -> Literal["mean", "ratio", "never"]:
    """How the interval of a score can be watched, by the type that its function returns."""
    returned = function.__annotations__.get("return", "Mean")
    names = str(getattr(returned, "__name__", returned)).replace("|", " ").split()
    if "SkillRatio" in names:
        return "ratio"
    return "mean" if {"Share", "Mean"} & set(names) else "never"


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelPart(Part):
    """A loader of predictors; `form` shows the spec a user types.

    Its keyword-only parameters beside `task` are settings that only this kind of model takes. A
    loader with a parameter `prompt` is one of language models and gets the
    `disorder.models.prompting.Prompt` of the task. `only_reads` claims that loading reads weights
    and settings, and neither runs code that the spec names (the graph of an ONNX file is such) nor
    reaches another machine: only such a model is loaded because a run folder names it.
    """

    kind = "model"

    form: str
    needs: str = ""
    only_reads: bool = False

    def completed(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Its name is that of the form."""
        return {"name": _form_name(self.form)}

    def known(self) -> dict[str, str]:
        """What a user types, and what it needs."""
        return {"form": self.form, "needs": self.needs}


def _form_name(form: str) -> str:
    """The name that a spec begins with: `builtin[:TASK]` is `builtin`."""
    return form.partition(":")[0].partition("[")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class PromptPart(Part):
    """A prompt for language models: a function that returns a Jinja template.

    The template fills in `text_a`, `text_b` (None for single texts) and `options`, the words to
    choose from; its block `instruction` stands once at the beginning, the rest once per text.
    `words` maps labels to the words that stand for them; it is the prompt of every task whose
    labels are among them, none: of any task. `texts` is how many texts it takes (0: any number).
    `on` says whether labels are names, numbers whose mean is predicted, the letters of options that
    every question has of its own (`ask` is then filled in too), or answers are open texts. `of`
    names the one task that it is for, where labels alone do not say it.
    """

    kind = "prompt"

    words: Mapping[str, str] = field(default_factory=dict)
    texts: Literal[0, 1, 2] = 0
    on: Literal["labels", "numbers", "options", "text"] = "labels"
    of: str = ""

    def known(self) -> dict[str, str]:
        """The labels that it is for, with their words."""
        named = ", ".join(f"{label} ({word})" for label, word in self.words.items())
        return {"labels": named or "any"}


@dataclass(frozen=True)
class Split:
    """A split of a named dataset: its name on the hub, and its file stems in the data folder.

    One that `joins` other splits of the set has neither: it is all of them together.
    """

    hub: str
    files: tuple[str, ...]
    joins: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class DataPart(Part):
    """A source of rows; `form` shows the spec a user types.

    The function takes what follows the name and its colon and yields (where, row) pairs. `task`
    is the task of the data (labels, which text is perturbed, reject and default label, language),
    or a function from an address to it; without one it is guessed from the labels. `groups` names
    columns that scores are split by. A set that is known by name has its address on the `hub` and
    its `splits`.
    """

    kind = "data"

    form: str
    needs: str = ""
    task: Task | Callable[[str], Task] | None = None
    groups: tuple[str, ...] = ()
    hub: str = ""
    splits: Mapping[str, Split] = field(default_factory=dict)
    default_split: str = ""

    def completed(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Its name is that of the form."""
        return {"name": _form_name(self.form)}

    def task_for(self, address: str) -> Task | None:
        """The task of the data at an address, where it is declared."""
        return self.task(address) if callable(self.task) else self.task

    def known(self) -> dict[str, str]:
        """What a user types, its labels and its language."""
        task = self.task_for("")
        return {
            "form": self.form,
            "labels": (", ".join(task.labels) or "a number") if task else "",
            "languages": task.language if task else "",
            "needs": self.needs,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskPart(Part):
    """A form of data: a function that makes a `TaskRow` of a row.

    `columns` are the columns that show it, each with the names it may have, the first the usual
    one. `scored` says what a prediction is: one of the example's own options, the preferred one of
    two texts, a text that is scored against gold answers, or a ranking of documents. `title` names
    it in a sentence.
    """

    kind = "task"

    columns: tuple[tuple[str, ...], ...]
    scored: Literal["choice", "pair", "text", "ranking"]
    title: str

    def known(self) -> dict[str, str]:
        """The columns that show it."""
        return {"shown_as": self.title, "needs": f"columns {_either(self.columns)}"}


def _either(columns: tuple[tuple[str, ...], ...]) -> str:
    shown = ("/".join([*names[:3], "…"] if len(names) > 3 else names) for names in columns)
    return " and ".join(shown)


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkPart(Part):
    """A network that is trained from scratch; `lr` and `epochs` are what it learns well with."""

    kind = "network"

    lr: float = 1e-3
    epochs: int = 8

    def known(self) -> dict[str, str]:
        """How it learns well."""
        return {"needs": "torch", "cost": f"{self.epochs} epochs at lr {self.lr:g}"}


@dataclass(frozen=True, kw_only=True, eq=False)
class RecipePart(Part):
    """A way to train: which inputs, which loss, in which phases.

    `positive` names settings that must be above 0, `shares` those that must be from 0 to below 1:
    checked before data is read. `of_trained` marks those that the papers start from a fine-tuned
    model, `perturbs` those that need perturbed copies, `spans` those that can also learn answers in
    a passage.
    """

    kind = "recipe"

    positive: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    of_trained: bool = False
    perturbs: bool = False
    spans: bool = False

    def known(self) -> dict[str, str]:
        """What it starts from, and learns from beside the texts."""
        return {
            "applies_to": "a fine-tuned model, in its paper" if self.of_trained else "",
            "cost": "a training, on perturbed copies too" if self.perturbs else "a training",
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplanationPart(Part):
    """A way to see what a model relies on; `asks` is the question above its pictures.

    `on` says whether predictions must be labels or numbers. `needs` says in words what not every
    model or machine has. `usual` ones are shown when the user names none. `calls` takes the subject
    and the settings, and gives how many texts are predicted at most, by what they are (those of one
    name are shared with other explanations); without it, those that `subject.perturbed()` predicts.
    Those that do not `needs_gold` look at texts alone, and their data may have no labels.
    """

    kind = "explanation"

    asks: str
    on: Literal["labels", "numbers", "any"] = "labels"
    needs: str = ""
    usual: bool = False
    calls: Callable[..., Mapping[str, int]] | None = None
    needs_gold: bool = True

    def known(self) -> dict[str, str]:
        """Its question, what predictions it is for, and which texts it predicts."""
        shared = "the perturbed texts, which explanations share"
        return {
            "asks": self.asks,
            "applies_to": {"any": "labels and numbers"}.get(self.on, self.on),
            "needs": self.needs,
            "cost": "texts of its own; a line counts them first" if self.calls else shared,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckPart(Part):
    """A check of a dataset; `asks` is the question that stands above its findings.

    `trains` says that models are trained for it, `pairs` that it is for pairs of texts. `position`
    orders checks on the page.
    """

    kind = "check"

    asks: str
    trains: bool = True
    pairs: bool = False
    position: int = 100

    def known(self) -> dict[str, str]:
        """Its question, and whether models are trained for it."""
        return {
            "asks": self.asks,
            "needs": "pairs of texts" if self.pairs else "",
            "cost": "trains models" if self.trains else "trains nothing",
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class EnginePart(Part):
    """A place where blocks are run: a function, or a class, that makes a `disorder.engines.Engine`
    from a maker of workers, the address of a cluster (None: this machine) and a number of workers
    (None: as many as there is room for).
    """

    kind = "engine"

    needs: str = ""

    def known(self) -> dict[str, str]:
        """What must be installed."""
        return {"needs": self.needs}


@dataclass(frozen=True, kw_only=True, eq=False)
class VerbPart(Part):
    """A command: a function with typer's declarations of its options.

    `group` is the heading that it stands under in the short help. `python` is the address of the
    function that is `disorder.NAME` (`package.module:function`), loaded when it is first used.
    `reads` is the address of the function that reads a folder of its results: `disorder report
    FOLDER` renders the `result` of what it returns.
    """

    kind = "verb"

    group: str
    python: str = ""
    reads: str = ""

    def python_function(self) -> Any:
        """The function that is `disorder.NAME`."""
        return loaded(self.python)

    def folder_reader(self) -> Any:
        """The function that reads a folder of its results."""
        return loaded(self.reads)


def loaded(address: str) -> Any:
    """What an address names, `package.module:name`, imported now."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


transformation = decorator(TransformationPart)
words = decorator(SplitterPart)
tagger = decorator(TaggerPart)
metric = decorator(MetricPart)
model = decorator(ModelPart)
prompt = decorator(PromptPart)
data = decorator(DataPart)
task = decorator(TaskPart)
network = decorator(NetworkPart)
recipe = decorator(RecipePart)
explanation = decorator(ExplanationPart)
check = decorator(CheckPart)
engine = decorator(EnginePart)
verb = decorator(VerbPart)
