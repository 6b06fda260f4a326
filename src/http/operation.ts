import type { IncomingMessage } from "node:http";
import type * as z from "zod";
import type { Gateway } from "../gateway/gateway.ts";
import type { TokenRole } from "../storage/tokens.ts";
import type { Caller } from "./guard/authenticate.ts";
import type { Service } from "./service.ts";

export type Role = TokenRole;

/** Who may call an operation. An agent is no kind of person: it is named where it may. */
export const READERS: readonly Role[] = ["viewer", "approver", "operator"];
export const DECIDERS: readonly Role[] = ["approver", "operator"];
export const OPERATORS: readonly Role[] = ["operator"];
export const READERS_AND_AGENT: readonly Role[] = [...READERS, "agent"];
export const OPERATORS_AND_AGENT: readonly Role[] = [...OPERATORS, "agent"];

/** One request that was found to be right: who calls, and with what. */
export interface OperationCall<Query, Body> {
  service: Service;
  caller: Caller;
  /** The gateway as this caller sees it. */
  gateway: Gateway;
  /** The parts of the path that are named in it, decoded. */
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  /** Aborts when the caller is disconnected before the answer; not when the service stops: commands live on. */
  disconnected: AbortSignal;
  request: IncomingMessage;
}

/** An answer that is no JSON: streams, pictures, files. */
export interface Media {
  media: string;
  description: string;
}

/**
 * One thing the service can be asked. The app, the OpenAPI document and the tests of who may do what are all made from
 * the list of these.
 */
export interface Operation<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  method: "GET" | "POST" | "DELETE";
  /** Named parts begin with a colon: `/v1/sessions/:id`. */
  path: string;
  /** A short name for programs, unique among all: `listSessions`. */
  id: string;
  summary: string;
  /** `anyone`: also somebody who is not signed in; `caller` is then nobody. */
  roles: readonly Role[] | "anyone";
  /** Whatever name the service is called by. */
  anyHost?: true;
  query?: Query;
  body?: Body;
  /** What of the body is looked at here, where the gateway looks at the rest by itself. */
  checkedBody?: z.ZodType;
  /** Of a body that is larger than usual. */
  maxBodyBytes?: number;
  response: Result | Media;
  /** What an answer that is not 200 would be. */
  status?: number;
  /** A Response goes out as it is; everything else as JSON. */
  handle(call: OperationCall<z.infer<Query>, z.infer<Body>>): unknown;
}

/** Ties the types of one operation together; lists hold it without them. */
export function operation<Query extends z.ZodType, Body extends z.ZodType, Result extends z.ZodType>(
  given: Operation<Query, Body, Result>,
): Operation {
  return given as unknown as Operation;
}
