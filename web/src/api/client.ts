import type { Recovery } from "../../../src/core/error.ts";
import { KEY_HEADER, key } from "./key.ts";

/** What went wrong, in the service's words or, where it did not answer, in ours. */
export class ApiError extends Error {
  readonly type: string;
  readonly status: number;
  readonly recovery: readonly Recovery[];

  constructor(type: string, status: number, message: string, recovery: readonly Recovery[]) {
    super(message);
    this.type = type;
    this.status = status;
    this.recovery = recovery;
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

const signedOut = new Set<() => void>();

/** Told whenever the service no longer knows who calls. */
export function onSignedOut(told: () => void): void {
  signedOut.add(told);
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await answer(method, path, options);
  if (response.status === 204) return undefined as T;
  const body = (await response.json().catch(() => null)) as T | { error?: ErrorBody } | null;
  if (response.ok) return body as T;
  throw refused(response.status, (body as { error?: ErrorBody } | null)?.error, path);
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  call<T>("GET", path, { ...(query && { query }), ...(signal && { signal }) });

export const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>("POST", path, { body });

export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === "" ? path : `${path}?${search}`;
}

/** For what can have no headers: event streams and downloads. */
export const keyedAddress = (path: string, query: Query = {}): string => address(path, { ...query, key: key() });

/** A stream or file that is no JSON. */
export async function open(path: string, signal: AbortSignal): Promise<Response> {
  const response = await answer("GET", path, { signal });
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as { error?: ErrorBody } | null;
  throw refused(response.status, body?.error, path);
}

interface ErrorBody {
  type: string;
  message: string;
  recovery?: Recovery[];
}

async function answer(method: string, path: string, { query, body, signal }: CallOptions): Promise<Response> {
  try {
    return await fetch(address(path, query), {
      method,
      credentials: "same-origin",
      headers: {
        accept: "application/json",
        ...(key() !== "" && { [KEY_HEADER]: key() }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("Unreachable", 0, "The service does not answer.", [
      { action: "start", hint: "Is `sallyport serve` running? The page goes on by itself once it answers." },
    ]);
  }
}

function refused(status: number, error: ErrorBody | undefined, path: string): ApiError {
  if (status === 401 && path !== "/v1/sign-in") for (const told of signedOut) told();
  if (error) return new ApiError(error.type, status, error.message, error.recovery ?? []);
  return new ApiError("Unexpected", status, `The service answered with status ${status}.`, [
    { action: "retry", hint: "Try again; if it stays, look at what `sallyport serve` printed." },
  ]);
}
