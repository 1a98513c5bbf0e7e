"""What a month would cost, worked out by hand for small traffic, and what is said about expensive requests."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Engine
from hashrange.engine.scope import scope_of
from hashrange.pricing.estimate import DECLARED, FLAT, ON_DEMAND, SCALED, Estimate, Option, estimate
from hashrange.pricing.findings import findings, spending
from hashrange.pricing.prices import BUILT_IN, BadPrices, Prices
from hashrange.pricing.traffic import traffic_of

HOUR = 3600
PRICES = Prices.parse(BUILT_IN.read_text(encoding="utf-8"))
HOURS = PRICES.hours_per_month
SCOPE = scope_of("000000000000", "us-east-1")


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_table(
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "state")],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-state",
                "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    return engine


def put(engine: Engine, number: int, **attributes: Any) -> None:
    engine.call("PutItem", TableName="table", Item={"pk": {"S": "a"}, "sk": {"S": f"{number:05}"}, **attributes})


def priced(engine: Engine, days: float = 7.0) -> Estimate:
    engine.db.recorder.flush()
    now = engine.clock.micros()
    with engine.store.read() as snapshot:
        table = engine.db.table(snapshot, SCOPE, "table").definition
        traffic = traffic_of(snapshot, table, now_micros=now, days=days)
        return estimate(snapshot, table, traffic, PRICES, now_micros=now)


def option(found: Estimate, mode: str, *, cheap: bool = False) -> Option:
    return next(each for each in found.options if (each.mode, each.is_infrequent_access) == (mode, cheap))


def test_on_demand_every_unit_has_its_price(engine: Engine) -> None:
    """A hundred writes and two hundred eventually consistent reads in the first of ten hours."""
    for number in range(100):
        put(engine, number)
    for _ in range(200):
        engine.call("GetItem", TableName="table", Key={"pk": {"S": "a"}, "sk": {"S": "00001"}})
    engine.clock.advance(10 * HOUR - 60)
    found = priced(engine)
    assert found.traffic.minutes == 600
    months = 10 / HOURS
    expected = (100 / months * 0.625 + 100 / months * 0.125) / 1_000_000
    assert option(found, ON_DEMAND).throughput == pytest.approx(expected)
    assert option(found, ON_DEMAND, cheap=True).throughput == pytest.approx(
        (100 / months * 0.78 + 100 / months * 0.155) / 1_000_000
    )


def test_provisioned_capacity_takes_the_busiest_minute_at_seventy_per_cent(engine: Engine) -> None:
    for number in range(420):  # 7 units a second, for a minute
        put(engine, number)
    engine.clock.advance(10 * HOUR - 60)
    found = priced(engine)
    flat, scaled = option(found, FLAT), option(found, SCALED)
    assert flat.capacity is not None
    assert scaled.capacity is not None
    assert (flat.capacity.read, flat.capacity.write) == (2, 11)  # the index needs one of each at least
    assert flat.throughput == pytest.approx(HOURS * (2 * 0.00013 + 11 * 0.00065))
    assert scaled.capacity.write == pytest.approx((10 + 9 * 1) / 10 + 1)


def test_storage_counts_a_hundred_bytes_for_each_item_and_entry(engine: Engine) -> None:
    put(engine, 1)
    put(engine, 2, state={"S": "open"})
    sizes = (2 + 1 + 2 + 5) + (2 + 1 + 2 + 5 + 5 + 4)
    found = priced(engine)
    assert (found.storage.table, found.storage.global_indexes) == (sizes + 200, 19 + 100)
    assert option(found, ON_DEMAND).storage == pytest.approx((sizes + 319) / 1024**3 * 0.25)


def test_what_was_before_the_days_asked_for_does_not_count(engine: Engine) -> None:
    put(engine, 1)
    engine.clock.advance(2 * 24 * HOUR)
    put(engine, 2)
    assert sum(priced(engine, days=7).traffic.loads[None].writes.values()) == 2
    found = priced(engine, days=1)
    assert (sum(found.traffic.loads[None].writes.values()), found.traffic.minutes) == (1, 24 * 60)


def test_a_provisioned_table_is_compared_with_what_it_declares() -> None:
    engine = Engine()
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 100, "WriteCapacityUnits": 100}
    )
    engine.clock.advance(HOUR)
    found = priced(engine)
    assert (found.current.mode, found.best.mode) == (DECLARED, ON_DEMAND)
    assert found.saving == pytest.approx(HOURS * 100 * (0.00013 + 0.00065))


def test_nothing_is_saved_by_what_costs_more() -> None:
    engine = Engine()
    engine.create_table(
        BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    )
    for number in range(300):  # all that it had saved, in a minute
        put(engine, number)
    found = priced(engine)
    assert found.best == found.current
    assert found.saving == 0


def test_steady_traffic_is_cheaper_provisioned_and_rare_traffic_on_demand(engine: Engine) -> None:
    put(engine, 1)
    engine.clock.advance(24 * HOUR)
    assert priced(engine).best.mode == ON_DEMAND
    for _ in range(60):
        engine.clock.advance(60)
        for number in range(60):
            put(engine, number)
    assert priced(engine, days=1 / 24).best.mode in (FLAT, SCALED)


def test_recovery_and_backups_come_on_top(engine: Engine) -> None:
    put(engine, 1)
    assert priced(engine).extras == {}
    engine.call(
        "UpdateContinuousBackups",
        TableName="table",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
    )
    engine.call("CreateBackup", TableName="table", BackupName="before")
    extras = priced(engine).extras
    assert set(extras) == {"point-in-time recovery", "backups"}
    assert extras["point-in-time recovery"] == pytest.approx(110 / 1024**3 * 0.20)


def test_scans_and_filters_that_throw_away_are_named(engine: Engine) -> None:
    for number in range(100):
        put(engine, number, x={"S": "x" * 500})
    for _ in range(200):
        engine.call(
            "Scan",
            TableName="table",
            FilterExpression="sk = :s",
            ExpressionAttributeValues={":s": {"S": "00001"}},
        )
    found = priced(engine)
    named = {each.subject: each for each in findings(found, PRICES.standard)}
    assert set(named) == {"Scan", "filters of Scan"}
    assert "Of 20,000 items that were read only 200 were returned." in named["filters of Scan"].advice
    assert named["filters of Scan"].monthly == pytest.approx(named["Scan"].monthly * 0.99)


def test_an_index_that_nobody_reads_is_named(engine: Engine) -> None:
    for number in range(20):
        put(engine, number, state={"S": "open"})
    [finding] = findings(priced(engine), PRICES.standard)
    assert (finding.subject, finding.share) == ("index by-state", 0.5)
    assert finding.advice == "It took 20 write units and was never read. Delete it, if nobody needs it."
    engine.call(
        "Query",
        TableName="table",
        IndexName="by-state",
        KeyConditionExpression="#s = :s",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={":s": {"S": "none"}},
    )
    [finding] = findings(priced(engine), PRICES.standard)
    assert "project only what is read" in finding.advice


def test_spending_adds_up_to_what_on_demand_costs(engine: Engine) -> None:
    for number in range(20):
        put(engine, number, state={"S": "open"})
    engine.call("Scan", TableName="table")
    engine.call("Scan", TableName="table", IndexName="by-state")
    found = priced(engine)
    spent = spending(found, PRICES.standard)
    assert sum(each.monthly for each in spent) == pytest.approx(option(found, ON_DEMAND).throughput)
    assert sum(each.share for each in spent) == pytest.approx(1)
    assert {(each.operation, each.index) for each in spent} == {
        ("PutItem", None),
        ("PutItem", "by-state"),
        ("Scan", None),
        ("Scan", "by-state"),
    }


def test_a_table_without_traffic_has_a_price_too(engine: Engine) -> None:
    found = priced(engine)
    assert (found.current.total, findings(found, PRICES.standard), spending(found, PRICES.standard)) == (0.0, [], [])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("hours_per_month = 730", ""), "The price hours_per_month must be a number of at least 0."),
        (("[other]", "[else]"), "There is no such price: else."),
        (("read_million = 0.125", 'read_million = "cheap"'), "The price standard.read_million must be a number"),
        (("read_million = 0.125", "read_million = -1"), "The price standard.read_million must be a number"),
        (("read_million = 0.125", "red_million = 1"), "There is no such price: standard.red_million."),
        (("[standard]", "[standard"), "The prices are not TOML"),
    ],
)
def test_price_lists_that_are_none_are_refused(change: tuple[str, str], text: str) -> None:
    with pytest.raises(BadPrices, match=text):
        Prices.parse(BUILT_IN.read_text(encoding="utf-8").replace(*change, 1))
