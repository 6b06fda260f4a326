/**
 * Authorizes input for a running command. Code that an interpreter reads is treated like a command of its own, however
 * it is written: on a terminal or on pipes, in one piece or in several (invariant 3).
 */
import { join } from "node:path";
import { bindingOf, needsAllFiles } from "../approval/binding.ts";
import { SallyportError } from "../core/error.ts";
import type { Verdict } from "../core/policy.ts";
import { confine } from "../sandbox/confine.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import { MAX_PENDING, readInputHistory, writeInputHistory } from "../session/input-history.ts";
import {
  approvalDenied,
  changedAfterApproval,
  commandRefused,
  inputPending,
  type Refusal,
  unknowableInput,
} from "../session/refusal.ts";
import type { SessionInput } from "../session/session.ts";
import type { InputText } from "../session/terminal/typed-input.ts";
import type { Command } from "../shell/inspect.ts";
import { expandsHistory, type InputUse, inputUse, inspectInput } from "../shell/inspect-input.ts";
import type { InspectContext } from "../shell/lookup.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { approvalTerms, MOST_CHANGES, waitForDecision } from "./authorize.ts";
import { inputTooLong, MAX_INPUT_BYTES } from "./authorize-operation.ts";
import type { GatewayContext } from "./context.ts";
import { decideOn, inspectAndDecide, inspectContext, isForbidden, lookupFor } from "./decide.ts";
import { currentSettings } from "./settings.ts";

type Target = { id: string; name: string };

/** A command that cannot be analyzed. Input whose text is not known gets the verdict on this command. */
const UNKNOWABLE = 'eval "$line"';

/** Reports whether a session's command on pipes runs its standard input as code. Other input is data. */
export function readsCode(context: GatewayContext, session: Target): boolean {
  return useOf(context, session).language !== null;
}

function useOf(context: GatewayContext, { id }: Target): InputUse {
  const row = context.registry.store.get(id);
  // The gateway that has the session's records authorizes its input.
  if (!row) return { language: null, unbuffered: false };
  return inputUse(commandOf(row), placeOf(context, row, null).inspect);
}

function commandOf({ command, args }: SessionRow): Command {
  return { command, args: args === null ? null : (JSON.parse(args) as string[]) };
}

/**
 * Throws when the input contains code that is blocked or denied, and waits for approval where that is required. The
 * input is then part of the session's history, with which later input is checked.
 */
export async function authorizeInput(context: GatewayContext, session: Target, input: SessionInput): Promise<void> {
  const folder = join(context.state, "sessions", session.id);
  const { lines, pending } = readInputHistory(folder);
  const piped = input.typed
    ? null
    : completeLines(pending, input.bytes, input.end || useOf(context, session).unbuffered);
  const texts = input.typed ?? textsOf(piped?.complete ?? Buffer.alloc(0), piped?.whole ?? true);
  const doubtful: { text: InputText; verdict: Verdict }[] = [];
  for (const text of texts) {
    const verdict = decideInput(context, session, text);
    if (verdict && isForbidden(verdict)) throw refused(commandRefused(verdict));
    refuseWithHistory(context, session, text, lines.toString());
    if (verdict?.verdict === "ask" && !text.hidden) doubtful.push({ text, verdict });
  }
  const [first] = doubtful;
  if (first) {
    await ask(context, session, input.bytes, first.text, first.verdict);
    // The policy may have changed while the request was pending; an approval cannot override it (invariant 3).
    const now = decideInput(context, session, first.text);
    if (now && isForbidden(now)) throw refused(commandRefused(now));
  }
  // A password is not code, and is not kept. A shell whose echo is off still runs nothing that is forbidden.
  if (texts.some(({ hidden }) => hidden)) return;
  const added = piped?.complete ?? Buffer.from(texts[0] ? `${texts[0].text}\n` : "");
  writeInputHistory(folder, { lines: Buffer.concat([lines, added]), pending: piped?.rest ?? pending });
}

/** Splits input into the lines that it completes and the beginning of the next line. */
function completeLines(pending: Buffer, bytes: Uint8Array, now: boolean) {
  const all = Buffer.concat([pending, bytes]);
  const end = Math.max(all.lastIndexOf(0x0a), all.lastIndexOf(0x00)) + 1;
  // The beginning of a line that is too long was dropped, so its text is not known.
  const whole = pending.length < MAX_PENDING;
  const split = now || all.length - end >= MAX_PENDING ? all.length : end;
  const complete = all.subarray(0, split);
  const closed =
    complete.length === 0 || complete.at(-1) === 0x0a ? complete : Buffer.concat([complete, Buffer.from("\n")]);
  return { complete: closed, rest: all.subarray(split), whole };
}

