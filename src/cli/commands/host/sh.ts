import { fstatSync, realpathSync } from "node:fs";
import { isInsideSession } from "../../../approval/self-approval.ts";
import { callerEnv, callerFolder, callerParent } from "../../../core/caller.ts";
import { SallyportError } from "../../../core/error.ts";
import type { RunRequest } from "../../../core/request.ts";
import type { Consent } from "../../../gateway/authorize.ts";
import { claimCall, directoryFileOf, type HostCall, takeCall } from "../../../hosts/calls.ts";
import { reportDirectory, takeReportedDirectory, writeHostFile } from "../../../hosts/directory-file.ts";
import { readShellArguments, type ShellArguments } from "../../../hosts/shell-arguments.ts";
import { hostWorkspace, type ShellCaller } from "../../../hosts/workspace.ts";
import { type HostWrapper, recognizeWrapper } from "../../../hosts/wrappers/index.ts";
import { realShell, type ShellForm } from "../../../sandbox/launch-spec.ts";
import { isWithin } from "../../../sandbox/workspace.ts";
import { quoteWord } from "../../../shell/quote.ts";
import { visible } from "../../../text/visible.ts";
import { type Command, type Invocation, type Io, type PlannedCommand, UsageError } from "../../command.ts";
import { stateFolder, withGateway } from "../../open.ts";
import { localUser } from "../../person.ts";
import { takeContinuation } from "../../resident/continuation.ts";
import { promptUnlessAttached } from "../../terminal/approval-prompt.ts";
import { localTerminal } from "../../terminal/tty.ts";
import { runOnTerminal, runStreamed } from "../session/run-foreground.ts";
import { assertOwnFoldersOutside } from "./own-folders.ts";

export const sh: Command = {
  name: "sh",
  summary: "Run commands as bash does, in a sandbox",
  usage:
    "sallyport sh [BASH OPTIONS] [-c TEXT | FILE] [ARG...]\n       sallyport-sh [BASH OPTIONS] [-c TEXT | FILE] [ARG...]",
  description: `
    Takes the arguments of bash, so that it can be the shell of an agent host: as \`$SHELL\`, or as \`bash\` on its PATH.
    What it runs is checked, approved, recorded and sandboxed like a command of \`sallyport run\`, with the working
    directory, the environment and the standard input of the caller. The program \`sallyport-sh\` is the same as
    \`sallyport sh\`.

    Of the text that Claude Code and Gemini CLI put around a command, only the command itself is checked and recorded.
    The working directory in which it ends is reported to the host, as long as it is in the workspace.

    The workspace is the folder in which the agent host runs. Without a host, it is the working directory. On a
    terminal without arguments, starts an interactive shell whose lines are checked as they are typed. Inside a
    sandboxed command, it is replaced by bash itself.`,
  passesArguments: true,
  options: {},
  sections: {
    "Exit status": [
      ["125", "Sallyport failed, and nothing was run"],
      ["126", "The command is blocked, denied or pending approval"],
      ["other", "The exit status of bash"],
    ],
    Environment: [
      [
        "SALLYPORT_WORKSPACE",
        "The workspace, for a host that does not run in the folder of the project. The working directory must be in it",
      ],
    ],
  },
  examples: [
    ["Run shell text as an agent host does", "sallyport sh -c 'make test'"],
    ["Start a confined shell on this terminal", "sallyport sh"],
    ["Run a script", "sallyport sh ./build.sh release"],
  ],
  planned: (invocation, session) => {
    const { rest, io } = invocation;
    // On a terminal, a person can type to the command, and decide on approvals.
    if (io.isTTY.stdin && (io.isTTY.stdout || io.isTTY.stderr)) return null;
    const caller = shellCaller();
    const { id, given } = argumentsOf(rest);
    const state = stateFolder(invocation.values);
    if (id !== null) return plannedCall({ given, state, claim: claimCall(state, id, session), id }, caller, io);
    const workspace = hostWorkspace(caller);
    assertOwnFoldersOutside(workspace, state);
    const { request, form, finish } = planShell(given, { workspace, caller, io });
    return { request, raw: false, shell: form, workspace, finish, endsWithCaller: true, ...waitFor(io) };
  },
  run: (invocation) => runShell(invocation, shellCaller()),
};

function shellCaller(): ShellCaller {
  return { cwd: callerFolder(), env: callerEnv(), parent: callerParent() };
}

