import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type * as z from "zod";
import { LARGE_BODY_BYTES as BODY_MOST, mayBeLargeBody, readBody } from "../mcp/http/body.ts";
import { failure, nothingHere, notJson, otherMethods, tooLarge, wrongInput, wrongType } from "./errors.ts";
import { admit, type Caller, gatewayOf, KEY_QUERY } from "./guard/authenticate.ts";
import { API_HEADERS } from "./guard/headers.ts";
import { checkOrigin } from "./guard/origin.ts";
import type { Operation } from "./operation.ts";
import type { Service } from "./service.ts";
import type { Page } from "./static-files.ts";

/** Of an id or a name in the path. */
const PART_MOST = 256;
const JSON_HEADERS = { ...API_HEADERS, "content-type": "application/json" };

const NOBODY: Caller = {
  name: "",
  role: "viewer",
  agent: null,
  channel: "http",
  expiresAt: null,
  signIn: null,
  isGood: () => true,
};

export async function answer(
  service: Service,
  operation: Operation,
  context: Context<{ Bindings: HttpBindings }>,
): Promise<Response> {
  const begun = performance.now();
  const response = await answerOf(service, operation, context);
  const { status } = response === RESPONSE_ALREADY_SENT ? sentBy(context.env.outgoing) : response;
  service.requests.note(operation.id, status, performance.now() - begun);
  return response;
}

/** From a request to its answer: may it be asked, is it well formed, what comes of it. */
async function answerOf(
  service: Service,
  operation: Operation,
  { env, req }: Context<{ Bindings: HttpBindings }>,
): Promise<Response> {
  const { incoming, outgoing } = env;
  let release = () => {};
  try {
    const caller = callerOf(service, operation, incoming);
    const params = partsOf(req.param());
    const query = queryOf(operation.query, incoming.url);
    if ((operation.bodyMost ?? 0) > BODY_MOST && mayBeLargeBody(incoming))
      release = service.largeBodies.acquire(caller);
    const { value: body, bytes } = await bodyOf(operation, incoming);
    if (bytes <= BODY_MOST) release();
    const gateway = gatewayOf(service, caller);
    const call = {
      service,
      caller,
      gateway,
      params,
      query,
      body,
      gone: goneSignal(outgoing, service),
      request: incoming,
    };
    const result = await operation.handle(call);
    if (result instanceof Response) return withHeaders(result);
    return send(outgoing, operation.status ?? 200, JSON.stringify(result));
  } catch (error) {
    return failure(service, error);
  } finally {
    // Whoever answers holds the body until then.
    release();
  }
}

/** Most answers are JSON: written as they are, they do not cost the making and reading of a Response. */
function send(outgoing: ServerResponse, status: number, text: string): Response {
  outgoing.writeHead(status, { ...JSON_HEADERS, "content-length": Buffer.byteLength(text) });
  outgoing.end(text);
  return RESPONSE_ALREADY_SENT;
}

function sentBy({ statusCode }: ServerResponse): { status: number } {
  return { status: statusCode };
}

function callerOf(service: Service, { roles, method, anyHost }: Operation, request: IncomingMessage): Caller {
  if (roles !== "anyone") return admit(service, request, roles, method !== "GET");
  const wrong = anyHost ? null : checkOrigin(request, service.names);
  if (wrong) throw wrong;
  return NOBODY;
}

function partsOf(params: Record<string, string>): Record<string, string> {
  for (const part of Object.values(params)) if (part.length > PART_MOST) throw nothingHere("that path");
  return params;
}

function queryOf(schema: z.ZodType | undefined, url = ""): unknown {
  const start = url.indexOf("?");
  const given: Record<string, string | string[]> = {};
  if (start >= 0) {
    for (const [name, value] of new URLSearchParams(url.slice(start))) {
      if (name === KEY_QUERY) continue; // the guard's, not the operation's
      if (Object.hasOwn(given, name)) throw wrongInput(name, "is given more than once");
      Object.defineProperty(given, name, { value, enumerable: true });
    }
  }
  if (schema) return checked(schema, given, "query");
  const [unexpected] = Object.keys(given);
  if (unexpected !== undefined) throw wrongInput("query", `\`${unexpected.slice(0, 64)}\` is not known here`);
  return {};
}

/** A body of the right type is also what makes a form of another page powerless: none can send JSON unasked. */
async function bodyOf(
  { body, bodyHere: schema = body, method, bodyMost = BODY_MOST }: Operation,
  request: IncomingMessage,
): Promise<{ value: unknown; bytes: number }> {
  if (method === "GET") return { value: undefined, bytes: 0 };
  if (schema === undefined) return { value: await nothing(request), bytes: 0 };
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers["content-type"] ?? "")) throw wrongType();
  const read = await readBody(request, bodyMost);
  if ("value" in read) return { value: checked(schema, read.value, "body"), bytes: read.bytes };
  throw read.fault === "too large" ? tooLarge(bodyMost) : notJson();
}

/** Where nothing is expected, nothing but an empty object may come. */
async function nothing(request: IncomingMessage): Promise<undefined> {
  if (request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) return;
  if (Number(request.headers["content-length"]) === 0) return;
  const body = await readBody(request, 1024);
  if (!("value" in body)) throw body.fault === "too large" ? tooLarge(1024) : notJson();
  const { value } = body;
  if (typeof value !== "object" || value === null || Object.keys(value).length > 0) {
    throw wrongInput("body", "must be left out");
  }
}

function checked(schema: z.ZodType, value: unknown, where: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join(".").slice(0, 128);
  throw wrongInput(path ? `${where}.${path}` : where, (issue?.message ?? "is wrong").slice(0, 512));
}

/** A command nobody waits for any more is ended, as with Ctrl-C; one that outlives the service is not. */
function goneSignal(response: ServerResponse, { stopping }: Service): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished && !stopping.aborted) gone.abort();
  });
  return gone.signal;
}

function withHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(API_HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}

export type App = Hono<{ Bindings: HttpBindings }>;
type HttpContext = Context<{ Bindings: HttpBindings }>;

/** Puts the service together: every operation behind the same guards, then the files of the page. */
export function makeApp(service: Service, operations: readonly Operation[], page: Page): App {
  const app: App = new Hono();
  const methods = new Map<string, string[]>();
  for (const operation of operations) {
    app.on(operation.method, operation.path, (context) => answer(service, operation, context));
    methods.set(operation.path, [...(methods.get(operation.path) ?? []), operation.method]);
  }
  for (const [path, known] of methods) {
    app.all(path, () => failure(service, otherMethods(known.join(", "))));
  }
  app.get("/*", (context) => file(service, page, context));
  app.notFound(({ req }) => failure(service, nothingHere(req.path)));
  app.onError((error) => failure(service, error));
  return app;
}

async function file(service: Service, page: Page, { env, req }: HttpContext): Promise<Response> {
  const wrong = checkOrigin(env.incoming, service.names);
  if (wrong) return failure(service, wrong);
  return (await page.answer(req.path, env.incoming)) ?? failure(service, nothingHere(req.path));
}