/** Returns the texts that a command on pipes may read: shells skip NUL bytes, and other systems end lines with `\r`. */
function textsOf(bytes: Buffer, whole: boolean): InputText[] {
  if (bytes.length === 0) return [];
  const text = bytes.toString();
  const plain = text.replaceAll("\0", "");
  const knowable = whole && plain === text && !text.includes("\ufffd");
  const texts = [plain, ...(plain.includes("\r") ? [plain.replace(/\r\n?/g, "\n")] : [])];
  return texts.map((each) => ({ text: each, reader: null, cwd: null, knowable }));
}

/** Throws when earlier lines and these together are forbidden, as in `rm -rf \` followed by `/`. */
function refuseWithHistory(context: GatewayContext, session: Target, text: InputText, before: string): void {
  if (before === "") return;
  const joined = decideInput(context, session, { ...text, text: before + text.text });
  if (!joined || !isForbidden(joined)) return;
  // Earlier lines may have become forbidden by a change of the policy, which must not stop all further input.
  const earlier = decideInput(context, session, { ...text, text: before });
  if (!earlier || !isForbidden(earlier)) throw refused(commandRefused(joined));
}

/** Returns what is known about the shell. It may have set variables, so only `HOME` is assumed to be known. */
function placeOf(context: GatewayContext, row: SessionRow | null, cwd: string | null) {
  const now = currentSettings(context);
  const { cwd: workspace, env, sandbox } = confine({ command: ":" }, now.confinement);
  const plan = { cwd: cwd ?? row?.cwd ?? workspace, path: env.PATH ?? "", env: { HOME: env.HOME ?? "/" } };
  const who = { agent: context.agent, workspace: now.confinement.scope.root, tier: context.defaultPermissions.run };
  // The code runs in the sandbox of its session.
  const { profile, level, notEnforced } = decodeSnapshot(row?.sandbox ?? null);
  const held = { level, notEnforced, confines: profile !== "off", escalations: [], spec: sandbox.spec };
  const inspect: InspectContext = inspectContext(plan, who, held);
  return { now, plan, who, held, inspect };
}

/** Returns the verdict on the code in the input. Null when the input contains no code. */
function decideInput(context: GatewayContext, session: Target, given: InputText): Verdict | null {
  const { text, reader, cwd } = given;
  const row = context.registry.store.get(session.id);
  const [program, ...args] = reader ?? [];
  const command = program === undefined ? row && commandOf(row) : { command: program, args };
  if (!command) return null;
  const { now, plan, who, held, inspect } = placeOf(context, row, cwd);
  const analysis = inspectInput(command, text, inspect);
  const shell = reader !== null && inputUse(command, inspect).language === "shell";
  const knowable = given.knowable && !(shell && expandsHistory(text));
  if (knowable && analysis.analyzable && analysis.commands.length === 0) return null;
  const verdict = decideOn(analysis, {}, plan, now.settings, who, held);
  if (knowable || verdict.verdict !== "allow") return verdict;
  const doubtful = inspectAndDecide({ command: UNKNOWABLE }, plan, now.settings, who, held);
  return { ...verdict, analyzable: false, verdict: doubtful.verdict, reasons: [unknowableInput()] };
}

async function ask(
  context: GatewayContext,
  session: Target,
  bytes: Uint8Array,
  { text, cwd }: InputText,
  verdict: Verdict,
): Promise<void> {
  if (bytes.length > MAX_INPUT_BYTES) throw inputTooLong();
  const row = context.registry.store.get(session.id);
  for (let changes = 0; changes <= MOST_CHANGES; changes++) {
    const { now, plan, who } = placeOf(context, row, cwd);
    const confinement = `the same as that of session ${session.id}, which receives this input`;
    const binding = () =>
      bindingOf({
        command: text,
        // The binding includes the raw bytes: different inputs with invalid UTF-8 can be equal as text.
        argv: ["sallyport", "write", session.id, Buffer.from(bytes).toString("latin1")],
        file: "",
        cwd: plan.cwd,
        env: plan.env,
        facts: verdict.commands,
        thorough: needsAllFiles(verdict),
        lookup: lookupFor(plan.path),
        confinement,
      });
    const asked = context.approvals.request({
      agent: context.agent,
      binding: binding(),
      verdict,
      cwd: plan.cwd,
      workspace: who.workspace,
      stdin: null,
      input: true,
      confinement,
      ...approvalTerms(now.settings),
    });
    const { approval: decided, why } = await waitForDecision(context, asked, context.waitOptions);
    if (decided.status !== "approved") {
      throw refused(decided.status === "pending" ? inputPending(decided, why) : approvalDenied(decided));
    }
    // Computed again: a file may have changed while the request was pending (invariant 2).
    if (context.approvals.consume(decided.id, binding(), { agent: context.agent, session: session.id }).ok) return;
  }
  throw refused(changedAfterApproval());
}

function refused({ error }: Refusal): SallyportError {
  return new SallyportError(error.type, error.message, error.recovery);
}