/** Separates the option with the ID of a call from the arguments of bash. */
function argumentsOf(rest: readonly string[] | null): { id: string | null; given: ShellArguments } {
  const argv = withoutCall(rest ?? []);
  const given = readShellArguments(argv);
  if ("problem" in given) throw new UsageError(given.problem);
  const id = rest && argv !== rest ? (rest[0]?.slice(CALL_OPTION.length) ?? null) : null;
  return { id, given };
}

function withoutCall(argv: readonly string[]): readonly string[] {
  return argv[0]?.startsWith(CALL_OPTION) ? argv.slice(1) : argv;
}

/** Plans a command that a hook has let run. */
function plannedCall(
  {
    given,
    state,
    id,
    claim,
  }: { given: ShellArguments; state: string; id: string; claim: ReturnType<typeof claimCall> },
  caller: ShellCaller,
  io: Io,
): PlannedCommand {
  try {
    const call = callOf(claim.call, given, caller);
    const { workspace } = call;
    assertOwnFoldersOutside(workspace, state);
    const { request, form, finish } = planCall(given, { id, state, call }, caller, io);
    return {
      request,
      raw: false,
      shell: form,
      workspace,
      consented: consentOf(call),
      ...waitFor(io),
      endsWithCaller: true,
      release: claim.release,
      finish: () => {
        claim.finish();
        finish();
      },
    };
  } catch (error) {
    claim.finish();
    throw error;
  }
}

/** Runs the shell for a caller. Never runs anything outside Sallyport: every failure ends with an error. */
async function runShell(invocation: Invocation, caller: ShellCaller): Promise<number> {
  const continuation = takeContinuation();
  if (isInsideSession()) replaceByBash(withoutCall(invocation.rest ?? []));
  const { id, given } = argumentsOf(invocation.rest);
  const { io } = invocation;
  const state = stateFolder(invocation.values);
  const session = continuation?.id ?? null;
  const called = id === null ? null : { id, state, call: callOf(takeCall(state, id, session), given, caller) };
  const workspace = called?.call.workspace ?? hostWorkspace(caller);
  assertOwnFoldersOutside(workspace, state);
  const planned = called ? planCall(given, called, caller, io) : planShell(given, { workspace, caller, io });
  const code = await withGateway(
    invocation,
    (gateway) => {
      const options = {
        ...(planned.form ? { shell: planned.form } : {}),
        ...consentOf(called?.call ?? null),
        ...waitFor(io),
      };
      if (planned.request.pty) return runOnTerminal(gateway, planned.request, io, false, options);
      return runStreamed(gateway, planned.request, io, false, { ...options, continuation });
    },
    {
      workspace,
      ...(io.isTTY.stdin && io.isTTY.stderr
        ? { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) }
        : {}),
    },
  );
  planned.finish();
  return code;
}

/** Without a terminal, no person can be asked, and the host would wait in silence. */
function waitFor(io: Io): { approvalTimeoutMs?: number } {
  return io.isTTY.stdin && io.isTTY.stderr ? {} : { approvalTimeoutMs: 0 };
}

/** Inside a sandboxed command there is no gateway to reach, and what bash runs there is confined already. */
function replaceByBash(argv: readonly string[]): never {
  const shell = realShell();
  process.execve?.(shell, ["bash", ...argv], process.env as Record<string, string>);
  throw new Error("this version of Node cannot replace its process");
}

/** The option with the ID of a call, in the command that a hook answers with. */
const CALL_OPTION = "--sallyport-call=";

/** Returns the call of a hook. Throws CommandDenied unless the arguments are those that the hook has answered with. */
function callOf(call: HostCall, given: ShellArguments, { cwd }: ShellCaller): HostCall {
  const same = given.kind === "command" && given.command === call.command;
  const plain = given.options.length === 0 && given.parameters.length === 0;
  // The host's user has agreed to the command in this folder.
  const here = call.asked === null || realpathSync.native(cwd) === realpathSync.native(call.cwd);
  if (same && plain && here) return call;
  throw new SallyportError(
    "CommandDenied",
    "Denied: this is not the command that the hook of the agent host allowed.",
    [{ action: "run_again", hint: "Send the command again." }],
  );
}

/** Returns the answer of the host's user, who was asked about this command only: the host has run it. */
function consentOf(call: HostCall | null): { consent?: Consent; env?: Record<string, string> } {
  if (!call?.asked) return {};
  const decision = { decision: "once" as const, ...localUser(), channel: "hook" as const };
  return { consent: { approval: call.asked.approval, decision }, env: call.asked.env };
}

