import type { IncomingMessage } from "node:http";
import {
  type HttpError,
  notPermitted,
  notReady,
  notSignedIn,
  wrongHost,
  wrongOrigin,
} from "../../../present/http-errors.ts";
import type { Role } from "../operation.ts";
import type { Service } from "../service.ts";
import { type Caller, whoCalls } from "./caller.ts";
import { isFromOwnPage, wrongWay } from "./origin.ts";

export function wrongWayFailure({ names }: Pick<Service, "names">, request: IncomingMessage): HttpError | null {
  const wrong = wrongWay(request, names);
  if (wrong === null) return null;
  return wrong === "host" ? wrongHost() : wrongOrigin();
}

/**
 * Who calls, once it is certain that they may. Where a request came from is looked at first: a foreign page must not even
 * learn whether somebody is signed in. Throws what is wrong.
 *
 * `changes`: it does something, or stays open to do so (a WebSocket, which browsers let every page open). With a cookie
 * that must be our own page's doing.
 */
export function admit(service: Service, request: IncomingMessage, roles: readonly Role[], changes: boolean): Caller {
  const wrong = wrongWayFailure(service, request);
  if (wrong) throw wrong;
  // On a connection that was kept: whoever comes now is the next one's to serve.
  if (service.stopping.aborted) throw notReady();
  const caller = whoCalls(service, request);
  if (!caller) throw notSignedIn();
  if (changes && caller.channel === "console" && !isFromOwnPage(request)) throw wrongOrigin();
  if (!roles.includes(caller.role)) throw notPermitted(caller.role, roles);
  return caller;
}
