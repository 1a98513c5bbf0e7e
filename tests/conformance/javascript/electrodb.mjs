// Uses ElectroDB, a library that makes a single-table design, and prints what it met, as JSON.
// Usage: node electrodb.mjs <table name>, with the endpoint in AWS_ENDPOINT_URL.

import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Entity, Service } from "electrodb";

const table = process.argv[2];
const client = new DynamoDBClient({ maxAttempts: 1 });
const met = {};
const key = (name, KeyType) => ({ AttributeName: name, KeyType });

await client.send(
  new CreateTableCommand({
    TableName: table,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [key("pk", "HASH"), key("sk", "RANGE")],
    AttributeDefinitions: ["pk", "sk", "gsi1pk", "gsi1sk"].map((name) => ({ AttributeName: name, AttributeType: "S" })),
    GlobalSecondaryIndexes: [
      {
        IndexName: "gsi1",
        KeySchema: [key("gsi1pk", "HASH"), key("gsi1sk", "RANGE")],
        Projection: { ProjectionType: "ALL" },
      },
    ],
  }),
);

const Employee = new Entity({
  model: { entity: "employee", version: "1", service: "company" },
  attributes: {
    id: { type: "string", required: true },
    office: { type: "string", required: true },
    team: { type: "string", required: true },
    salary: { type: "number", required: true },
    skills: { type: "set", items: "string" },
    reviews: { type: "list", items: { type: "map", properties: { score: { type: "number" } } } },
  },
  indexes: {
    employee: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
    coworkers: {
      index: "gsi1",
      collection: "workplace",
      pk: { field: "gsi1pk", composite: ["office"] },
      sk: { field: "gsi1sk", composite: ["team", "id"] },
    },
  },
});

const Desk = new Entity({
  model: { entity: "desk", version: "1", service: "company" },
  attributes: {
    number: { type: "string", required: true },
    office: { type: "string", required: true },
    free: { type: "boolean", default: true },
  },
  indexes: {
    desk: { pk: { field: "pk", composite: ["number"] }, sk: { field: "sk", composite: ["office"] } },
    office: {
      index: "gsi1",
      collection: "workplace",
      pk: { field: "gsi1pk", composite: ["office"] },
      sk: { field: "gsi1sk", composite: ["number"] },
    },
  },
});
const company = new Service({ employees: Employee, desks: Desk }, { client, table });
const { employees, desks } = company.entities;

await employees.create({ id: "ann", office: "north", team: "red", salary: 100, skills: ["a", "b"] }).go();
met.twice = await employees
  .create({ id: "ann", office: "north", team: "red", salary: 1 })
  .go()
  .then(() => "created", () => "refused");
await employees
  .put(Array.from({ length: 30 }, (_, n) => ({ id: `e${n}`, office: "north", team: n % 3 ? "red" : "blue", salary: n })))
  .go();
await desks.put({ number: "1", office: "north" }).go();

await employees
  .patch({ id: "ann" })
  .add({ salary: 5, skills: ["c"] })
  .append({ reviews: [{ score: 9 }] })
  .go();
const ann = (await employees.get({ id: "ann" }).go()).data;
met.ann = { ...ann, skills: [...ann.skills].sort() };
met.blue = (await employees.query.coworkers({ office: "north", team: "blue" }).go({ pages: "all" })).data.length;
met.rich = (
  await employees.query
    .coworkers({ office: "north" })
    .where(({ salary }, { gte }) => gte(salary, 28))
    .go({ pages: "all" })
).data.map(({ id }) => id);

let cursor = null;
met.pages = [];
do {
  const page = await employees.query.coworkers({ office: "north" }).go({ limit: 10, cursor });
  met.pages.push(page.data.length);
  cursor = page.cursor;
} while (cursor);

const workplace = (await company.collections.workplace({ office: "north" }).go({ pages: "all" })).data;
met.workplace = [workplace.employees.length, workplace.desks.length];

const sit = (employeeOffice) =>
  company.transaction
    .write(({ employees, desks }) => [
      employees.check({ id: "ann" }).where(({ office }, { eq }) => eq(office, employeeOffice)).commit(),
      desks.patch({ number: "1", office: "north" }).set({ free: false }).commit(),
    ])
    .go();
met.transactions = [(await sit("south")).canceled, (await sit("north")).canceled];
met.desk = (await desks.get({ number: "1", office: "north" }).go()).data;
await employees.delete([{ id: "e1" }, { id: "e2" }]).go();
met.left = (await employees.scan.go({ pages: "all" })).data.length;

await client.send(new DeleteTableCommand({ TableName: table }));
console.log(JSON.stringify(met));
