import * as z from "zod";
import { ErrorBody } from "../../core/session-schema.ts";
import type { Live } from "../live/open.ts";
import { type Media, type Operation, operation } from "../operation.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { controlOperations } from "./control.ts";
import { logOperations } from "./logs.ts";
import { overviewOperations } from "./overview.ts";
import { ruleOperations } from "./rules.ts";
import { sessionOperations } from "./sessions.ts";
import { signInOperations } from "./sign-in.ts";
import { terminalOperations } from "./terminal.ts";
import { tokenOperations } from "./tokens.ts";

type Json = Record<string, unknown>;

/** Builds the OpenAPI document from the schemas that requests are validated with. */
function openApi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {};
  const schemas: Record<string, unknown> = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationJson(operation, schemas) };
  }
  const { $schema, ...error } = z.toJSONSchema(z.object({ error: ErrorBody })) as Json;
  return {
    openapi: "3.1.0",
    info: {
      title: "Sallyport",
      version,
      description: "HTTP API of Sallyport, a gateway between AI agents and an operating system.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: { ...schemas, Error: error },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "Token from `sallyport token create`" },
        page: {
          type: "apiKey",
          in: "header",
          name: "X-Sallyport-Key",
          description: "Key from `POST /v1/sign-in`",
        },
      },
    },
  };
}

function operationJson(operation: Operation, schemas: Record<string, unknown>): Json {
  const { id, summary, roles, body, response, status = 200 } = operation;
  const anyone = roles === "anyone";
  const refusals = anyone ? ["400", "403"] : ["400", "401", "403"];
  return {
    operationId: id,
    summary,
    tags: [tagOf(operation.path)],
    security: anyone ? [] : [{ token: [] }, { page: [] }],
    "x-roles": anyone ? "anyone" : roles,
    parameters: [...pathParameters(operation), ...queryParameters(operation)],
    ...(body
      ? { requestBody: { required: true, content: { "application/json": { schema: inputSchema(body) } } } }
      : {}),
    responses: {
      [status]: { description: "Success", content: contentOf(response, schemas) },
      ...Object.fromEntries(refusals.map((code) => [code, REFUSED])),
      default: REFUSED,
    },
  };
}

const REFUSED = {
  description: "Error; `error` has the cause and recovery hints",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

function tagOf(path: string): string {
  return /^\/v1\/([a-z]+)/.exec(path)?.[1] ?? "service";
}

function pathParameters({ path }: Operation): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    return {
      name,
      in: "path",
      required: true,
      description: parameterText(path),
      schema: { type: "string", maxLength: 256 },
    };
  });
}

function parameterText(path: string): string {
  if (path.startsWith("/v1/sessions/")) return "Session ID or name";
  if (path.startsWith("/v1/approvals/")) return "Approval ID";
  return path.startsWith("/v1/tokens/") ? "Token ID or name" : "Grant ID";
}

function queryParameters({ query }: Operation): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = inputSchema(query) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    return { name, in: "query", required: required.includes(name), ...(description ? { description } : {}), schema };
  });
}

function inputSchema(schema: z.ZodType): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
  }) as Json;
  return rest;
}

/** Returns the content of a response. Schemas with an ID are moved to `components`. */
function contentOf(answer: z.ZodType | Media, schemas: Record<string, unknown>): Json {
  if ("media" in answer) return { [answer.media]: { schema: { type: "string", description: answer.description } } };
  const { $schema, $defs, ...rest } = z.toJSONSchema(answer, { io: "output", unrepresentable: "any" }) as Json;
  const moved = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
  for (const [name, each] of Object.entries(($defs ?? {}) as Json)) schemas[name] = moved(each);
  const { id } = (answer.meta() ?? {}) as { id?: string };
  if (id === undefined) return { "application/json": { schema: moved(rest) } };
  schemas[id] = moved(rest);
  return { "application/json": { schema: { $ref: `#/components/schemas/${id}` } } };
}

/** Returns all operations of the service. */
export function operations(live: Pick<Live, "operations">): Operation[] {
  const all: Operation[] = [
    ...signInOperations,
    ...sessionOperations,
    ...logOperations,
    ...controlOperations,
    ...terminalOperations,
    ...approvalOperations,
    ...ruleOperations,
    ...auditOperations,
    ...overviewOperations,
    ...tokenOperations,
    ...live.operations,
  ];
  let description: object | null = null;
  all.push(
    operation({
      method: "GET",
      path: "/openapi.json",
      id: "describe",
      summary: "Get the OpenAPI document",
      roles: "anyone",
      response: z.looseObject({}),
      // Built on the first request.
      handle: ({ service }) => {
        description ??= openApi(all, service.version);
        return description;
      },
    }),
  );
  return all;
}