function planCall(
  given: ShellArguments,
  { id, state, call }: { id: string; state: string; call: HostCall },
  { cwd }: ShellCaller,
  io: Io,
): PlannedShell {
  const common = { cwd, timeoutMs: 0, ...(call.readOnly ? { sandbox: "read-only" as const } : {}) };
  // A terminal would change the environment that an approval is bound to.
  const connected = call.asked ? {} : streams(given, io);
  const request = { ...common, ...connected, command: call.command };
  if (!call.keepsDirectory) {
    return { request, form: { options: [], sourced: [], text: () => call.command }, finish: () => {} };
  }
  const wrapper: HostWrapper = {
    host: call.host,
    command: call.command,
    sourced: [],
    directoryFile: directoryFileOf(state, id),
    processFile: null,
    text: (onSuccess) => `eval -- ${quoteWord(call.command)}${onSuccess && ` && ${onSuccess}`}`,
  };
  return planWrapped(given, wrapper, request, { workspace: call.workspace, cwd, io });
}

interface PlannedShell {
  request: RunRequest;
  form: ShellForm | null;
  /** Called after the command has ended. */
  finish(): void;
}

function planShell(
  given: ShellArguments,
  { workspace, caller, io }: { workspace: string; caller: ShellCaller; io: Io },
): PlannedShell {
  const { cwd, env } = caller;
  const common = { cwd, timeoutMs: 0, ...streams(given, io) };
  const wrapper =
    given.kind === "command" && given.plain && given.parameters.length === 0
      ? recognizeWrapper(given.command, { env, workspace, uid: process.getuid?.() ?? 0 })
      : null;
  if (wrapper) return planWrapped(given, wrapper, common, { workspace, cwd, io });
  if (given.kind === "command" && given.plain && given.parameters.length === 0) {
    const form = { options: given.options, sourced: [], text: () => given.command };
    return { request: { ...common, command: given.command }, form, finish: () => {} };
  }
  const args = [...given.options, ...textOf(given), ...given.parameters];
  return { request: { ...common, command: realShell(), args }, form: null, finish: () => {} };
}

/** Returns the arguments that tell bash what to run. */
function textOf({ kind, command, parameters }: ShellArguments): string[] {
  if (kind === "command") return ["-c", "--", command];
  if (kind === "script") return ["--"];
  return parameters.length > 0 ? ["-s", "--"] : [];
}

/** Runs the command of an agent with the text of its host around it, and reports to the host what it expects. */
function planWrapped(
  { options }: ShellArguments,
  wrapper: HostWrapper,
  common: Partial<RunRequest>,
  { workspace, cwd, io }: { workspace: string; cwd: string; io: Io },
): PlannedShell {
  let reported: string | null = null;
  const form: ShellForm = {
    options,
    sourced: wrapper.sourced,
    text: (directoryFile) => {
      reported = wrapper.directoryFile === null ? null : directoryFile;
      return wrapper.text(reported === null ? "" : reportDirectory(reported));
    },
  };
  const finish = (): void => {
    if (wrapper.processFile !== null) writeHostFile(wrapper.processFile, "");
    const folder = reported === null ? null : takeReportedDirectory(reported);
    if (folder === null || wrapper.directoryFile === null) return;
    const inside = isWithin(folder, workspace);
    if (!inside) {
      io.err(`sallyport: the working directory stays ${visible(cwd)}: ${visible(folder)} is outside the workspace\n`);
    }
    writeHostFile(wrapper.directoryFile, `${inside ? folder : cwd}\n`);
  };
  return { request: { ...common, command: wrapper.command }, form, finish };
}

/** Connects the terminal or the standard input of this process to the command. */
function streams(given: ShellArguments, io: Io): Partial<RunRequest> {
  const terminal = localTerminal(io);
  if (terminal !== null) return { pty: true, stdin: "open", size: terminal.size() };
  return given.kind === "stdin" || hasInput(io) ? { stdin: "open" } : {};
}

/** Reports whether standard input may contain anything: it is not /dev/null, and not a terminal. */
function hasInput({ isTTY, stdin }: Io): boolean {
  if (isTTY.stdin) return false;
  const { fd, isDevice } = stdin as { fd?: number; isDevice?: boolean };
  if (isDevice !== undefined) return !isDevice;
  return typeof fd !== "number" || !fstatSync(fd).isCharacterDevice();
}
