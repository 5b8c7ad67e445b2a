"""Webhooks over REST: the owner keeps them, and nobody else."""

from tests.doors.callers import Callers, done, refused


async def test_the_owner_keeps_webhooks_and_nobody_else(callers: Callers) -> None:
    (alice,) = await callers.named("alice")
    owner = await callers.owner()
    body = {"name": "ci", "url": "https://ci.example.com/hook", "events": ["task"]}
    refused(await alice.post("/webhooks", json=body), 403, "owner_only")
    made = done(await owner.post("/webhooks", json=body), 201)
    assert made["secret"].startswith("whsec_")
    refused(await owner.post("/webhooks", json=body), 409, "webhook_taken")
    refused(await owner.post("/webhooks", json=body | {"name": "b", "events": ["nonsense"]}), 422, "invalid")
    (listed,) = done(await owner.get("/webhooks"))["webhooks"]
    assert listed == made["webhook"] == done(await owner.get("/webhooks/ci"))
    assert "secret" not in listed
    refused(await alice.get("/webhooks"), 403, "owner_only")
    assert done(await owner.post("/webhooks/ci/rotate"))["secret"] != made["secret"]
    assert done(await owner.post("/webhooks/ci/pause"))["state"] == "paused"
    refused(await alice.post("/webhooks/ci/pause"), 403, "owner_only")
    assert done(await owner.post("/webhooks/ci/resume"))["state"] == "active"
    assert done(await owner.delete("/webhooks/ci")) == {"removed": "ci"}
    refused(await owner.get("/webhooks/ci"), 404, "no_such_webhook")
