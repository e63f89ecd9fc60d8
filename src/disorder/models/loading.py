"""Loading a model: from a spec, or from any object that can predict, to a predictor."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from disorder.errors import BadModel, DisorderError, option
from disorder.models.answering import Match, graded_answers
from disorder.models.embed import is_embedder
from disorder.models.hf import labels_in
from disorder.models.likelihood import likelihood_of, preference_of
from disorder.models.loaded_model import LoadedModel
from disorder.models.outputs import calibration_of, label_columns
from disorder.models.protocols import Batching, Costly, Precision, TakesSegments
from disorder.models.python import as_predictor, check_importable, with_own_names
from disorder.models.ranking import ranker_of
from disorder.models.servers.addresses import split_address
from disorder.registry import ModelPart, part, parts
from disorder.safe_io import check_regular_files, reason
from disorder.store.hub import check_on_hub
from disorder.store.prediction_cache import PredictionCache
from disorder.types import Floats, Predictor, Task, Texts
from disorder.types.predictions import predicted_label

PROMPT = "prompt"  # what loaders of language models take beside the task
# what a model of the hub is called: mostly with its owner, or with a dash
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+|[\w.]+-[\w.-]+")
PICKLES = (".joblib", ".pkl", ".pickle")  # endings of saved scikit-learn models
CACHE = "cache_folder"  # what loaders take that remember something beside predictions


def load(
    model: Any,
    *,
    task: Task,
    labels: Mapping[str, str] | None = None,
    batch_size: int | None = None,
    precision: str = "fp32",
    cache: Path | None = None,
    options: Mapping[str, Any] | None = None,
    no_answer: str = "skip",
    match: Match | None = None,
) -> LoadedModel:
    """A predictor whose columns are the task's labels, from a spec or from any Python object that
    can predict.

    `options` are settings that only some loaders take, such as `base_url`; those of language models
    (`is_prompted`) take `prompt`. `no_answer` says what becomes of texts that the model does not
    answer: "skip", "abstain", or "declined": abstain where the model read the text. `match` says
    how far an open answer is right, or how good a ranking is.
    """
    model = full_spec(model)
    title = model if isinstance(model, str) else name_of(model)
    told = labels_in(model.partition(":")[2]) if title.startswith("hf:") else ()
    if told and not task.is_likelihood and task.kind == "labels":  # before seconds of loading
        label_columns(title, told, task, labels or {})
    predictor = _predictor(model, task, options or {}, cache)
    if labels:
        predictor = with_own_names(predictor, labels, task)
    if task.is_likelihood:
        predictor = likelihood_of(title, predictor)
    if task.kind == "pair":
        predictor = preference_of(title, predictor)
    if task.kind == "text":
        predictor = graded_answers(title, predictor, match)
    if task.kind == "ranking":
        predictor = ranker_of(title, predictor, match, task)
    if task.kind == "choice" and not isinstance(predictor, TakesSegments):
        raise BadModel(
            f"{title} predicts fixed labels; multiple choice needs a language model (causal:…, "
            "openai:…), or a function that takes a question with its options"
        )
    if batch_size is not None and isinstance(predictor, Batching):
        predictor.batch_size = batch_size
    if precision != "fp32":
        _set_precision(title, predictor, precision)
    is_costly = isinstance(predictor, Costly) and predictor.is_costly
    is_cached = cache is not None and is_costly and bool(predictor.fingerprint)
    columns = label_columns(title, predictor.labels, task, labels or {})
    return LoadedModel(
        predictor,
        title,
        task.labels,
        columns,
        precision,
        PredictionCache(cache) if cache is not None and is_cached else None,
        calibration_of(model) if isinstance(model, str) and predictor.labels else None,
        no_answer,
    )


def name_of(model: Any) -> str:
    """What a model that is no spec is called: the name of a function, else of its class; of
    (model, tokenizer) that of the model.
    """
    if isinstance(model, tuple | list) and model:
        model = next((each for each in model if hasattr(each, "config")), model[0])
    is_named = inspect.isroutine(model) or inspect.isclass(model)
    return str(model.__name__ if is_named else type(model).__name__)


def full_spec(model: Any) -> Any:
    """A spec with its kind, which a file can go without: FILE.py:FUNCTION, FILE.joblib, FILE.onnx;
    a path is a spec. Anything else as it is.
    """
    spec = str(model) if isinstance(model, Path) else model
    if not isinstance(spec, str) or spec.partition(":")[0] in parts(ModelPart):
        return spec
    file, _, name = spec.rpartition(":")
    if file.endswith(".py") and name:
        return f"python:{spec}"
    if Path(spec).is_file() and Path(spec).suffix in (*PICKLES, ".onnx"):
        return f"{'onnx' if spec.endswith('.onnx') else 'sklearn'}:{spec}"
    return spec


def is_prompted(model: Any) -> bool:
    """Whether a model is a language model, which is asked by a prompt."""
    if not isinstance(model, str):
        return False
    entry = parts(ModelPart).get(model.partition(":")[0])
    return entry is not None and PROMPT in _options_of(entry.function)


def _predictor(model: Any, task: Task, options: Mapping[str, Any], cache: Path | None) -> Predictor:
    if not isinstance(model, str):
        _check_options(name_of(model), ("threshold",) if is_embedder(model) else (), options)
        return as_predictor(model, task=task, **options)
    name, _, address = model.partition(":")
    check_exists(model)
    loader = part(ModelPart, name).function
    taken = _options_of(loader)
    _check_options(model, taken, options)
    if CACHE in taken:
        options = {**options, CACHE: cache}
    with loading(model):
        if address:
            check_regular_files(Path(address))
        predictor: Predictor = loader(address, task=task, **options)
    return predictor


@contextmanager
def loading(spec: str) -> Iterator[None]:
    """Inside this, whatever a library raises on a damaged folder, or a user's module on import, is
    a `BadModel`: no list of types is complete, and the cause stays attached.
    """
    try:
        yield
    except (DisorderError, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # Rust's panics are no `Exception`
        told = f"{type(error).__name__}: {reason(error)}"
        raise BadModel(f"{spec} cannot be loaded ({told})") from error


def _options_of(loader: Callable[..., Any]) -> list[str]:
    """The settings that a loader takes beside the task: its keyword-only parameters."""
    parameters = inspect.signature(loader).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "task"]


def _check_options(model: str, taken: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise on a setting that this kind of model does not take."""
    for name in options:
        if name not in taken:
            kinds = [
                f"{kind}:"
                for kind, entry in parts(ModelPart).items()
                if name in _options_of(entry.function)
            ]
            forms = " and ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
            raise BadModel(f"{option(name)} is for {forms} models; {model} is none")


