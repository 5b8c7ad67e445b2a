"""A mirror node's REST: topics, their messages, accounts and transactions, as far behind the ledger as a test wants."""

import base64
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request as Asking
from starlette.responses import Response
from starlette.routing import Route

from tests.ledger.emulator import keys
from tests.ledger.emulator.clock import SECOND, stamp
from tests.ledger.emulator.gate import Gate
from tests.ledger.emulator.names import account_name
from tests.ledger.emulator.pages import Asked, BadParameter, as_json, page
from tests.ledger.emulator.traffic import MIRROR, Request
from tests.ledger.emulator.transaction import Record

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger

_NAME = re.compile(r"\d+\.\d+\.(\d+)")
_LAST_NUMBER = 2**38 - 1
_TRANSACTION = re.compile(r"(\d+\.\d+\.\d+)-(\d+)-(\d{1,9})")
_ROOM_FOR_HEADERS = 160


class NotOk(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Mirror:
    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._last_pages: dict[str, dict[str, Any]] = {}
        self.gate: Gate | None = None
        self.app = Starlette(
            routes=[
                Route("/api/v1/topics/{id}", self._counted(self._topic)),
                Route("/api/v1/topics/{id}/messages", self._counted(self._messages)),
                Route("/api/v1/topics/{id}/messages/{sequence:int}", self._counted(self._message)),
                Route("/api/v1/accounts/{id}", self._counted(self._account)),
                Route("/api/v1/transactions/{id}", self._counted(self._transaction)),
            ]
        )

    def _counted(self, handler: Callable[[Asking], dict[str, Any]]) -> Callable[[Asking], Awaitable[Response]]:
        async def answer(asking: Asking) -> Response:
            cut = False
            try:
                self._admit()
                status, body = 200, handler(asking)
                cut = "messages" in body and self._ledger.faults.due("cut page") is not None
            except NotOk as error:
                status, body = error.status, {"_status": {"messages": [{"message": str(error)}]}}
            name = asking.url.path + (f"?{asking.url.query}" if asking.url.query else "")
            self._ledger.requests.append(Request(MIRROR, name, "cut" if cut else str(status)))
            data = msgspec.json.encode(body)
            if cut and self.gate is not None:
                self.gate.cut_after(_ROOM_FOR_HEADERS + len(data) // 2)
            return Response(data, status, media_type="application/json; charset=utf-8")

        return answer

    def _admit(self) -> None:
        if fault := self._ledger.faults.due("status"):
            raise NotOk(fault.detail, "Service unavailable" if fault.detail == 503 else "Too many requests")
        if self._ledger.mirror_throttle is not None and not self._ledger.mirror_throttle.passes():
            raise NotOk(429, "Too many requests")

    def _name(self, asking: Asking) -> str:
        name = str(asking.path_params["id"])
        if (known := _NAME.fullmatch(name)) is None or int(known[1]) > _LAST_NUMBER:
            raise NotOk(400, "Invalid parameter: id")
        return name

    def _topic(self, asking: Asking) -> dict[str, Any]:
        topic = self._ledger.topics.get(self._name(asking))
        if topic is None or not self._ledger.mirrored(topic.created, topic.arrived):
            raise NotOk(404, "Not found")
        return {
            "admin_key": keys.as_json(topic.admin_key),
            "auto_renew_account": topic.auto_renew_account,
            "auto_renew_period": topic.auto_renew_seconds,
            "created_timestamp": stamp(topic.created),
            "custom_fees": {"created_timestamp": stamp(topic.created), "fixed_fees": []},
            "deleted": False,
            "fee_exempt_key_list": [],
            "fee_schedule_key": None,
            "memo": topic.memo,
            "submit_key": keys.as_json(topic.submit_key),
            "timestamp": {"from": stamp(topic.created), "to": None},
            "topic_id": topic.id,
        }

    def _messages(self, asking: Asking) -> dict[str, Any]:
        name, ledger = self._name(asking), self._ledger
        try:
            asked = Asked.parse(asking.query_params.multi_items())
        except BadParameter as error:
            raise NotOk(400, str(error)) from error
        topic = ledger.topics.get(name)
        if (topic is None or not ledger.mirrored(topic.created, topic.arrived)) and ledger.unknown_topic != 200:
            raise NotOk(ledger.unknown_topic, "Not found")
        if name in self._last_pages and ledger.faults.due("repeat page"):
            return self._last_pages[name]
        known = [message for message in topic.messages if ledger.mirrored(message.moment, message.arrived)] if topic else []
        self._last_pages[name] = page(name, known, asked)
        return self._last_pages[name]

    def _message(self, asking: Asking) -> dict[str, Any]:
        topic = self._ledger.topics.get(self._name(asking))
        for message in topic.messages if topic else []:
            if message.sequence == asking.path_params["sequence"] and self._ledger.mirrored(message.moment, message.arrived):
                return as_json(str(asking.path_params["id"]), message)
        raise NotOk(404, "Not found")

    def _account(self, asking: Asking) -> dict[str, Any]:
        account = self._ledger.accounts.get(self._name(asking))
        if account is None or not self._ledger.mirrored(account.created, account.arrived):
            raise NotOk(404, "Not found")
        return {
            "account": account.id,
            "balance": {"balance": account.balance, "timestamp": stamp(self._ledger.clock.now()), "tokens": []},
            "created_timestamp": stamp(account.created),
            "deleted": False,
            "evm_address": f"0x{int(account.id.rpartition('.')[2]):040x}",
            "key": keys.as_json(account.key),
            "links": {"next": None},
            "memo": account.memo,
            "transactions": [],
        }

    def _transaction(self, asking: Asking) -> dict[str, Any]:
        named = _TRANSACTION.fullmatch(str(asking.path_params["id"]))
        if named is None:
            raise NotOk(400, 'Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format')
        record = self._ledger.records.get(f"{named[1]}-{named[2]}-{int(named[3]):09}")
        if record is None or record.moment is None or not self._ledger.mirrored(record.moment, record.arrived):
            raise NotOk(404, "Not found")
        return {"transactions": [_record(record, record.moment)]}


def _record(record: Record, moment: int) -> dict[str, Any]:
    transaction = record.transaction
    start = transaction.starts
    return {
        "charged_tx_fee": record.fee,
        "consensus_timestamp": stamp(moment),
        "max_fee": str(transaction.body.transactionFee),
        "memo_base64": base64.b64encode(transaction.body.memo.encode()).decode(),
        "name": transaction.kind.upper(),
        "node": account_name(transaction.body.nodeAccountID),
        "nonce": 0,
        "result": record.result,
        "scheduled": False,
        "transaction_hash": base64.b64encode(transaction.hash).decode(),
        "transaction_id": transaction.name,
        "transfers": [{"account": name, "amount": amount} for name, amount in record.transfers],
        "valid_duration_seconds": str(transaction.seconds),
        "valid_start_timestamp": f"{start // SECOND}.{start % SECOND:09}",
    }
