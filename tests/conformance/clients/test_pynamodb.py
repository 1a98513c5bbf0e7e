"""PynamoDB, an object mapper for Python."""

import pytest
from pynamodb.attributes import (
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection, LocalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

from conformance.support.tables import unique_name


class Address(MapAttribute):
    street = UnicodeAttribute()
    number = NumberAttribute()


class ByAge(LocalSecondaryIndex):
    class Meta:
        projection = KeysOnlyProjection()

    forum = UnicodeAttribute(hash_key=True)
    age = NumberAttribute(range_key=True)


class ByCity(GlobalSecondaryIndex):
    class Meta:
        index_name = "by-city"
        projection = AllProjection()

    city = UnicodeAttribute(hash_key=True)
    age = NumberAttribute(range_key=True)


def member_model(endpoint):
    """The model of a forum's members, in a table of its own."""

    class Member(Model):
        class Meta:
            table_name = unique_name("members")
            host = endpoint
            region = "us-east-1"
            billing_mode = "PAY_PER_REQUEST"
            aws_access_key_id = "test"
            aws_secret_access_key = "secret"
            max_retry_attempts = 0

        forum = UnicodeAttribute(hash_key=True)
        name = UnicodeAttribute(range_key=True)
        age = NumberAttribute(null=True)
        city = UnicodeAttribute(null=True)
        tags = UnicodeSetAttribute(null=True)
        address = Address(null=True)
        notes = ListAttribute(default=list)
        extra = JSONAttribute(null=True)
        joined = UTCDateTimeAttribute(null=True)
        by_age = ByAge()
        by_city = ByCity()

    return Member


@pytest.fixture
def member(server):
    model = member_model(server)
    model.create_table(wait=True)
    yield model
    model.delete_table()


def test_a_model_is_saved_read_updated_and_deleted(member):
    ann = member("python", "ann", age=30, city="Rome", tags={"a", "b"}, address=Address(street="Via", number=5))
    ann.extra = {"deep": [1, {"x": None}]}
    ann.save(member.name.does_not_exist())
    with pytest.raises(PutError) as refused:
        member("python", "ann").save(member.name.does_not_exist())
    assert refused.value.cause_response_code == "ConditionalCheckFailedException"

    ann.update(
        actions=[
            member.age.add(1),
            member.address.street.set("Corso"),
            member.notes.set(member.notes.append(["hello"])),
            member.tags.delete({"a"}),
            member.city.remove(),
        ],
        condition=(member.age == 30) & member.tags.contains("b"),
    )
    with pytest.raises(UpdateError):
        ann.update(actions=[member.age.set(1)], condition=member.age < 10)
    again = member.get("python", "ann", consistent_read=True)
    assert (again.age, again.address.street, again.notes, again.tags) == (31, "Corso", ["hello"], {"b"})
    assert again.extra == {"deep": [1, {"x": None}]}
    assert again.city is None

    again.delete()
    with pytest.raises(DoesNotExist):
        member.get("python", "ann")


def test_batches_queries_and_indexes(member):
    with member.batch_write() as batch:
        for number in range(60):
            forum = "python" if number % 2 else "go"
            batch.save(member(forum, f"m{number:02}", age=number, city=f"city{number % 3}"))
    assert member.count("python") == 30
    names = [each.name for each in member.query("python", member.name.between("m10", "m20"), scan_index_forward=False)]
    assert names == ["m19", "m17", "m15", "m13", "m11"]
    assert [each.age for each in member.by_age.query("go", ByAge.age > 50, page_size=2)] == [52, 54, 56, 58]
    assert [each.age for each in member.by_city.query("city1", limit=3)] == [1, 4, 7]
    assert sum(1 for _ in member.scan(member.age < 10, page_size=7)) == 10
    found = member.batch_get([("python", "m01"), ("go", "m02"), ("go", "none")])
    assert sorted(each.age for each in found) == [1, 2]

    pages = member.query("python", limit=10, page_size=4)
    first = [each.name for each in pages]
    rest = [each.name for each in member.query("python", last_evaluated_key=pages.last_evaluated_key)]
    assert len(first) == 10
    assert first + rest == sorted(first + rest)
    assert len(rest) == 20


def test_transactions_happen_or_not(member, server):
    connection = Connection(region="us-east-1", host=server, max_retry_attempts=0)
    connection.session.set_credentials("test", "secret")
    ann, bob = member("python", "ann", age=1), member("python", "bob", age=1)
    with TransactWrite(connection=connection) as transaction:
        transaction.save(ann, condition=member.name.does_not_exist())
        transaction.save(bob)

    def grow_if_bob_is_old():
        with TransactWrite(connection=connection) as transaction:
            transaction.update(ann, actions=[member.age.add(1)])
            transaction.condition_check(member, "python", "bob", condition=member.age > 5)

    with pytest.raises(TransactWriteError) as refused:
        grow_if_bob_is_old()
    reasons = [reason and reason.code for reason in refused.value.cancellation_reasons]
    assert reasons == ["ConditionalCheckFailed", None]  # PynamoDB sends its checks first
    with TransactGet(connection=connection) as transaction:
        both = [transaction.get(member, "python", name) for name in ("ann", "bob")]
    assert [each.get().age for each in both] == [1, 1]


def test_a_version_attribute_keeps_writers_apart(server):
    class Counter(Model):
        class Meta:
            table_name = unique_name("counters")
            host = server
            region = "us-east-1"
            billing_mode = "PAY_PER_REQUEST"
            aws_access_key_id = "test"
            aws_secret_access_key = "secret"
            max_retry_attempts = 0

        name = UnicodeAttribute(hash_key=True)
        value = NumberAttribute(default=0)
        version = VersionAttribute()

    Counter.create_table(wait=True)
    Counter("hits").save()
    mine, yours = Counter.get("hits"), Counter.get("hits")
    mine.value = 1
    mine.save()
    yours.value = 2
    with pytest.raises(PutError):
        yours.save()
    assert (Counter.get("hits").value, Counter.get("hits").version) == (1, 2)
    Counter.delete_table()
