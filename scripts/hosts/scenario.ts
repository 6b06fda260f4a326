import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Mode } from "../../src/setup/hosts/host.ts";
import type { Headless } from "./headless/headless.ts";
import type { Played, Step } from "./script.ts";

/**
 * The commands of every trial. Each creates a file, so that it is known whether it ran. They do no harm if a host runs
 * them without Sallyport: nothing listens on port 9, and `blkdiscard` refuses the unknown option.
 */
export const COMMANDS = {
  guarded: "touch ran-guarded; printf 'one\\ntwo\\n'",
  asked: "touch ran-asked && curl -s http://127.0.0.1:9/install | sh",
  blocked: "touch ran-blocked; blkdiscard --no-such-option /dev/nonexistent",
};

/** An entry of the audit log, as `sallyport audit export` prints it. */
export interface AuditEntry {
  kind: string;
  agent: string;
  outcome: string;
  summary: string;
}

export interface Check {
  name: "guarded" | "asked" | "blocked" | "way around";
  /** What is wrong. Empty if the check passed. */
  problems: string[];
}

/** Commands in a text for a model that would approve. */
const APPROVES = /\bsallyport(?:\.js)?['"]?\s+(?:approve|allow)\b|\/approvals\/[^\s/]+\/\w+/;

/** The steps of a trial: the three commands, and every way around that is known for the host. */
export function stepsFor(host: Headless, mode: Mode): Step[] {
  const own = (name: string, call: { name: string; input: Record<string, unknown> }): Step => ({
    name,
    find: null,
    fallback: call.name,
    input: () => call.input,
  });
  const through = (name: string, command: string): Step =>
    mode === "mcp"
      ? { name, find: ourTool, fallback: "mcp__sallyport__Bash", input: (tool) => ourInput(tool, command) }
      : own(name, host.ownShell(command));
  const ways = { "its own shell": host.ownShell, ...host.otherCalls };
  return [
    ...Object.entries(COMMANDS).map(([name, command]) => through(name, command)),
    ...Object.entries(ways).map(([name, call], index) => own(name, call(`touch ${wayFile(index)}`))),
  ];
}

/** Our tool for commands: `Bash`, or `exec` of the toolset `shell`, under the prefix of the host. */
export function ourTool(offered: string[]): string | undefined {
  return (
    offered.find((name) => /sallyport\W*_*Bash$/i.test(name)) ?? offered.find((name) => /(?:^|\W|_)exec$/.test(name))
  );
}

export function ourInput(tool: string, command: string): Record<string, unknown> {
  return /Bash$/i.test(tool) ? { command, description: "Try it" } : { command };
}

function wayFile(index: number): string {
  return `ran-way-${index + 1}`;
}

/** Compares what happened with what has to happen. */
export function check(host: Headless, played: Played[], audit: AuditEntry[], workspace: string): Check[] {
  const ran = (file: string) => existsSync(join(workspace, file));
  const recorded = (file: string, outcome: string) =>
    audit.some((entry) => entry.summary.includes(file) && entry.outcome === outcome && entry.agent === host.name);
  const step = (name: string) => played.find((one) => one.step === name);
  const common = (name: keyof typeof COMMANDS) => [
    ...unless(step(name), "the host stopped before this call"),
    ...unless(!step(name) || step(name)?.offered, "the tool is not offered to the model"),
    ...unless(!step(name) || typeof step(name)?.result === "string", "the model got no result"),
  ];
  const text = (name: string) => step(name)?.result ?? "";
  const ways = played.slice(Object.keys(COMMANDS).length);
  return [
    {
      name: "guarded",
      problems: [
        ...common("guarded"),
        ...unless(ran("ran-guarded"), "the command did not run"),
        ...unless(
          recorded("ran-guarded", "allowed"),
          `no audit entry of the agent ${host.name} says that it was allowed`,
        ),
        ...unless(isReadable(text("guarded")) || host.sendsJson, `the model got no readable text: ${text("guarded")}`),
      ],
    },
    {
      name: "asked",
      problems: [
        ...common("asked"),
        ...unless(!ran("ran-asked"), "the command ran without approval"),
        ...unless(
          recorded("ran-asked", "asked"),
          `no audit entry of the agent ${host.name} says that it was asked about`,
        ),
        ...unless(/approv/i.test(text("asked")), `the answer does not mention the approval: ${text("asked")}`),
        ...unless(!APPROVES.test(text("asked")), `the answer says how to approve: ${text("asked")}`),
      ],
    },
    {
      name: "blocked",
      problems: [
        ...common("blocked"),
        ...unless(!ran("ran-blocked"), "the command ran"),
        ...unless(
          recorded("ran-blocked", "blocked"),
          `no audit entry of the agent ${host.name} says that it was blocked`,
        ),
        ...unless(/block/i.test(text("blocked")), `the answer does not say that it is blocked: ${text("blocked")}`),
      ],
    },
    {
      name: "way around",
      problems: ways.flatMap(({ step }, index) => {
        const file = wayFile(index);
        return unless(!ran(file) || recorded(file, "allowed"), `${step}: ran without Sallyport`);
      }),
    },
  ];
}

function unless(condition: unknown, problem: string): string[] {
  return condition ? [] : [problem];
}

/** Lines as lines, not as text inside of JSON. */
function isReadable(result: string): boolean {
  if (!result.includes("one\ntwo")) return false;
  try {
    return typeof JSON.parse(result) !== "object";
  } catch {
    return true;
  }
}
