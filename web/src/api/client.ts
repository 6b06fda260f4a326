import type { Recovery } from "../../../src/core/error.ts";
import { KEY_HEADER, key } from "./key.ts";

/** An error response of the service, or a failure to reach it. */
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

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

const signedOut = new Set<() => void>();

/** Calls the listener whenever the service responds that the caller is not signed in. */
export function onSignedOut(listener: () => void): void {
  signedOut.add(listener);
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  const body = (await response.json().catch(() => null)) as T | { error?: ErrorBody } | null;
  if (response.ok) return body as T;
  throw errorOf(response.status, (body as { error?: ErrorBody } | null)?.error, path);
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  call<T>("GET", path, { ...(query && { query }), ...(signal && { signal }) });

export const post = <T>(path: string, body: unknown = {}): Promise<T> => call<T>("POST", path, { body });

export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === "" ? path : `${path}?${search}`;
}

/**
 * Downloads a file under this name, or under the one that the service suggests. A download cannot send headers, so its
 * address has a one-time ticket.
 */
export async function download(path: string, query: Query, name = ""): Promise<void> {
  const { ticket } = await post<{ ticket: string }>("/v1/tickets", { path });
  const link = document.createElement("a");
  link.href = address(path, { ...query, ticket });
  link.download = name;
  link.click();
}

/** Requests a stream or a file that is not JSON. */
export async function open(path: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  const response = await send("GET", path, { signal, headers });
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as { error?: ErrorBody } | null;
  throw errorOf(response.status, body?.error, path);
}

interface ErrorBody {
  type: string;
  message: string;
  recovery?: Recovery[];
}

async function send(method: string, path: string, { query, body, signal, headers }: CallOptions): Promise<Response> {
  try {
    return await fetch(address(path, query), {
      method,
      credentials: "same-origin",
      headers: {
        accept: "application/json",
        ...(key() !== "" && { [KEY_HEADER]: key() }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("Unreachable", 0, "The service cannot be reached.", [
      { action: "start", hint: "Check that `sallyport serve` is running. The console reconnects automatically." },
    ]);
  }
}

function errorOf(status: number, error: ErrorBody | undefined, path: string): ApiError {
  if (status === 401 && path !== "/v1/sign-in") for (const listener of signedOut) listener();
  if (error) return new ApiError(error.type, status, error.message, error.recovery ?? []);
  return new ApiError("Unexpected", status, `The service responded with status ${status}.`, [
    { action: "retry", hint: "Try again. If the error persists, check the output of `sallyport serve`." },
  ]);
}
