import type { Approval, Grant, GrantTarget } from "../../../src/core/approval.ts";
import type { AllowEntry, Ask, Decision, Security, UserRule } from "../../../src/core/policy.ts";
import type { SessionInfo, StreamName } from "../../../src/core/session.ts";

/** Responses of the service for which `src/core` has no type. */

export type Role = "viewer" | "approver" | "operator" | "agent";

export interface Me {
  name: string;
  role: Role;
  agent: string | null;
  expiresAt: string | null;
  version: string;
}

export interface SessionDetails extends SessionInfo {
  /** The verdict as recorded in the audit log. */
  verdict: { verdict: Decision; rules: string[]; programs: string[] } | null;
  approval: Approval | null;
}

export interface LogPiece {
  stream: StreamName;
  offset: number;
  dropped: number;
  timeMs: number | null;
  text?: string;
  base64?: string;
}

export interface LogAnswer {
  chunks: LogPiece[];
  nextOffset: number;
  totalBytes: number;
  droppedBytes: number;
  totalLines?: number;
}

export interface SearchAnswer {
  matches: { offset: number; line?: number; text: string }[];
  next: number | null;
}

export interface Stats {
  running: number;
  pending: number;
  sessions: { id: string; cpuPercent: number; memoryBytes: number }[];
}

export interface Finding {
  name: string;
  status: "ok" | "warn" | "fail";
  message: string;
  fix: string | null;
}

/** The verdict on a command under one combination of `security` and `ask`. */
export interface ModeOutcome {
  security: Security;
  ask: Ask;
  verdict: Decision;
}

export interface RulesAnswer {
  configured: {
    security: Security;
    ask: Ask;
    sandbox: string;
    rules: UserRule[];
    allowlist: AllowEntry[];
    safeBins: string[] | null;
    allowDenied: string[];
  };
  grants: Grant[];
  builtIn: { id: string; tier: "blocked" | "deny"; message: string; suggestion: string }[];
}

export interface TriedRule {
  /** Why the grant cannot be created; null when it can. */
  problem: string | null;
  covers: GrantTarget[];
  results: { command: string; covered: boolean; verdict: string; why: string }[];
}
