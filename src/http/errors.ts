import { type ErrorType, type Recovery, SallyportError } from "../core/error.ts";
import { API_HEADERS } from "./guard/headers.ts";

/** What can be wrong with a request before the gateway hears of it. */
type HttpErrorType =
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

/** An answer that is a refusal, with its status. */
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

/** The status of an answer that tells of a failure of the gateway. */
export function statusOf(type: ErrorType): number {
  return STATUS[type] ?? 500;
}

export function notSignedIn(): HttpError {
  return new HttpError(
    401,
    "NotSignedIn",
    "You are not signed in, or no longer.",
    {
      action: "sign_in",
      hint: "On the page: `sallyport token link` prints a link. Programs: Authorization: Bearer TOKEN (`sallyport token create`).",
    },
    { "www-authenticate": 'Bearer realm="sallyport"' },
  );
}

export function notPermitted(role: string, roles: readonly string[]): HttpError {
  const hint = `A token of the role ${roles.join(" or ")} can: sallyport token create NAME --role ${roles[0]}`;
  return new HttpError(403, "NotPermitted", `This is not for the role ${role}.`, { action: "other_role", hint });
}

export function wrongHost(): HttpError {
  return new HttpError(403, "WrongHost", "This service is not called by that name.", {
    action: "allow_host",
    hint: "Start it with `--allow-host NAME` if the name is meant to be one of its own.",
  });
}

export function wrongOrigin(): HttpError {
  return new HttpError(403, "WrongOrigin", "This request comes from another page.", {
    action: "use_own_page",
    hint: "Only the service's own page may use its cookie; programs use a token.",
  });
}

export function tooManyAttempts(waitMs: number): HttpError {
  const seconds = Math.ceil(waitMs / 1000);
  return new HttpError(
    429,
    "TooManyAttempts",
    "Too many wrong attempts to sign in.",
    { action: "wait", hint: `Try again in ${seconds} s.` },
    { "retry-after": String(seconds) },
  );
}

export function tooManyStreams({ perCaller, inAll }: { perCaller: number; inAll: number }): HttpError {
  return new HttpError(
    429,
    "TooManyStreams",
    `No more than ${perCaller} may be open at once for one caller, and ${inAll} in all.`,
    { action: "close_some", hint: "Close streams or terminals that nobody looks at, and try again." },
    { "retry-after": "5" },
  );
}

export function tooManyBodies({ perCaller, inAll }: { perCaller: number; inAll: number }): HttpError {
  return new HttpError(
    429,
    "TooManyBodies",
    `No more than ${perCaller} requests above 1 MiB are taken at once of one caller, and ${inAll} in all.`,
    { action: "wait", hint: "Try again when one of them is answered, or send input in pieces of up to 1 MiB." },
    { "retry-after": "1", connection: "close" },
  );
}

export function wrongSecret(): HttpError {
  return new HttpError(401, "NotSignedIn", "This link or token is not good, or no longer.", {
    action: "new_link",
    hint: "A link works once and for ten minutes; `sallyport token link` prints another.",
  });
}

export function tooLarge(most: number): HttpError {
  return new HttpError(
    413,
    "TooLarge",
    `A request may have ${most} bytes.`,
    { action: "send_less", hint: "Send input in several pieces." },
    { connection: "close" },
  );
}

export function unsupportedMediaType(): HttpError {
  return new HttpError(415, "UnsupportedMediaType", "The body must be JSON.", {
    action: "fix_request",
    hint: "Send the header Content-Type: application/json.",
  });
}

export function notJson(): HttpError {
  return new HttpError(400, "InvalidRequest", "The body is not JSON in UTF-8.", {
    action: "fix_request",
    hint: "/openapi.json describes the body.",
  });
}

export function invalidInput(where: string, problem: string): HttpError {
  return new HttpError(400, "InvalidRequest", `${where}: ${problem}`, {
    action: "fix_request",
    hint: "/openapi.json describes what is expected.",
  });
}

export function notFound(path: string): HttpError {
  return new HttpError(404, "NotFound", `There is nothing at ${path}.`, {
    action: "read_description",
    hint: "/openapi.json lists what there is.",
  });
}

export function methodNotAllowed(methods: string): HttpError {
  return new HttpError(
    405,
    "MethodNotAllowed",
    `Only ${methods} here.`,
    { action: "fix_request", hint: "/openapi.json lists what there is." },
    { allow: methods },
  );
}

export function notReady(): HttpError {
  return new HttpError(
    503,
    "NotReady",
    "The service is stopping, or its database does not answer.",
    { action: "wait", hint: "Try again in a moment; `sallyport doctor` tells what is the matter with a state folder." },
    { "retry-after": "1" },
  );
}

function internalError(): HttpError {
  return new HttpError(500, "InternalError", "Something went wrong here.", {
    action: "report",
    hint: "The service's own output says what; please report it.",
  });
}

export function consoleNotBuilt(): HttpError {
  return new HttpError(404, "NotFound", "The page was not built.", {
    action: "build_page",
    hint: "In a checkout: npm run build:web. An installed package has it.",
  });
}

/** Every failure as an answer: its type, what it is, and a way out (promise 8). What is nobody's business stays here. */
export function errorResponse(service: { onfailure(error: Error): void }, error: unknown): Response {
  const told = describeError(error);
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

function describeError(error: unknown): Told | null {
  if (error instanceof HttpError) return shaped(error);
  if (!(error instanceof SallyportError)) return null;
  return { ...error.toJSON(), status: statusOf(error.type), headers: {} };
}

function shaped({ status, headers, type, message, recovery }: HttpError): Told {
  return { status, headers, type, message, recovery };
}

export function cannotListen(place: string, { message }: Error): SallyportError {
  return new SallyportError("InvalidRequest", `The service cannot listen at ${place}: ${message}.`, [
    { action: "other_port", hint: "Choose another place: --listen [HOST:]PORT; port 0 takes a free one." },
  ]);
}

export function unusableCertificate({ message }: Error): SallyportError {
  return new SallyportError("InvalidRequest", `The certificate and its key cannot be used: ${message}.`, [
    { action: "fix_certificate", hint: "--tls-cert and --tls-key take PEM files that belong together." },
  ]);
}