def check_exists(spec: str) -> None:
    """Raise where there is no such kind of model, with what was probably meant, and no such folder
    where a path is given.
    """
    name, _, address = full_spec(spec).partition(":")
    if name in parts(ModelPart):
        form = parts(ModelPart)[name].form
        is_path = "FOLDER" in form and address.startswith(("/", "./", "../", "~"))
        if is_path and not Path(address).expanduser().exists():
            what = "file or folder" if "FILE" in form else "folder"
            raise BadModel(f"{spec}: no such {what}")
        return
    if Path(spec).is_dir():
        is_onnx = any(Path(spec).glob("*.onnx")) and not any(Path(spec).glob("*.safetensors"))
        raise BadModel(f"{spec} is a folder: write {'onnx' if is_onnx else 'hf'}:{spec}")
    if Path(spec).is_file() and Path(spec).suffix == ".py":
        raise BadModel(f"{spec} is a Python file: name its function, {spec}:FUNCTION")
    if Path(spec).is_file():
        raise BadModel(f"{spec} is a file, and the model comes first: disorder audit MODEL {spec}")
    if spec.count(":") == 1 and all(
        word.isidentifier() for word in spec.replace(":", ".").split(".")
    ):
        raise BadModel(f"unknown model {spec!r}; for a function of yours write python:{spec}")
    if HUB_NAME.fullmatch(spec) and not get_close_matches(spec, parts(ModelPart)):
        raise BadModel(f"unknown model {spec!r}; did you mean hf:{spec}, a model of the hub?")
    part(ModelPart, name)


def check_available(spec: str, base_url: str | None) -> None:
    """Raise where an audit could not load a model, as far as that shows without loading it."""
    check_exists(spec)
    name, _, address = full_spec(spec).partition(":")
    found = part(ModelPart, name)
    if "URL" in found.form or (base_url is not None and "server" in found.needs):
        split_address(address, base_url, kind=name)
        return
    if not address or Path(address).expanduser().exists():
        return
    if "NAME" in found.form:
        check_on_hub(spec, address)
    elif "FOLDER" in found.form or found.form.endswith(":FILE"):
        raise BadModel(f"{spec}: no such file or folder")
    elif found.form.startswith("python:"):
        check_importable(address)


def _set_precision(name: str, predictor: Predictor, precision: str) -> None:
    if not isinstance(predictor, Precision):
        raise BadModel(
            f"{name} runs in one precision only; {option('precision', precision)} is for hf: models"
        )
    predictor.use_precision(precision)


CANDIDATES = ("bf16", "int8")
WORTH = 1.15  # times faster, or it is not worth it


def choose_precision(
    load: Callable[[str], LoadedModel], texts: Sequence[Texts], agree: float
) -> tuple[str, str]:
    """The fastest precision whose predictions agree with fp32 on at least `agree` of a sample, and
    a line that says so.
    """
    sample = list(texts)
    exact = load("fp32")
    expected, seconds = _timed(exact, sample)
    best = "fp32"
    note = "precision fp32: no faster one agrees"
    for precision in _offered(exact):
        try:
            predictions, took = _timed(load(precision), sample)
        except DisorderError as error:
            return "fp32", f"precision fp32: {error}"
        rate = float((predicted_label(predictions) == predicted_label(expected)).mean())
        if rate >= agree and took * WORTH < seconds:
            best = precision
            seconds = took
            note = (
                f"precision {precision}: {rate:.3f} of {len(sample)} sampled predictions "
                f"agree with fp32 (bound {agree})"
            )
    return best, note


def _offered(model: LoadedModel) -> tuple[str, ...]:
    """The faster precisions that a model can run in; all, to be told why, if it has but one."""
    if not isinstance(model.predictor, Precision):
        return CANDIDATES
    return tuple(each for each in CANDIDATES if each in model.predictor.precisions)


def _timed(predictor: LoadedModel, sample: Sequence[Texts]) -> tuple[Floats, float]:
    """Predictions without the cache, the time of the second of two runs."""
    predictor.cache = None
    predictions = predictor(sample)
    began = time.perf_counter()
    predictor(sample)
    return predictions, time.perf_counter() - began
