import type { IncomingMessage } from "node:http";
import type * as z from "zod";
import type { Gateway } from "../gateway/gateway.ts";
import type { TokenRole } from "../storage/tokens.ts";
import type { Caller } from "./guard/caller.ts";
import type { Service } from "./service.ts";

export type Role = TokenRole;

/** Sets of roles that may call an operation. Agents are only included where the name says so. */
export const READERS: readonly Role[] = ["viewer", "approver", "operator"];
export const DECIDERS: readonly Role[] = ["approver", "operator"];
export const OPERATORS: readonly Role[] = ["operator"];
export const READERS_AND_AGENT: readonly Role[] = [...READERS, "agent"];
export const OPERATORS_AND_AGENT: readonly Role[] = [...OPERATORS, "agent"];

/** An authorized and validated request. */
export interface OperationCall<Query, Body> {
  service: Service;
  caller: Caller;
  /** The gateway, restricted to what this caller may see. */
  gateway: Gateway;
  /** The decoded parameters of the path. */
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  /** Aborts when the client disconnects before the response, but not when the service stops: commands keep running. */
  disconnected: AbortSignal;
  request: IncomingMessage;
}

/** A response that is not JSON: a stream, an image or a file. */
export interface Media {
  media: string;
  description: string;
}

/** One operation of the API. The routes, the OpenAPI document and the authorization tests are derived from it. */
export interface Operation<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  method: "GET" | "POST" | "DELETE";
  /** The path, with parameters that begin with a colon: `/v1/sessions/:id`. */
  path: string;
  /** The unique operation ID: `listSessions`. */
  id: string;
  /** An imperative summary without a final period. */
  summary: string;
  /** Roles that may call the operation. `anyone` requires no sign-in. */
  roles: readonly Role[] | "anyone";
  /** Accepts any `Host` header. */
  anyHost?: true;
  query?: Query;
  body?: Body;
  /** The part of the body that is validated here, when the gateway validates the rest. */
  checkedBody?: z.ZodType;
  /** Maximum size of the body in bytes (default: 1 MiB). */
  maxBodyBytes?: number;
  response: Result | Media;
  /** The status of a successful response (default: 200). */
  status?: number;
  /** Returns a Response, which is sent unchanged, or a value, which is sent as JSON. */
  handle(call: OperationCall<z.infer<Query>, z.infer<Body>>): unknown;
}

/** Infers the types of an operation, then erases them so that operations fit into one list. */
export function operation<Query extends z.ZodType, Body extends z.ZodType, Result extends z.ZodType>(
  given: Operation<Query, Body, Result>,
): Operation {
  return given as unknown as Operation;
}
