/** Commands that leave a trace on the host where they run, with their expected output. */
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Member } from "./member.ts";

const TRACE = "ran";

export interface Sent {
  token: string;
  lines: number;
  background: boolean;
  /** The ID of the session; null when the gateway returned an error or no response. */
  id: string | null;
  error: string | null;
}

export function newCommand(index: number): Sent {
  const token = `t${index}-${randomInt(1_000_000)}`;
  return { token, lines: 5 + (index % 40), background: index % 5 < 3, id: null, error: null };
}

/** Returns a command that first appends its token to a file on its host, then prints lines that contain the token. */
export function requestOf({ token, lines }: Sent, index: number): object {
  const nap = index % 50 === 0 ? 2 : index % 7 === 0 ? 0.2 : 0;
  const sleeping = nap > 0 ? `sleep ${nap}; ` : "";
  const script = `echo ${token} >> ${TRACE}; ${sleeping}i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo ${token} $i; done`;
  return { command: script, timeoutMs: 60_000 };
}

export function outputOf({ token, lines }: Sent): string {
  return Array.from({ length: lines }, (_, index) => `${token} ${index + 1}\n`).join("");
}

export function tokenIn(command: string): string | null {
  return /echo (t\d+-\d+) >>/.exec(command)?.[1] ?? null;
}

/** Counts the executions of each token over all hosts. */
export function traces(folders: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.name !== TRACE || !entry.isFile()) continue;
      for (const token of readFileSync(join(entry.parentPath, entry.name), "utf8").split("\n")) {
        if (token) counts.set(token, (counts.get(token) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** Sends commands through the gateways that are up, `atOnce` at a time, until `more` returns null. */
export async function sendAll(more: () => Sent | null, gateways: Member[], atOnce: number): Promise<Sent[]> {
  const sent: Sent[] = [];
  const one = async (lane: number) => {
    for (;;) {
      const gateway = gateways[lane % gateways.length];
      if (!gateway?.isUp) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      const command = more();
      if (!command) return;
      const index = sent.push(command) - 1;
      const call = command.background ? "start" : "run";
      try {
        command.id = await gateway.ask<string>({ call, request: requestOf(command, index) });
      } catch (error) {
        // The command is not sent again; reconcile() determines whether it ran.
        command.error = (error as Error).message;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, lane) => one(lane)));
  return sent;
}
