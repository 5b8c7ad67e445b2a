"""The same against Hedera's testnet, where credentials are given: HEDERA_TESTNET_ACCOUNT and HEDERA_TESTNET_KEY. It costs some cents of play money."""

import os
from pathlib import Path

import pytest

from postoffice.bridges.ledger import LedgerBridge
from postoffice.bridges.ledger.network import LedgerNetwork
from postoffice.core.draft import Draft
from postoffice.core.ledger import OUTBOUND_MEMO, Account, inbound_memo
from postoffice.office import OfficeRules, PostOffice
from postoffice.office.rules import LedgerRules
from postoffice.wake.local import LocalWake
from tests.engines import SQLiteEngine
from tests.ledger.house import until
from tests.ledger.not_run import CREDENTIALS, given

pytestmark = [
    pytest.mark.skipif(not given(), reason=f"not run: {' and '.join(CREDENTIALS)} are not set"),
    pytest.mark.timeout(300),
]


async def test_a_message_goes_over_testnet_and_comes_back(tmp_path: Path) -> None:
    account, key = (os.environ[name] for name in CREDENTIALS)
    network = LedgerNetwork("testnet", account, {account: key})
    made = [network.submit(network.sign_topic(memo)) for memo in (inbound_memo(account), OUTBOUND_MEMO) * 2]
    assert all(made)
    house = OfficeRules(ledger=LedgerRules(), tick=3600)
    async with PostOffice(SQLiteEngine(tmp_path).store(), LocalWake(), house) as office:
        for name, (inbound, outbound) in {"quinn": made[:2], "mindy": made[2:]}.items():
            await office.identify(name=name)
            place = Account(agent=name, account_id=account, inbound_topic_id=str(inbound), outbound_topic_id=outbound)
            await office.ledger.keep_account(office.owner(), place)
        async with LedgerBridge(office, network, str(network.mirror_url()), per_second=5, least=2, most=10):
            quinn, mindy = [await office.identify(name=name) for name in ("quinn", "mindy")]
            for text in ("short", "long " * 600):
                sent = await office.publish(quinn, Draft(to="mindy", subject="testnet", content=text))
                assert [one.ledger for one in sent.posted] == ["awaiting"]

                async def arrived(id: str = sent.message_id) -> bool:
                    return id in [message.id for message in (await office.waiting(mindy)).items]

                await until(arrived, seconds=120)
