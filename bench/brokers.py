"""Our SDK over HTTP beside two brokers and their own Python clients: send, receive and ack, one message at a time and in batches."""

from collections.abc import Sequence

from bench.clients import Sample
from bench.house import our_house
from bench.nats_server import nats_server
from bench.peers.jetstream import JetStream
from bench.peers.redis_streams import RedisStreams
from bench.plan import Plan
from bench.redis_server import redis_server
from bench.rounds import median_sample
from bench.scratch import progress, scratch
from bench.sdk import OurSDK
from bench.turnover import BATCH, Broker, Turnover

CONCURRENCIES = (1, 16)


def measure_brokers(plan: Plan) -> list[Turnover]:
    """All three, each with a server of its own that stays up throughout."""
    with scratch() as folder, our_house("brokers", folder) as house, redis_server(folder) as redis, nats_server(folder) as nats:
        contenders: list[Broker] = [OurSDK(house), RedisStreams(redis), JetStream(nats)]
        return [row for batch in (1, BATCH) for concurrency in CONCURRENCIES for row in _rows(contenders, concurrency, batch, plan)]


def _rows(contenders: Sequence[Broker], concurrency: int, batch: int, plan: Plan) -> list[Turnover]:
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    for number in range(plan.rounds):
        progress(f"brokers: {concurrency} clients, {batch} at a time, round {number + 1} of {plan.rounds}")
        for contender in contenders if number % 2 == 0 else reversed(contenders):
            samples[contender.name].append(contender.measure(concurrency, batch, plan))
    return [Turnover(c.name, batch, concurrency, c.durability, median_sample(samples[c.name]), samples[c.name]) for c in contenders]
