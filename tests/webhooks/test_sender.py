"""One attempt: what is looked up is what is posted to, and its certificate is asked for by its name."""

import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from postoffice.bridges.webhooks.sender import Sender
from postoffice.core.webhook import Outgoing, Tried
from tests.webhooks.receiver import Receiver, receiving

LOOPBACK = (ip_network("127.0.0.0/8"),)
OUT = Outgoing(webhook="w", number=1, id="id", body="{}", attempts=0)


async def post(url: str) -> Tried:
    sender = Sender(LOOPBACK)
    try:
        return await sender.post(url, OUT, {})
    finally:
        await sender.close()


async def test_a_name_is_looked_up_once_and_posted_to_where_it_was_found(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers with a public address first and with a private one later gains nothing."""
    port = httpx2.URL(receiver.url).port
    answers = iter(["127.0.0.1", "10.0.0.1"])
    looked_up: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: Any, *arguments: Any, **more: Any) -> Any:
        if host != "rebound.example":
            return real(host, *arguments, **more)
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    tried = await post(f"http://rebound.example:{port}/hook?x=1")
    assert tried.error is None
    assert looked_up == ["rebound.example"]
    (got,) = receiver.taken
    assert (got.path, got.headers["host"]) == ("/hook?x=1", f"rebound.example:{port}")


async def test_what_nobody_listens_on_says_so() -> None:
    assert "cannot be reached" in ((await post("http://127.0.0.1:1/")).error or "")
    assert "cannot be reached" in ((await post("http://no-such-name.invalid/")).error or "")


async def test_an_address_that_asks_for_quiet_gets_it(receiver: Receiver) -> None:
    receiver.status, receiver.headers = 429, {"Retry-After": "120"}
    tried = await post(receiver.url)
    assert (tried.error, tried.wait and tried.wait.total_seconds()) == ("it answered 429", 120)


async def test_https_is_checked_by_the_name_though_the_address_is_pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trust, certified = _authority(tmp_path, "good.example")
    real = socket.getaddrinfo

    def here(host: Any, port: Any, *arguments: Any, **more: Any) -> Any:
        return real("127.0.0.1" if str(host).endswith(".example") else host, port, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    with receiving(tls=certified) as receiver:
        port = httpx2.URL(receiver.url).port
        sender = Sender(LOOPBACK, trust)
        try:
            assert (await sender.post(f"https://good.example:{port}/", OUT, {})).error is None
            assert "certificate" in ((await sender.post(f"https://bad.example:{port}/", OUT, {})).error or "")
        finally:
            await sender.close()


def _authority(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """What trusts a certificate of that name, and what shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begun = datetime.now(UTC) - timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begun)
        .not_valid_after(begun + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, SHA256())
    )
    shown, secret = folder / "cert.pem", folder / "key.pem"
    shown.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(shown, secret)
    return ssl.create_default_context(cafile=str(shown)), server
