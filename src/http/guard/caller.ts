import type { TokenRole } from "../../storage/tokens.ts";

/** The authenticated caller of a request. */
export interface Caller {
  name: string;
  role: TokenRole;
  /** The agent that the caller acts as; null for a person. */
  agent: string | null;
  /** `console` for a sign-in, `http` for a token in the request. */
  channel: "console" | "http";
  expiresAt: string | null;
  /** The ID of the sign-in; null for a token. */
  signIn: string | null;
  /** The process that sent the request, such as `firefox (pid 4711)`. Set for changes by approvers and operators. */
  peer?: string;
  /** Reports whether the token or sign-in is still valid. Streams check it while they are open. */
  isGood(): boolean;
}
