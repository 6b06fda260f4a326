import type { IncomingMessage } from "node:http";
import { notPermitted, notReady, notSignedIn, wrongOrigin } from "../errors.ts";
import type { Role } from "../operation.ts";
import type { Service } from "../service.ts";
import { type Caller, whoCalls } from "./caller.ts";
import { checkOrigin, isFromOwnPage } from "./origin.ts";

/**
 * Authenticates and authorizes a request; throws the error to answer with. The origin is checked first: a foreign page
 * must not even learn whether the browser is signed in.
 *
 * `changes`: the request changes something, or stays open to do so (a WebSocket, which browsers let every page open).
 * With a cookie, only the console itself may send those.
 */
export function admit(service: Service, request: IncomingMessage, roles: readonly Role[], changes: boolean): Caller {
  const wrong = checkOrigin(request, service.names);
  if (wrong) throw wrong;
  // On a kept-alive connection: the client retries against the next service.
  if (service.stopping.aborted) throw notReady();
  const caller = whoCalls(service, request);
  if (!caller) throw notSignedIn();
  if (changes && caller.channel === "console" && !isFromOwnPage(request)) throw wrongOrigin();
  if (!roles.includes(caller.role)) throw notPermitted(caller.role, roles);
  return caller;
}
