"""The life of a task: every pair of states."""

import itertools

import pytest

from postoffice.core.errors import BadTaskMove, TaskFinal
from postoffice.core.task import FINAL, UNDER_WAY, TaskState, moves

PENDING, ACCEPTED, WORKING, COMPLETED, REJECTED, FAILED, CANCELED = TaskState

ALLOWED: dict[tuple[TaskState, TaskState], tuple[TaskState, ...]] = {
    (PENDING, PENDING): (PENDING,),
    (PENDING, ACCEPTED): (ACCEPTED,),
    (PENDING, WORKING): (ACCEPTED, WORKING),
    (PENDING, COMPLETED): (ACCEPTED, WORKING, COMPLETED),
    (PENDING, REJECTED): (REJECTED,),
    (PENDING, FAILED): (FAILED,),
    (ACCEPTED, ACCEPTED): (ACCEPTED,),
    (ACCEPTED, WORKING): (WORKING,),
    (ACCEPTED, COMPLETED): (WORKING, COMPLETED),
    (ACCEPTED, FAILED): (FAILED,),
    (WORKING, WORKING): (WORKING,),
    (WORKING, COMPLETED): (COMPLETED,),
    (WORKING, FAILED): (FAILED,),
}
UNFINISHED = [state for state in TaskState if state not in FINAL]


@pytest.mark.parametrize(("state", "wanted"), list(ALLOWED))
def test_an_allowed_move_records_the_steps_it_implies(state: TaskState, wanted: TaskState) -> None:
    assert moves("t", state, wanted) == ALLOWED[state, wanted]


@pytest.mark.parametrize(("state", "wanted"), [pair for pair in itertools.product(UNFINISHED, TaskState) if pair not in ALLOWED])
def test_every_other_move_of_an_unfinished_task_is_refused(state: TaskState, wanted: TaskState) -> None:
    with pytest.raises(BadTaskMove, match=f"from {state} to {wanted}"):
        moves("t", state, wanted)


@pytest.mark.parametrize(("state", "wanted"), list(itertools.product(sorted(FINAL), TaskState)))
def test_final_is_final(state: TaskState, wanted: TaskState) -> None:
    with pytest.raises(TaskFinal, match=state):
        moves("t", state, wanted)


def test_finished_and_under_way_are_those_of_the_contract() -> None:
    assert {COMPLETED, REJECTED, FAILED, CANCELED} == FINAL
    assert {ACCEPTED, WORKING} == UNDER_WAY


def test_single_steps_lead_where_one_leap_does() -> None:
    for (state, wanted), road in ALLOWED.items():
        at = state
        for step in road:
            assert step in moves("t", at, step)
            at = step
        assert at is wanted


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("in_progress", TaskState.WORKING),
        ("Cancelled", TaskState.CANCELED),
        ("In Progress", TaskState.WORKING),
        ("in-progress", TaskState.WORKING),
        ("started", TaskState.WORKING),
        ("done", TaskState.COMPLETED),
        ("DONE", TaskState.COMPLETED),
        ("finished", TaskState.COMPLETED),
        ("declined", TaskState.REJECTED),
        ("error", TaskState.FAILED),
        ("todo", TaskState.PENDING),
        ("accept", TaskState.ACCEPTED),
    ],
)
def test_what_is_written_for_a_state_means_it(word: str, state: TaskState) -> None:
    assert TaskState(word) is state


@pytest.mark.parametrize("word", ["", "perhaps", "not done", "undone"])
def test_what_means_no_state_is_none(word: str) -> None:
    with pytest.raises(ValueError, match="is not a valid TaskState"):
        TaskState(word)
