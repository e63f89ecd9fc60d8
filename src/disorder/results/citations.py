"""What to cite: the sentence for a methods section, and BibTeX for it.

The papers of a run are those that its transformations and metrics declare.
"""

from __future__ import annotations

from collections.abc import Iterable

from disorder.registry import TransformationPart, metric_named, parts
from disorder.results.markup import latex_code, latex_text, latex_title
from disorder.results.run import Run
from disorder.results.writing import shown, title_of

PAPERS = {
    "UNLI": (
        "sinha-etal-2021-unnatural",
        """@inproceedings{sinha-etal-2021-unnatural,
  title     = {{UnNatural Language Inference}},
  author    = {Sinha, Koustuv and Parthasarathi, Prasanna and Pineau, Joelle and Williams, Adina},
  booktitle = {Proceedings of the 59th Annual Meeting of the Association for Computational
               Linguistics and the 11th International Joint Conference on Natural Language
               Processing (Volume 1: Long Papers)},
  pages     = {7329--7346},
  year      = {2021},
  doi       = {10.18653/v1/2021.acl-long.569},
}""",
    ),
    "OOO": (
        "pham-etal-2021-order",
        """@inproceedings{pham-etal-2021-order,
  title     = {Out of Order: How Important Is The Sequential Order of Words in a Sentence in
               Natural Language Understanding Tasks?},
  author    = {Pham, Thang and Bui, Trung and Mai, Long and Nguyen, Anh},
  booktitle = {Findings of the Association for Computational Linguistics: ACL-IJCNLP 2021},
  pages     = {1145--1160},
  year      = {2021},
  doi       = {10.18653/v1/2021.findings-acl.98},
}""",
    ),
    "WS": (
        "gupta-etal-2021-bert",
        """@inproceedings{gupta-etal-2021-bert,
  title     = {{BERT} \\& Family Eat Word Salad: Experiments with Text Understanding},
  author    = {Gupta, Ashim and Kvernadze, Giorgi and Srikumar, Vivek},
  booktitle = {Proceedings of the AAAI Conference on Artificial Intelligence},
  volume    = {35},
  number    = {14},
  pages     = {12946--12954},
  year      = {2021},
  doi       = {10.1609/aaai.v35i14.17531},
}""",
    ),
    "NDSC": (
        "talman-etal-2021-nli",
        """@inproceedings{talman-etal-2021-nli,
  title     = {{NLI} Data Sanity Check: Assessing the Effect of Data Corruption on Model
               Performance},
  author    = {Talman, Aarne and Apidianaki, Marianna and Chatzikyriakidis, Stergios and
               Tiedemann, J{\\"o}rg},
  booktitle = {Proceedings of the 23rd Nordic Conference on Computational Linguistics (NoDaLiDa)},
  pages     = {276--287},
  year      = {2021},
}""",
    ),
}  # as parts name them → key, entry
SOFTWARE = """@software{{disorder,
  title   = {{disorder: Does your model read, or does it only count words?}},
  author  = {{{{The disorder contributors}}}},
  version = {{{version}}},
  license = {{Apache-2.0}},
}}"""


def methods(run: Run) -> str:
    """The sentence for a methods section, in LaTeX, then the BibTeX that it cites."""
    return f"{methods_sentence(run)}\n\n{bibtex(run)}\n"


def methods_sentence(run: Run) -> str:
    """Protocol, q, seed, data, versions and fidelity in LaTeX."""
    version = run.versions.get("disorder", "")
    cited = ", ".join(["disorder", *(PAPERS[name][0] for name in papers_of(run))])
    fidelity = run.settings.get("fidelity", "paper")
    said = {
        "natural": "words with all that is glued to them",
        "paper": "as the papers describe it",
        "released": "as their released code does it",
    }[str(fidelity)]
    return (
        f"We audited {latex_code(run.model)} on {latex_code(run.data)} ({_examples(run)}) with "
        f"disorder {latex_text(version)} \\citep{{{cited}}}: every text was perturbed by "
        f"{_transformations(run)} (seed {run.seed}), {said} "
        f"(fidelity {latex_code(str(fidelity))}), and the model "
        f"predicted again, {run.n_predictions:,} predictions in all. We report "
        f"{_metrics(run)}, with 95\\,\\% intervals over examples{_hashes(run)}."
    )


def _examples(run: Run) -> str:
    if run.n_available > run.n_examples:
        return f"{run.n_examples:,} of {run.n_available:,} examples"
    return f"{run.n_examples:,} examples"


def _transformations(run: Run) -> str:
    counts = {spec: run.variants.get(spec, 1) for spec in run.transformations}
    return _and([f"{latex_code(spec)} ({n} variant{'s' * (n > 1)})" for spec, n in counts.items()])


def _metrics(run: Run) -> str:
    measured = [record.metric for record in run.scores if record.group == "all"]
    return _and([latex_title(title_of(name)) for name in shown(measured, "table", "permutations")])


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _hashes(run: Run) -> str:
    told = [f"{name} {digest[:12]}" for name, digest in sorted(run.hashes.items()) if digest]
    versions = [f"{name} {number}" for name, number in run.versions.items() if name != "disorder"]
    parts_told = [*(f"hash of the {each}" for each in told), *versions]
    return f" ({latex_text(', '.join(parts_told))})" if parts_told else ""


def papers_of(run: Run) -> list[str]:
    """The papers whose transformations or metrics a run has, in the order of `PAPERS`."""
    found = {*_transformation_papers(run.transformations), *_metric_papers(run)}
    return [name for name in PAPERS if name in found]


def _transformation_papers(specs: Iterable[str]) -> Iterable[str]:
    known = parts(TransformationPart)
    for spec in specs:
        for step in spec.split("+"):
            part = known.get(step.split(":")[0])
            if part is not None:
                yield from part.paper.replace(",", " ").split()


def _metric_papers(run: Run) -> Iterable[str]:
    for name in dict.fromkeys(record.metric for record in run.scores):
        part = metric_named(name)
        if part is not None:
            yield from part.paper.replace(",", " ").split()


def bibtex(run: Run) -> str:
    """BibTeX of the program and of the papers of a run."""
    version = run.versions.get("disorder", "")
    return "\n\n".join([SOFTWARE.format(version=version), *(PAPERS[n][1] for n in papers_of(run))])
