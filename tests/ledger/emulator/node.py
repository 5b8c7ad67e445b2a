"""A consensus node: the services of the SDK's own stubs on a port of this machine."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.message_factory import GetMessageClass
from hiero_sdk_python.hapi.services import consensus_service_pb2, crypto_service_pb2
from hiero_sdk_python.hapi.services.transaction_response_pb2 import TransactionResponse
from hiero_sdk_python.response_code import ResponseCode

from tests.ledger.emulator import fees, queries
from tests.ledger.emulator.gate import HOST, Gate
from tests.ledger.emulator.precheck import precheck
from tests.ledger.emulator.traffic import NODE, Request
from tests.ledger.emulator.transaction import Refused, Transaction

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger

_SERVICES = (
    crypto_service_pb2.DESCRIPTOR.services_by_name["CryptoService"],
    consensus_service_pb2.DESCRIPTOR.services_by_name["ConsensusService"],
)


class Node:
    def __init__(self, ledger: "Ledger", account: str) -> None:
        self.account = account
        self._ledger = ledger
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers([self._handlers(service) for service in _SERVICES])
        self.gate = Gate(self._server.add_insecure_port(f"{HOST}:0"))

    async def open(self) -> None:
        await self._server.start()
        await self.gate.open()

    async def close(self) -> None:
        await self.gate.shut()
        await self._server.stop(None)

    def _handlers(self, service: Any) -> Any:
        """Every method of a service: a transaction is handed in, a query answered."""
        return grpc.method_handlers_generic_handler(
            service.full_name,
            {
                method.name: grpc.unary_unary_rpc_method_handler(
                    partial(self._submit if method.input_type.name == "Transaction" else self._ask, method.name),
                    request_deserializer=GetMessageClass(method.input_type).FromString,
                    response_serializer=GetMessageClass(method.output_type).SerializeToString,
                )
                for method in service.methods
            },
        )

    async def _submit(self, method: str, wire: Any, _: Any) -> Any:
        faults = self._ledger.faults
        if fault := faults.due("refuse", method):
            return self._answer(method, fault.detail)
        cut, silence = faults.due("cut", method), faults.due("silence", method)
        code = self._take(wire) if not cut or cut.detail else ResponseCode.OK
        if cut:
            self._cut(method)
            return TransactionResponse()
        if silence:
            await self._keep_silent(method)
        return self._answer(method, code, wire)

    def _take(self, wire: Any) -> Any:
        try:
            self._ledger.accept(precheck(self._ledger, wire, self.account))
        except Refused as refused:
            return refused.code
        return ResponseCode.OK

    async def _ask(self, method: str, query: Any, _: Any) -> Any:
        faults = self._ledger.faults
        if fault := faults.due("refuse", method, named=True):
            self._log(method, fault.detail.name)
            return queries.refusal(query, fault.detail)
        if faults.due("cut", method, named=True):
            self._cut(method)
            return queries.refusal(query, ResponseCode.OK)
        if faults.due("silence", method, named=True):
            await self._keep_silent(method)
        response = queries.answer(self._ledger, query, self.account)
        said = getattr(response, response.WhichOneof("response")).header.nodeTransactionPrecheckCode
        self._log(method, ResponseCode(said).name)
        return response

    def _answer(self, method: str, code: Any, wire: Any = None) -> Any:
        self._log(method, code.name)
        cost = fees.PRICES[Transaction.parse(wire).kind] if code == ResponseCode.INSUFFICIENT_TX_FEE and wire else 0
        return TransactionResponse(nodeTransactionPrecheckCode=code, cost=cost)

    def _cut(self, method: str) -> None:
        """Break the connection; what is answered afterwards goes nowhere."""
        self._log(method, "cut")
        self.gate.cut()

    async def _keep_silent(self, method: str) -> None:
        self._log(method, "silence")
        await asyncio.Event().wait()  # until the caller gives up

    def _log(self, method: str, answer: str) -> None:
        self._ledger.requests.append(Request(NODE, method, answer))
