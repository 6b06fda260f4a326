import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type * as z from "zod";
import { LARGE_BODY_BYTES as MAX_BODY_BYTES, mayBeLargeBody, readBody } from "../mcp/http/body.ts";
import {
  errorResponse,
  invalidInput,
  methodNotAllowed,
  notFound,
  notJson,
  tooLarge,
  unsupportedMediaType,
} from "./errors.ts";
import { admit, gatewayOf, TICKET_QUERY } from "./guard/authenticate.ts";
import type { Caller } from "./guard/caller.ts";
import { API_HEADERS } from "./guard/headers.ts";
import { checkRequest } from "./guard/origin.ts";
import { sendJson } from "./json-response.ts";
import type { Operation } from "./operation.ts";
import type { Service } from "./service.ts";
import type { StaticFiles } from "./static-files.ts";

/** Maximum length of an ID or a name in a path, in characters. */
const MAX_PARAMETER = 256;

const ANONYMOUS: Caller = {
  name: "",
  role: "viewer",
  agent: null,
  channel: "http",
  expiresAt: null,
  signIn: null,
  isGood: () => true,
};

async function handleRequest(
  service: Service,
  operation: Operation,
  context: Context<{ Bindings: HttpBindings }>,
): Promise<Response> {
  const begun = performance.now();
  const response = await respond(service, operation, context);
  const { status } = response === RESPONSE_ALREADY_SENT ? sentBy(context.env.outgoing) : response;
  service.requests.note(operation.id, status, performance.now() - begun);
  return response;
}

/** Authorizes a request, validates it and runs its operation. */
async function respond(
  service: Service,
  operation: Operation,
  { env, req }: Context<{ Bindings: HttpBindings }>,
): Promise<Response> {
  const { incoming, outgoing } = env;
  let release = () => {};
  try {
    const caller = callerOf(service, operation, incoming);
    const params = pathParameters(req.param());
    const query = queryOf(operation.query, incoming.url);
    if ((operation.maxBodyBytes ?? 0) > MAX_BODY_BYTES && mayBeLargeBody(incoming))
      release = service.largeBodies.acquire(caller);
    const { value: body, bytes } = await bodyOf(operation, incoming);
    if (bytes <= MAX_BODY_BYTES) release();
    const gateway = gatewayOf(service, caller);
    const call = {
      service,
      caller,
      gateway,
      params,
      query,
      body,
      disconnected: disconnectSignal(outgoing, service),
      request: incoming,
    };
    const result = await operation.handle(call);
    if (result instanceof Response) return withHeaders(result);
    sendJson(outgoing, operation.status ?? 200, JSON.stringify(result));
    return RESPONSE_ALREADY_SENT;
  } catch (error) {
    return errorResponse(service, error);
  } finally {
    // The body stays in memory until the operation is done.
    release();
  }
}

function sentBy({ statusCode }: ServerResponse): { status: number } {
  return { status: statusCode };
}

function callerOf(service: Service, { roles, method, anyHost }: Operation, request: IncomingMessage): Caller {
  if (roles !== "anyone") return admit(service, request, roles, method !== "GET");
  const wrong = anyHost ? null : checkRequest(request, service.names);
  if (wrong) throw wrong;
  return ANONYMOUS;
}

function pathParameters(params: Record<string, string>): Record<string, string> {
  for (const part of Object.values(params)) if (part.length > MAX_PARAMETER) throw notFound(`${part.slice(0, 64)}…`);
  return params;
}

function queryOf(schema: z.ZodType | undefined, url = ""): unknown {
  const start = url.indexOf("?");
  const given: Record<string, string | string[]> = {};
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(url.slice(start))) {
      if (name === TICKET_QUERY) continue; // part of authentication, not of the operation
      if (Object.hasOwn(given, name)) throw invalidInput(name, "must not be given more than once");
      Object.defineProperty(given, name, { value, enumerable: true });
    }
  }
  if (schema) return checked(schema, given, "query");
  const [unexpected] = Object.keys(given);
  if (unexpected !== undefined) throw invalidInput("query", `unknown parameter \`${unexpected.slice(0, 64)}\``);
  return {};
}

/**
 * Reads and validates the body. Requiring the JSON content type also protects against cross-site request forgery: an
 * HTML form cannot send it, and a script from another origin needs a CORS preflight, which is rejected.
 */
async function bodyOf(
  { body, checkedBody: schema = body, method, maxBodyBytes = MAX_BODY_BYTES }: Operation,
  request: IncomingMessage,
): Promise<{ value: unknown; bytes: number }> {
  if (method === "GET") return { value: undefined, bytes: 0 };
  if (schema === undefined) return { value: await nothing(request), bytes: 0 };
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers["content-type"] ?? "")) throw unsupportedMediaType();
  const read = await readBody(request, maxBodyBytes);
  if ("value" in read) return { value: checked(schema, read.value, "body"), bytes: read.bytes };
  throw read.fault === "too large" ? tooLarge(maxBodyBytes) : notJson();
}

/** Rejects a body for operations without one, except for an empty object. */
async function nothing(request: IncomingMessage): Promise<undefined> {
  if (request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) return;
  if (Number(request.headers["content-length"]) === 0) return;
  const body = await readBody(request, 1024);
  if (!("value" in body)) throw body.fault === "too large" ? tooLarge(1024) : notJson();
  const { value } = body;
  if (typeof value !== "object" || value === null || Object.keys(value).length > 0) {
    throw invalidInput("body", "must be empty");
  }
}

function checked(schema: z.ZodType, value: unknown, where: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join(".").slice(0, 128);
  throw invalidInput(path ? `${where}.${path}` : where, (issue?.message ?? "is invalid").slice(0, 512));
}

/** Aborts when the client disconnects, which stops its command. When the service stops, commands keep running. */
function disconnectSignal(response: ServerResponse, { stopping }: Service): AbortSignal {
  const disconnected = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished && !stopping.aborted) disconnected.abort();
  });
  return disconnected.signal;
}

function withHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(API_HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}

export type App = Hono<{ Bindings: HttpBindings }>;
type HttpContext = Context<{ Bindings: HttpBindings }>;

/** Creates the application: all operations behind the same guards, then the files of the console. */
export function createApp(service: Service, operations: readonly Operation[], files: StaticFiles): App {
  const app: App = new Hono();
  const methods = new Map<string, string[]>();
  for (const operation of operations) {
    app.on(operation.method, operation.path, (context) => handleRequest(service, operation, context));
    methods.set(operation.path, [...(methods.get(operation.path) ?? []), operation.method]);
  }
  for (const [path, known] of methods) {
    app.all(path, () => errorResponse(service, methodNotAllowed(known.join(", "))));
  }
  app.get("/*", (context) => file(service, files, context));
  app.notFound(({ req }) => errorResponse(service, notFound(req.path)));
  app.onError((error) => errorResponse(service, error));
  return app;
}

async function file(service: Service, files: StaticFiles, { env, req }: HttpContext): Promise<Response> {
  const wrong = checkRequest(env.incoming, service.names);
  if (wrong) return errorResponse(service, wrong);
  return (await files.serve(req.path, env.incoming)) ?? errorResponse(service, notFound(req.path));
}
