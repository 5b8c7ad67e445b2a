"""The office: one object with a method for each verb; every door calls it and nothing else."""

from postoffice.core.policy import Auth
from postoffice.office.office import PostOffice
from postoffice.office.rules import OfficeRules

__all__ = ["Auth", "OfficeRules", "PostOffice"]
