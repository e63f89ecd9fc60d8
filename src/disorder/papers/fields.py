"""The view of each request of the papers; fields.pyi says the same to type checkers."""

from disorder.papers.requests import DesignsOptions, MitigationsOptions, StudyOptions
from disorder.requests.option import view_of

DesignsFields = view_of(DesignsOptions, "DesignsFields")
MitigationsFields = view_of(MitigationsOptions, "MitigationsFields")
StudyFields = view_of(StudyOptions, "StudyFields")
