"""What the world is told of an agent."""

import json

import pytest

from postoffice.core.agent import Card
from postoffice.core.ledger import Account
from postoffice.core.profile import CODES, capability_codes, definition, profile, uaid

QUINN = Account(agent="quinn", account_id="0.0.100", inbound_topic_id="0.0.101", outbound_topic_id="0.0.102")


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (("code", "orchestration", "workflow automation"), (4, 16, 18)),
        (("Code-Review", "MULTI_AGENT coordination"), (4, 16)),
        (("reads minds",), (0,)),
        ((), (0,)),
    ],
)
def test_words_come_to_numbers_where_they_are_known(words: tuple[str, ...], codes: tuple[int, ...]) -> None:
    assert capability_codes(Card(capabilities=words)) == codes


def test_numbers_that_are_named_win_over_words() -> None:
    assert capability_codes(Card(capabilities=("code",), metadata={"hcs11_capabilities": [18, 7, 7, 99, "x", True]})) == (7, 18)
    assert capability_codes(Card(capabilities=("code",), metadata={"hcs11_capabilities": "7"})) == (4,)


def test_no_word_means_two_things() -> None:
    words = [word for names in CODES.values() for word in names]
    assert len(words) == len(set(words))
    assert sorted(CODES) == list(range(19))


def test_the_definition_is_the_seeds() -> None:
    card = Card(display_name="Quinn", model="claude-sonnet-4-6", capabilities=("code", "coordination", "automation"))
    told = json.loads(definition(QUINN, card, "testnet"))
    told["agent"]["hcs11_profile"].pop("uaid")
    assert told == {
        "type": "agent_definition",
        "agent": {
            "slug": "quinn",
            "name": "Quinn",
            "hcs11_profile": {
                "version": "1.0",
                "type": 1,
                "display_name": "Quinn",
                "aiAgent": {"type": 1, "model": "claude-sonnet-4-6", "capabilities": [4, 16, 18]},
                "inboundTopicId": "0.0.101",
                "outboundTopicId": "0.0.102",
            },
        },
    }


def test_what_a_card_leaves_out_is_filled_in() -> None:
    told = profile(Account(agent="code-monkey", account_id="0.0.1", inbound_topic_id="0.0.2", outbound_topic_id="0.0.3"), Card(), "testnet")
    assert (told["display_name"], told["aiAgent"]["model"], told["aiAgent"]["capabilities"]) == ("Code Monkey", "unknown", [0])


def test_the_universal_id_changes_with_what_it_stands_for_and_says_where() -> None:
    one = uaid(QUINN, "Quinn", (4,), "testnet")
    assert one == uaid(QUINN, "Quinn", (4,), "testnet")
    assert len({one, uaid(QUINN, "Quinn", (5,), "testnet"), uaid(QUINN, "Quinn", (4,), "mainnet")}) == 3
    assert one.startswith("uaid:aid:")
    assert one.endswith(";uid=0.0.101@0.0.100;registry=postoffice;proto=hcs-10;nativeId=hedera:testnet:0.0.100")
