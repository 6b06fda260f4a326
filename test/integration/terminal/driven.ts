import assert from "node:assert/strict";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { Session } from "../../../src/session/session.ts";

/** Maximum duration of a wait. It is generous, because it matters only for failing tests. */
export const timeoutMs = 60_000;
export const SHELL: RunRequest = { command: "bash", args: ["--norc", "--noprofile", "-i"], env: { PS1: "ready> " } };

/** Starts a command on a terminal, waits until it reads input, calls `use`, and kills the command at the end. */
export async function drive(gateway: Gateway, request: RunRequest, use: (session: Session) => Promise<void>) {
  const session = await gateway.start({ pty: true, ...request });
  try {
    await waits(session);
    await use(session);
  } finally {
    await session.kill({ graceMs: 0 }).catch(() => {});
  }
}

export async function waits(session: Session): Promise<void> {
  const { reason } = await session.waitFor({ input: true, timeoutMs });
  assert.equal(reason, "input", await lastWords(session));
}

export async function lastWords(session: Session): Promise<string> {
  return JSON.stringify((await session.logs()).text.slice(-500));
}
