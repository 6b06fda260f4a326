import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { SallyportError } from "../../core/error.ts";
import type { SessionInfo } from "../../core/session.ts";
import type { Session } from "../../session/session.ts";
import type { Door } from "../door.ts";
import { noSuchResource } from "../messages.ts";
import { type Address, addressOf } from "./uri.ts";

export interface Found {
  address: Address;
  session: Session;
  info: SessionInfo;
}

/** What an address names, if it is this agent's. Another agent's is answered as if it did not exist. */
export async function ownSession(door: Door, uri: string): Promise<Found> {
  const address = addressOf(uri);
  if (!address) throw missing(uri);
  const gateway = await door.gateway();
  try {
    const session = gateway.session(address.id);
    const info = session.info();
    if (info.agent === door.options.agent && info.id === address.id) return { address, session, info };
  } catch (error) {
    if (!(error instanceof SallyportError) || error.type !== "SessionNotFound") throw error;
  }
  throw missing(uri);
}

/** As what never was. */
export function missing(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, noSuchResource(uri), { uri: uri.slice(0, 1000) });
}
