// A shop in one table: users, products, orders and their lines. The same shop as single_table.py, in JavaScript.
//
// Run a server (`hashrange serve`), `npm install @aws-sdk/client-dynamodb @aws-sdk/lib-dynamodb`, and then
// `node examples/single-table.mjs`; AWS_ENDPOINT_URL names another endpoint.
//
// Every item has a partition key PK and a sort key SK. What they hold depends on the kind of item, and so does what
// the two global secondary indexes hold (index overloading):
//
//     item      PK             SK                     GSI1PK             GSI1SK                GSI2PK     GSI2SK
//     user      USER#ann       PROFILE
//     e-mail    EMAIL#a@b.c    EMAIL
//     product   PRODUCT#tea    PRODUCT                CATEGORY#drinks    PRICE#00000450#tea
//     order     USER#ann       ORDER#2026-03-01#o1    ORDER#o1           ORDER                 OPEN#3     2026-03-01#o1
//     line      ORDER#o1       LINE#tea               PRODUCT#tea        ORDER#2026-03-01#o1

import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";

import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";

const SHARDS = 4; // partitions that share the load of the one busy key "open orders"
const TableName = `shop-${randomUUID()}`;

const client = new DynamoDBClient({
  endpoint: process.env.AWS_ENDPOINT_URL ?? "http://127.0.0.1:8000",
  region: process.env.AWS_REGION ?? "us-east-1",
  credentials: {
    accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "anybody",
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "anything",
  },
});
const shop = DynamoDBDocumentClient.from(client);

/** A table whose keys say nothing about what is kept in it. */
async function createShop() {
  const schema = (prefix) => [
    { AttributeName: `${prefix}PK`, KeyType: "HASH" },
    { AttributeName: `${prefix}SK`, KeyType: "RANGE" },
  ];
  const index = (name) => ({ IndexName: name, KeySchema: schema(name), Projection: { ProjectionType: "ALL" } });
  const keys = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"];
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: schema(""),
      AttributeDefinitions: keys.map((name) => ({ AttributeName: name, AttributeType: "S" })),
      GlobalSecondaryIndexes: [index("GSI1"), index("GSI2")],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
}

/** The items with this partition key, and with a sort key that fulfils the condition if there is one. */
async function query(pk, { index = "", sort = "", value, newestFirst = false } = {}) {
  const found = await shop.send(
    new QueryCommand({
      TableName,
      IndexName: index || undefined,
      KeyConditionExpression: `${index}PK = :pk` + (sort && ` AND ${sort}`),
      ExpressionAttributeValues: { ":pk": pk, ...(sort && { ":value": value }) },
      ScanIndexForward: !newestFirst,
    }),
  );
  return found.Items;
}

// Users: an e-mail address belongs to one of them.

/** Only keys are unique, so the address is an item of its own, and both are written or none. */
async function addUser(name, email) {
  const ConditionExpression = "attribute_not_exists(PK)";
  const user = { PK: `USER#${name}`, SK: "PROFILE", name, email };
  const claim = { PK: `EMAIL#${email}`, SK: "EMAIL", user: name };
  await shop.send(
    new TransactWriteCommand({
      TransactItems: [user, claim].map((Item) => ({ Put: { TableName, Item, ConditionExpression } })),
    }),
  );
}

// Products: sorted by price within their category, changed under a version.

/** Numbers inside a string sort as numbers if they have the same width. */
const priceKey = (sku, cents) => `PRICE#${String(cents).padStart(8, "0")}#${sku}`;

async function addProduct(sku, category, cents, stock) {
  const keys = { PK: `PRODUCT#${sku}`, SK: "PRODUCT", GSI1PK: `CATEGORY#${category}`, GSI1SK: priceKey(sku, cents) };
  await shop.send(new PutCommand({ TableName, Item: { ...keys, sku, cents, stock, version: 1 } }));
}

