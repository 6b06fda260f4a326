import type { TestService } from "../../fixtures/service.ts";

export interface Described {
  id: string;
  method: string;
  /** Path with parameters in braces, such as `{id}`. */
  path: string;
  roles: string[] | "anyone";
  parameters: { name: string; in: "path" | "query"; required: boolean; schema: { type?: string; enum?: string[] } }[];
  body: { properties: Record<string, Schema>; required?: string[] } | null;
}

export interface Schema {
  type?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  items?: Schema;
}

interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, RawOperation>>;
}

interface RawOperation {
  operationId: string;
  "x-roles": string[] | "anyone";
  parameters: Described["parameters"];
  requestBody?: { content: { "application/json": { schema: NonNullable<Described["body"]> } } };
}

/** Returns the operations in the OpenAPI document of the service. */
export async function describedOperations(service: TestService): Promise<Described[]> {
  const { paths } = await service.json<OpenApi>(null, "/openapi.json");
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      roles: raw["x-roles"],
      parameters: raw.parameters,
      body: raw.requestBody?.content["application/json"].schema ?? null,
    })),
  );
}

/** A valid body for each operation that has one. */
export const BODIES: Record<string, object> = {
  signIn: { secret: "x" },
  run: { command: "true" },
  sendInput: { text: "x" },
  sendKeys: { keys: ["Enter"] },
  paste: { text: "x" },
  resize: { columns: 80, rows: 24 },
  signal: { signal: "SIGWINCH" },
  extend: { timeoutMs: 60_000 },
  wait: { timeoutMs: 0 },
  decide: { decision: "deny" },
  addRule: { command: ["git", "status"] },
  tryRule: { rule: { command: ["git", "status"] }, commands: ["git status"] },
  createTicket: { path: "/v1/me" },
  check: { command: "true" },
  createToken: { name: "made", role: "viewer" },
};

/** Required query parameters. */
export const QUERIES: Record<string, string> = { searchLogs: "?q=x" };

/** Returns the path of an operation for a session, approval or other object. */
export function pathOf({ path, id }: Pick<Described, "path" | "id">, reference: string): string {
  return path.replace(/\{\w+\}/g, encodeURIComponent(reference)) + (QUERIES[id] ?? "");
}

/** Returns the status of a response and discards its body, because a stream would never end. */
export async function statusOf(response: Response): Promise<number> {
  await response.body?.cancel();
  return response.status;
}
