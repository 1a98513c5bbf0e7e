// Walks through the API with the AWS SDK for JavaScript v3 and prints what it met, as JSON.
// Usage: node walk.mjs <table name>, with the endpoint in AWS_ENDPOINT_URL.

import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
  paginateQuery,
  paginateScan,
} from "@aws-sdk/lib-dynamodb";

const TableName = process.argv[2];
const client = new DynamoDBClient({ maxAttempts: 1 });
const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const met = {};

async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    const { name, message, Item, CancellationReasons } = error;
    return { name, message, Item, CancellationReasons };
  }
  throw new Error("this call should have been refused");
}

async function all(pages) {
  const found = [];
  for await (const page of pages) found.push(...page.Items);
  return found;
}

const created = await client.send(
  new CreateTableCommand({
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [
      { AttributeName: "customer", KeyType: "HASH" },
      { AttributeName: "order", KeyType: "RANGE" },
    ],
    AttributeDefinitions: [
      { AttributeName: "customer", AttributeType: "S" },
      { AttributeName: "order", AttributeType: "N" },
      { AttributeName: "state", AttributeType: "S" },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: "by-state",
        KeySchema: [{ AttributeName: "state", KeyType: "HASH" }],
        Projection: { ProjectionType: "KEYS_ONLY" },
      },
    ],
  }),
);
met.created = created.TableDescription.TableStatus;
met.createdAtIsADate = created.TableDescription.CreationDateTime instanceof Date;
met.exists = (await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName })).state;

const order = {
  customer: "ann",
  order: 1,
  state: "open",
  basket: [{ sku: "a", count: 2 }, { sku: "b", count: 1.5 }],
  tags: new Set(["new", "paid"]),
  photo: new Uint8Array([0, 1, 254, 255]),
  gift: false,
  note: null,
  left: undefined,
};
const Key = { customer: "ann", order: 1 };
await documents.send(new PutCommand({ TableName, Item: order }));
const stored = (await documents.send(new GetCommand({ TableName, Key }))).Item;
met.stored = { ...stored, tags: [...stored.tags].sort(), photo: [...stored.photo] };
met.wire = (await client.send(new GetItemCommand({ TableName, Key: { customer: { S: "ann" }, order: { N: "1.0" } } }))).Item
  .basket;

const increment = {
  TableName,
  Key,
  UpdateExpression: "SET basket[0].#count = basket[0].#count + :one",
  ConditionExpression: "#state = :state",
  ExpressionAttributeNames: { "#count": "count", "#state": "state" },
  ReturnValues: "UPDATED_NEW",
};
const open = { ":one": 1, ":state": "open" };
met.updated = (await documents.send(new UpdateCommand({ ...increment, ExpressionAttributeValues: open }))).Attributes;
met.conditionFailed = await refusal(
  documents.send(
    new UpdateCommand({
      ...increment,
      ExpressionAttributeValues: { ...open, ":state": "closed" },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    }),
  ),
);
met.conditionFailed.Item = met.conditionFailed.Item.state;

const requests = Array.from({ length: 25 }, (_, number) => ({
  PutRequest: { Item: { customer: "bob", order: number, state: number % 2 ? "open" : "done" } },
}));
await documents.send(new BatchWriteCommand({ RequestItems: { [TableName]: requests } }));
const batch = await documents.send(
  new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ customer: "bob", order: 3 }, Key] } } }),
);
met.batch = batch.Responses[TableName].map((item) => item.order).sort();

const query = {
  TableName,
  KeyConditionExpression: "customer = :c AND #order BETWEEN :low AND :high",
  ExpressionAttributeNames: { "#order": "order" },
  ExpressionAttributeValues: { ":c": "bob", ":low": 5, ":high": 12 },
  ScanIndexForward: false,
};
met.queried = (await all(paginateQuery({ client: documents, pageSize: 3 }, query))).map((item) => item.order);
const byState = {
  TableName,
  IndexName: "by-state",
  KeyConditionExpression: "#state = :open",
  ExpressionAttributeNames: { "#state": "state" },
  ExpressionAttributeValues: { ":open": "open" },
};
met.indexed = (await all(paginateQuery({ client: documents, pageSize: 5 }, byState))).length;
met.scanned = (await all(paginateScan({ client: documents, pageSize: 7 }, { TableName }))).length;

const token = crypto.randomUUID();
const transfer = (amount) =>
  new TransactWriteCommand({
    ClientRequestToken: token,
    TransactItems: [
      { Update: { TableName, Key, UpdateExpression: "ADD paid :n", ExpressionAttributeValues: { ":n": amount } } },
      { Delete: { TableName, Key: { customer: "bob", order: 0 } } },
    ],
  });
await documents.send(transfer(10));
await documents.send(transfer(10));
met.mismatch = (await refusal(documents.send(transfer(11)))).name;
const both = await documents.send(
  new TransactGetCommand({
    TransactItems: [{ Get: { TableName, Key } }, { Get: { TableName, Key: { customer: "bob", order: 0 } } }],
  }),
);
met.transaction = both.Responses.map(({ Item }) => Item?.paid ?? null);
met.cancelled = await refusal(
  documents.send(
    new TransactWriteCommand({
      TransactItems: [
        { Put: { TableName, Item: { customer: "eve", order: 1 } } },
        {
          ConditionCheck: {
            TableName,
            Key,
            ConditionExpression: "attribute_not_exists(customer)",
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          },
        },
      ],
    }),
  ),
);
met.cancelled.CancellationReasons[1].Item = met.cancelled.CancellationReasons[1].Item.paid;

met.invalid = await refusal(client.send(new PutItemCommand({ TableName, Item: { customer: { S: "a" } } })));
met.deleted = (await documents.send(new DeleteCommand({ TableName, Key, ReturnValues: "ALL_OLD" }))).Attributes.state;
met.deleting = (await client.send(new DeleteTableCommand({ TableName }))).TableDescription.TableStatus;
await waitUntilTableNotExists({ client, maxWaitTime: 30 }, { TableName });
met.missing = await refusal(client.send(new DescribeTableCommand({ TableName })));

console.log(JSON.stringify(met));
