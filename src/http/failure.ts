import { SallyportError } from "../core/error.ts";
import { HttpError, internalError, statusOf } from "./errors.ts";
import { API_HEADERS } from "./guard/headers.ts";
import type { Service } from "./service.ts";

/** Every failure as an answer: its type, what it is, and a way out (promise 8). What is nobody's business stays here. */
export function failure(service: Pick<Service, "onfailure">, error: unknown): Response {
  const told = tellable(error);
  if (told === null) service.onfailure(error instanceof Error ? error : new Error(String(error)));
  const { status, headers, ...body } = told ?? shaped(internalError());
  return Response.json({ error: body }, { status, headers: { ...API_HEADERS, ...headers } });
}

interface Told {
  status: number;
  headers: Readonly<Record<string, string>>;
  type: string;
  message: string;
  recovery: unknown;
}

function tellable(error: unknown): Told | null {
  if (error instanceof HttpError) return shaped(error);
  if (!(error instanceof SallyportError)) return null;
  return { ...error.toJSON(), status: statusOf(error.type), headers: {} };
}

function shaped({ status, headers, type, message, recovery }: HttpError): Told {
  return { status, headers, type, message, recovery };
}
