"""Counting requests in Redis, for all processes and hosts, by the clock of Redis."""

from __future__ import annotations

from app.limits.memory import MemoryStore
from app.limits.rate import Rate, Verdict
from app.redis_link import RedisAwayError, RedisLink, Script

EPOCH_KEY = "bp:epoch"

# KEYS: the bucket's list of instants in microseconds, the security epoch.
# ARGV: window in microseconds, amount, cost.
# Answers: allowed, free after it, microseconds until the reset, the epoch.
HIT = Script(
    """
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local window, amount, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    local begin = now - window
    local oldest = redis.call('LINDEX', KEYS[1], 0)
    while oldest and tonumber(oldest) <= begin do
        redis.call('LPOP', KEYS[1])
        oldest = redis.call('LINDEX', KEYS[1], 0)
    end
    local count = redis.call('LLEN', KEYS[1])
    local free = amount - count
    local epoch = redis.call('GET', KEYS[2])
    if cost > free then
        local blocking = now
        if count > 0 then
            blocking = redis.call('LINDEX', KEYS[1], math.min(cost - free, count) - 1)
        end
        return {0, free, tonumber(blocking) - begin, epoch}
    end
    if cost > 0 then
        local instant = string.format('%.0f', now)
        for _ = 1, cost do redis.call('RPUSH', KEYS[1], instant) end
        redis.call('PEXPIRE', KEYS[1], window / 1000)
        oldest = oldest or instant
    end
    local reset = 0
    if oldest then reset = tonumber(oldest) - begin end
    return {1, free - cost, reset, epoch}
    """,
    keys=2,
)


class SharedStore:
    """Exact over all processes; while Redis is away, over this process alone."""

    def __init__(self, link: RedisLink) -> None:
        self.link = link
        self._fallback = MemoryStore()

    def hit(self, bucket: str, rate: Rate, cost: int = 1) -> Verdict:
        """Count ``cost`` requests when all of them fit, else none; 0 only looks."""
        try:
            allowed, remaining, reset, epoch = self.link.run(
                HIT, "bp:limit:" + bucket, EPOCH_KEY, rate.seconds * 1_000_000, rate.amount, cost
            )
        except RedisAwayError:
            return self._fallback.hit(bucket, rate, cost)
        return Verdict(
            bool(allowed),
            rate.amount,
            remaining,
            # Rounded up to seconds; a refused caller is never told to come back at once.
            max(-(-reset // 1_000_000), 0 if allowed else 1),
            # While a change of rights is being committed the value is no number: ask the database.
            int(epoch) if epoch is not None and epoch.isdigit() else None,
        )