async function getProduct(sku) {
  const Key = { PK: `PRODUCT#${sku}`, SK: "PRODUCT" };
  return (await shop.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
}

/** Optimistic locking: the change happens only if nobody changed the product since it was read. */
async function changePrice({ PK, SK, sku, version }, cents) {
  await shop.send(
    new UpdateCommand({
      TableName,
      Key: { PK, SK },
      UpdateExpression: "SET cents = :cents, GSI1SK = :key, version = version + :one",
      ConditionExpression: "version = :version",
      ExpressionAttributeValues: { ":cents": cents, ":key": priceKey(sku, cents), ":one": 1, ":version": version },
    }),
  );
}

async function productsOf(category, cheaperThan) {
  const below = { index: "GSI1", sort: "GSI1SK < :value", value: priceKey("", cheaperThan) };
  return (await query(`CATEGORY#${category}`, below)).map(({ sku }) => sku);
}

// Orders: written together with their lines, while the stock lasts.

const shardOf = (id) => `OPEN#${createHash("sha256").update(id).digest()[0] % SHARDS}`;

/** One transaction: the user exists, every product is in stock and is taken from it, the order is written. */
async function placeOrder(id, user, date, lines) {
  const order = {
    PK: `USER#${user}`,
    SK: `ORDER#${date}#${id}`,
    GSI1PK: `ORDER#${id}`,
    GSI1SK: "ORDER",
    GSI2PK: shardOf(id),
    GSI2SK: `${date}#${id}`,
    id,
  };
  const actions = [
    { Put: { TableName, Item: order, ConditionExpression: "attribute_not_exists(PK)" } },
    {
      ConditionCheck: {
        TableName,
        Key: { PK: `USER#${user}`, SK: "PROFILE" },
        ConditionExpression: "attribute_exists(PK)",
      },
    },
  ];
  for (const [sku, quantity] of Object.entries(lines)) {
    const line = {
      PK: `ORDER#${id}`,
      SK: `LINE#${sku}`,
      GSI1PK: `PRODUCT#${sku}`,
      GSI1SK: `ORDER#${date}#${id}`,
      id,
      sku,
      quantity,
    };
    const take = {
      TableName,
      Key: { PK: `PRODUCT#${sku}`, SK: "PRODUCT" },
      UpdateExpression: "SET stock = stock - :quantity",
      ConditionExpression: "stock >= :quantity",
      ExpressionAttributeValues: { ":quantity": quantity },
    };
    actions.push({ Put: { TableName, Item: line } }, { Update: take });
  }
  // The token makes it safe to send the same order again when an answer was lost. It is unique within the account.
  const ClientRequestToken = `${TableName.slice(-8)}-${id}`;
  await shop.send(new TransactWriteCommand({ TransactItems: actions, ClientRequestToken }));
}

/** Without its index keys the order leaves the sparse index. */
async function shipOrder(user, date, id) {
  await shop.send(
    new UpdateCommand({
      TableName,
      Key: { PK: `USER#${user}`, SK: `ORDER#${date}#${id}` },
      UpdateExpression: "REMOVE GSI2PK, GSI2SK SET shipped = :true",
      ConditionExpression: "attribute_exists(GSI2PK)",
      ExpressionAttributeValues: { ":true": true },
    }),
  );
}

/** Ask every shard at once and merge the answers by date. */
async function openOrders() {
  const shards = Array.from({ length: SHARDS }, (_, shard) => query(`OPEN#${shard}`, { index: "GSI2" }));
  const found = (await Promise.all(shards)).flat();
  return found.sort((one, other) => (one.GSI2SK < other.GSI2SK ? -1 : 1)).map(({ id }) => id);
}

/** The profile and the orders share a partition: one query, newest order first. */
async function userWithOrders(user) {
  const [profile, ...orders] = await query(`USER#${user}`, { newestFirst: true });
  return [profile.name, orders.map(({ id }) => id)];
}

const ids = (items) => items.map(({ id }) => id);
const ordersOf = async (user, month) =>
  ids(await query(`USER#${user}`, { sort: "begins_with(SK, :value)", value: `ORDER#${month}` }));
const linesOf = async (id) =>
  Object.fromEntries((await query(`ORDER#${id}`)).map(({ sku, quantity }) => [sku, quantity]));
const findOrder = async (id) => (await query(`ORDER#${id}`, { index: "GSI1" }))[0];
const ordersWith = async (sku) => ids(await query(`PRODUCT#${sku}`, { index: "GSI1" }));

/** The name of the error that a call must fail with, and the reasons if it was a transaction. */
async function refused(promise) {
  const error = await promise.then(() => assert.fail("this should have been refused"), (error) => error);
  return [error.name, (error.CancellationReasons ?? []).map(({ Code }) => Code)];
}

async function walk() {
  await addUser("ann", "ann@example.com");
  await addUser("bob", "bob@example.com");
  assert.deepEqual(await refused(addUser("eve", "ann@example.com")), [
    "TransactionCanceledException",
    ["None", "ConditionalCheckFailed"],
  ]);
  assert.deepEqual(await query("USER#eve"), []);

  await addProduct("tea", "drinks", 450, 10);
  await addProduct("wine", "drinks", 1200, 3);
  await addProduct("water", "drinks", 90, 100);
  await addProduct("bread", "food", 320, 5);
  assert.deepEqual(await productsOf("drinks", 1000), ["water", "tea"]);

  // Two clerks change the price of the same bottle; the second one has to look again.
  const seen = await getProduct("wine");
  await changePrice(seen, 990);
  assert.deepEqual(await refused(changePrice(seen, 1500)), ["ConditionalCheckFailedException", []]);
  assert.equal((await getProduct("wine")).cents, 990);
  assert.deepEqual(await productsOf("drinks", 1000), ["water", "tea", "wine"]);

  await placeOrder("o1", "ann", "2026-03-01", { tea: 2, bread: 1 });
  await placeOrder("o2", "ann", "2026-03-20", { wine: 3 });
  await placeOrder("o3", "ann", "2026-04-02", { tea: 1 });
  await placeOrder("o4", "bob", "2026-03-05", { tea: 5, water: 10 });
  await placeOrder("o4", "bob", "2026-03-05", { tea: 5, water: 10 }); // the answer was lost, so it is sent again
  assert.equal((await getProduct("tea")).stock, 2);

  // There is no more wine: nothing of the order is written, and no bread is taken.
  const [name, reasons] = await refused(placeOrder("o5", "bob", "2026-03-21", { bread: 1, wine: 1 }));
  assert.equal(name, "TransactionCanceledException");
  assert.equal(reasons.at(-1), "ConditionalCheckFailed");
  assert.deepEqual(await linesOf("o5"), {});
  assert.equal((await getProduct("bread")).stock, 4);

  assert.deepEqual(await userWithOrders("ann"), ["ann", ["o3", "o2", "o1"]]);
  assert.deepEqual(await ordersOf("ann", "2026-03"), ["o1", "o2"]);
  assert.deepEqual(await linesOf("o4"), { tea: 5, water: 10 });
  assert.equal((await findOrder("o4")).PK, "USER#bob");
  assert.deepEqual(await ordersWith("tea"), ["o1", "o4", "o3"]);

  assert.deepEqual(await openOrders(), ["o1", "o4", "o2", "o3"]);
  await shipOrder("ann", "2026-03-01", "o1");
  await shipOrder("bob", "2026-03-05", "o4");
  assert.deepEqual(await openOrders(), ["o2", "o3"]);
  assert.deepEqual(await refused(shipOrder("ann", "2026-03-01", "o1")), ["ConditionalCheckFailedException", []]);
}

await createShop();
try {
  await walk();
} finally {
  await client.send(new DeleteTableCommand({ TableName }));
}
console.log("The shop works.");
