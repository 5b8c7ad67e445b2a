"""What can be wrong with questions and their answers."""

from postoffice.core.errors.kinds import Conflict, Invalid, NotFound


class NoPerson(Invalid):
    """{name} is no person, and only people answer questions; ask the owner, or somebody whom the directory calls a person."""


class NoSuchChoice(Invalid):
    """{choice!r} cannot be answered; the choices are {choices}."""


class NoAnswerGiven(Invalid):
    """The answer is empty; give a choice, or say something."""


class NoSuchQuestion(NotFound):
    """There is no question {ref!r} that {name} has to do with."""


class AnsweredFirst(Conflict):
    """That question was answered first by {by}, at {at}: {said}."""


class QuestionClosed(Conflict):
    """That question is {state} since {at}; it can no longer be answered or withdrawn."""
