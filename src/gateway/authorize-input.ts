import { bindingOf, needsAllFiles } from "../approval/binding.ts";
import { SallyportError } from "../core/error.ts";
import type { Verdict } from "../core/policy.ts";
import { confine } from "../sandbox/confine.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import { approvalDenied, approvalPending, commandRefused, type Refusal, unknowableLine } from "../session/refusal.ts";
import type { TypedCommand } from "../session/terminal/typed-input.ts";
import { approvalTerms, waitForDecision } from "./authorize.ts";
import type { GatewayContext } from "./context.ts";
import { inspectAndDecide, isForbidden, lookupFor } from "./decide.ts";
import { type CurrentSettings, currentSettings } from "./settings.ts";

type Target = { id: string; name: string };

/** A command that cannot be analyzed. A typed line whose text is not known gets the verdict on this command. */
const UNKNOWABLE = 'eval "$line"';
const MOST_REMEMBERED = 16 * 1024;
const MOST_SESSIONS = 1000;

/** Typed text that may be incomplete, by session ID: it ends in an open loop or quote, or with a backslash. */
const unfinished = new WeakMap<GatewayContext["registry"], Map<string, string>>();

/**
 * Authorizes lines typed into a shell as if each were a command of its own. Throws when a line is blocked or denied,
 * and waits for approval where that is required (invariant 3: a terminal does not bypass the blocklist).
 */
export async function authorizeInput(
  context: GatewayContext,
  session: Target,
  commands: readonly TypedCommand[],
): Promise<void> {
  const begun = begunIn(context);
  for (const command of commands) {
    const before = begun.get(session.id);
    const verdict = decideInput(context, session, command);
    // A command can be typed on several lines, none of which is complete by itself.
    const joined =
      before === undefined
        ? verdict
        : decideInput(context, session, { ...command, text: `${before}\n${command.text}` });
    for (const each of [verdict, joined]) if (isForbidden(each)) throw refused(commandRefused(each));
    if (isUnfinished(verdict)) begun.set(session.id, `${before ?? ""}${command.text}\n`.slice(-MOST_REMEMBERED));
    else begun.delete(session.id);
    if (verdict.verdict === "ask") await ask(context, session, command, verdict);
  }
}

function begunIn({ registry }: GatewayContext): Map<string, string> {
  let begun = unfinished.get(registry);
  if (!begun || begun.size > MOST_SESSIONS) {
    begun = new Map();
    unfinished.set(registry, begun);
  }
  return begun;
}

function isUnfinished({ analyzable, command }: Verdict): boolean {
  return !analyzable || /(?:^|[^\\])(?:\\\\)*\\$/.test(command.trimEnd());
}

function placeOf({ confinement }: CurrentSettings, cwd: string | null): { cwd: string; path: string; home: string } {
  const { cwd: workspace, env } = confine({ command: ":" }, confinement);
  return { cwd: cwd ?? workspace, path: env.PATH ?? "", home: env.HOME ?? "/" };
}

/** Returns the verdict on a typed line. Only `HOME` is assumed to be known, since the shell may have set variables. */
function decideInput(context: GatewayContext, session: Target, { text, cwd, knowable }: TypedCommand): Verdict {
  const now = currentSettings(context);
  const place = placeOf(now, cwd);
  const plan = { cwd: place.cwd, path: place.path, env: { HOME: place.home } };
  const who = { agent: context.agent, workspace: now.confinement.scope.root, tier: context.defaultPermissions.run };
  // Typed commands run in the sandbox of their session.
  const { profile, level, notEnforced } = decodeSnapshot(context.registry.store.get(session.id)?.sandbox ?? null);
  const held = { level, notEnforced, confines: profile !== "off", escalations: [], spec: null };
  const verdict = inspectAndDecide({ command: text }, plan, now.settings, who, held);
  if (knowable || verdict.verdict !== "allow") return verdict;
  const doubtful = inspectAndDecide({ command: UNKNOWABLE }, plan, now.settings, who, held);
  return { ...verdict, analyzable: false, verdict: doubtful.verdict, reasons: [unknowableLine()] };
}

async function ask(
  context: GatewayContext,
  session: Target,
  { text, cwd }: TypedCommand,
  verdict: Verdict,
): Promise<void> {
  for (;;) {
    const now = currentSettings(context);
    const place = placeOf(now, cwd);
    const confinement = `the same as that of session ${session.id}, which receives this input`;
    const binding = () =>
      bindingOf({
        command: text,
        argv: ["sallyport", "write", session.id, text],
        file: "",
        cwd: place.cwd,
        env: { HOME: place.home },
        facts: verdict.commands,
        thorough: needsAllFiles(verdict),
        lookup: lookupFor(place.path),
        confinement,
      });
    const asked = context.approvals.request({
      agent: context.agent,
      binding: binding(),
      verdict,
      cwd: place.cwd,
      workspace: now.confinement.scope.root,
      stdin: null,
      confinement,
      ...approvalTerms(now.settings),
    });
    const decided = await waitForDecision(context, asked, context.waitOptions);
    if (decided.status !== "approved") {
      throw refused(decided.status === "pending" ? approvalPending(decided) : approvalDenied(decided));
    }
    // Computed again: a file may have changed while the request was pending (invariant 2).
    if (context.approvals.consume(decided.id, binding(), { agent: context.agent, session: session.id }).ok) return;
  }
}

function refused({ error }: Refusal): SallyportError {
  return new SallyportError(error.type, error.message, error.recovery);
}
