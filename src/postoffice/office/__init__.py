"""The office: one object with a method for each verb; every door calls it and nothing else."""

from postoffice.office.house import Auth, House
from postoffice.office.office import PostOffice

__all__ = ["Auth", "House", "PostOffice"]
