"""The office: one object with a method for each verb; every door calls it and nothing else."""

from postoffice.core.policy import Auth
from postoffice.office.house import House
from postoffice.office.office import PostOffice

__all__ = ["Auth", "House", "PostOffice"]
