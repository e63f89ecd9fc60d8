"""The view of each request; fields.pyi says the same to type checkers."""

from disorder.requests.audit import AuditOptions
from disorder.requests.explain import ExplainOptions
from disorder.requests.human import HumanMakeOptions
from disorder.requests.option import view_of
from disorder.requests.perturb import ExportOptions, PerturbOptions
from disorder.requests.plan import PlanOptions
from disorder.requests.runs import BoardOptions, CompareOptions, GateOptions
from disorder.requests.sanity import SanityOptions
from disorder.requests.train import TrainOptions

AuditFields = view_of(AuditOptions, "AuditFields")
BoardFields = view_of(BoardOptions, "BoardFields")
CompareFields = view_of(CompareOptions, "CompareFields")
ExplainFields = view_of(ExplainOptions, "ExplainFields")
ExportFields = view_of(ExportOptions, "ExportFields")
GateFields = view_of(GateOptions, "GateFields")
HumanMakeFields = view_of(HumanMakeOptions, "HumanMakeFields")
PerturbFields = view_of(PerturbOptions, "PerturbFields")
PlanFields = view_of(PlanOptions, "PlanFields")
SanityFields = view_of(SanityOptions, "SanityFields")
TrainFields = view_of(TrainOptions, "TrainFields")
