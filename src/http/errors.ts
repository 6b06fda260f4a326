import { type ErrorType, type Recovery, SallyportError } from "../core/error.ts";
import { worded } from "../core/next-step.ts";
import { API_HEADERS } from "./guard/headers.ts";
import { HTTP_WORDING } from "./next-steps.ts";

/** Errors of the HTTP service itself, in addition to those of the gateway. */
export type HttpErrorType =
  | "NotSignedIn"
  | "NotPermitted"
  | "WrongHost"
  | "WrongOrigin"
  | "TooManyAttempts"
  | "TooManyStreams"
  | "TooManyBodies"
  | "TooLarge"
  | "NotFound"
  | "MethodNotAllowed"
  | "UnsupportedMediaType"
  | "InvalidRequest"
  | "NotReady"
  | "InternalError";

/** An error response with its status code. */
export class HttpError extends Error {
  readonly status: number;
  readonly type: HttpErrorType;
  readonly recovery: readonly Recovery[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    type: HttpErrorType,
    message: string,
    recovery: Recovery,
    headers: Record<string, string> = {},
  ) {
    super(message);
    this.status = status;
    this.type = type;
    this.recovery = [recovery];
    this.headers = headers;
  }

  toJSON() {
    return { type: this.type, message: this.message, recovery: this.recovery };
  }
}

const STATUS: Partial<Record<ErrorType, number>> = {
  InvalidRequest: 400,
  InvalidConfiguration: 400,
  PathOutOfScope: 400,
  WorkdirNotFound: 400,
  ArgumentsTooLong: 400,
  AmbiguousId: 400,
  CommandBlocked: 403,
  CommandDenied: 403,
  PermissionDenied: 403,
  NotAnApprover: 403,
  SelfApproval: 403,
  SessionNotFound: 404,
  ApprovalNotFound: 404,
  GrantNotFound: 404,
  TokenNotFound: 404,
  WorkNotFound: 404,
  CommandNotFound: 404,
  ApprovalPending: 409,
  AlreadyDecided: 409,
  AlreadyExited: 409,
  StillRunning: 409,
  OtherGateway: 409,
  StdinClosed: 409,
  NotOnTerminal: 409,
  NameInUse: 409,
  LeaseLost: 409,
  SessionLost: 409,
  NotGrantable: 422,
  ResourceLimitExceeded: 429,
  SpawnFailed: 500,
  KillFailed: 500,
  SandboxUnavailable: 503,
  KeeperUnavailable: 503,
  StateUnusable: 503,
  GatewayClosed: 503,
};

/** Returns the HTTP status for an error of the gateway. */
export function statusOf(type: ErrorType): number {
  return STATUS[type] ?? 500;
}

export function notSignedIn(): HttpError {
  return new HttpError(
    401,
    "NotSignedIn",
    "You are not signed in, or your sign-in has expired.",
    {
      action: "sign_in",
      hint:
        "In the console: run `sallyport token link` for a new sign-in link. " +
        "In a program: send `Authorization: Bearer TOKEN` with a token from `sallyport token create`.",
    },
    { "www-authenticate": 'Bearer realm="sallyport"' },
  );
}

export function notPermitted(role: string, roles: readonly string[]): HttpError {
  const names = roles.map((name) => `\`${name}\``).join(" or ");
  const hint = `Use a token with the role ${names}: \`sallyport token create NAME --role ${roles[0]}\`.`;
  return new HttpError(403, "NotPermitted", `The role \`${role}\` is not permitted to do this.`, {
    action: "other_role",
    hint,
  });
}

export function repeatedHeaderError(name: string): HttpError {
  return invalidInput(`headers.${name}`, "must not be given more than once");
}

export function wrongHost(): HttpError {
  return new HttpError(403, "WrongHost", "The `Host` header does not name this service.", {
    action: "allow_host",
    hint: "To accept another host name, start the service with `--allow-host NAME`.",
  });
}

export function wrongOrigin(): HttpError {
  return new HttpError(403, "WrongOrigin", "The request comes from another origin.", {
    action: "use_own_page",
    hint: "Only the console of this service may use the key of a sign-in. Use a token in programs.",
  });
}

export function tooManyAttempts(waitMs: number): HttpError {
  const seconds = Math.ceil(waitMs / 1000);
  return new HttpError(
    429,
    "TooManyAttempts",
    "Too many failed sign-ins.",
    { action: "wait", hint: `Try again in ${seconds} s.` },
    { "retry-after": String(seconds) },
  );
}

export function tooManyStreams({ perCaller, inAll }: { perCaller: number; inAll: number }): HttpError {
  return new HttpError(
    429,
    "TooManyStreams",
    `Too many open streams. The limit is ${perCaller} per caller and ${inAll} in total.`,
    { action: "close_some", hint: "Close streams or terminals that you no longer need, then try again." },
    { "retry-after": "5" },
  );
}

