import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { answer } from "./answer.ts";
import { nothingHere, otherMethods } from "./errors.ts";
import { failure } from "./failure.ts";
import { checkOrigin } from "./guard/origin.ts";
import type { Operation } from "./operation.ts";
import type { Page } from "./page.ts";
import type { Service } from "./service.ts";

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

export type Listener = (request: IncomingMessage, response: ServerResponse) => void;