export function tooManyBodies({ perCaller, inAll }: { perCaller: number; inAll: number }): HttpError {
  return new HttpError(
    429,
    "TooManyBodies",
    `Too many large requests. The limit is ${perCaller} concurrent requests above 1 MiB per caller and ${inAll} in total.`,
    { action: "wait", hint: "Try again when one of them has completed, or send input in parts of at most 1 MiB." },
    { "retry-after": "1", connection: "close" },
  );
}

export function wrongSecret(): HttpError {
  return new HttpError(401, "NotSignedIn", "The link or token is invalid or has expired.", {
    action: "new_link",
    hint: "A link works once and expires after 10 minutes. Run `sallyport token link` for a new one.",
  });
}

export function tooLarge(most: number): HttpError {
  return new HttpError(
    413,
    "TooLarge",
    `The request body exceeds ${formatLimit(most)}.`,
    { action: "send_less", hint: "Send the input in several requests." },
    { connection: "close" },
  );
}

export function unsupportedMediaType(): HttpError {
  return new HttpError(415, "UnsupportedMediaType", "The request body must be JSON.", {
    action: "fix_request",
    hint: "Send the header `Content-Type: application/json`.",
  });
}

export function notJson(): HttpError {
  return new HttpError(400, "InvalidRequest", "The request body is not valid UTF-8 JSON.", {
    action: "fix_request",
    hint: "See `/openapi.json` for the format of the body.",
  });
}

export function invalidInput(where: string, problem: string): HttpError {
  return new HttpError(400, "InvalidRequest", `${where}: ${problem}`, {
    action: "fix_request",
    hint: "See `/openapi.json` for the parameters of this operation.",
  });
}

export function notFound(path: string): HttpError {
  return new HttpError(404, "NotFound", `Path \`${path}\` was not found.`, {
    action: "read_description",
    hint: "See `/openapi.json` for the available paths.",
  });
}

export function methodNotAllowed(methods: string): HttpError {
  return new HttpError(
    405,
    "MethodNotAllowed",
    `The method is not allowed. Allowed: ${methods}.`,
    { action: "fix_request", hint: "See `/openapi.json` for the available operations." },
    { allow: methods },
  );
}

export function notReady(): HttpError {
  return new HttpError(
    503,
    "NotReady",
    "The service is stopping, or its database is not available.",
    { action: "wait", hint: "Try again shortly. If the error persists, run `sallyport doctor`." },
    { "retry-after": "1" },
  );
}

function internalError(): HttpError {
  return new HttpError(500, "InternalError", "Internal error.", {
    action: "report",
    hint: "Check the output of `sallyport serve` for details and report the error.",
  });
}

export function consoleNotBuilt(): HttpError {
  return new HttpError(404, "NotFound", "The console has not been built.", {
    action: "build_page",
    hint: "In a source checkout, run `npm run build:web`. The published package contains the console.",
  });
}

/** Formats a number of bytes as MiB or KiB if it is a whole multiple. */
function formatLimit(bytes: number): string {
  if (bytes % (1 << 20) === 0) return `${bytes / (1 << 20)} MiB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}

/**
 * Returns the response for an error: its type, a message and recovery hints (invariant 8). Details of unexpected errors
 * go to the operator, not to the client.
 */
export function errorResponse(service: { onfailure(error: Error): void }, error: unknown): Response {
  const described = describeError(error);
  if (described === null) service.onfailure(error instanceof Error ? error : new Error(String(error)));
  const { status, headers, ...body } = described ?? shaped(internalError());
  return Response.json({ error: body }, { status, headers: { ...API_HEADERS, ...headers } });
}

interface DescribedError {
  status: number;
  headers: Readonly<Record<string, string>>;
  type: string;
  message: string;
  recovery: unknown;
}

function describeError(error: unknown): DescribedError | null {
  if (error instanceof HttpError) return shaped(error);
  if (!(error instanceof SallyportError)) return null;
  const { type, message, recovery } = error;
  return { type, message, recovery: worded(recovery, HTTP_WORDING), status: statusOf(type), headers: {} };
}

function shaped({ status, headers, type, message, recovery }: HttpError): DescribedError {
  return { status, headers, type, message, recovery };
}

export function cannotListen(place: string, { message }: Error): SallyportError {
  return new SallyportError("InvalidRequest", `Cannot listen on ${place}: ${message}.`, [
    { action: "other_port", hint: "Choose another address with `--listen [HOST:]PORT`. Port 0 selects a free port." },
  ]);
}

export function unusableCertificate({ message }: Error): SallyportError {
  return new SallyportError("InvalidRequest", `Cannot use the TLS certificate and key: ${message}.`, [
    { action: "fix_certificate", hint: "Pass a matching pair of PEM files with `--tls-cert` and `--tls-key`." },
  ]);
}
