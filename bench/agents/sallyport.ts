import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StdioServer } from "../mcp/server.ts";
import { CALL_LIMIT_SECONDS } from "./agent.ts";
import type { Place } from "./place.ts";
import { type AgentTools, numberIn, untilLogged } from "./tools.ts";

const ENTRY = fileURLToPath(new URL("../../bin/sallyport.js", import.meta.url));
/** The default leaves 15 s of the usual limit of 60 s. */
const ANSWER_WITHIN = `${CALL_LIMIT_SECONDS - 5}s`;
/** As long as the calls of the peers wait. */
const WAIT_SECONDS = 10;
const WHY = "Do the next step of the task";

/** The `exec` toolset is off by default and requires approval of each command; these settings allow both. */
const OPERATOR = {
  toolsets: { exec: true },
  permissions: { run: "autonomous", write: "autonomous", kill: "autonomous", list: "autonomous", read: "autonomous" },
};

const EXIT_CODE = /\bexit_code: (\d+)/;

function serve(tools: string): AgentTools["connect"] {
  return async (place: Place) => {
    const config = join(place.folder, "config");
    mkdirSync(join(config, "sallyport"), { recursive: true });
    if (tools === "exec") writeFileSync(join(config, "sallyport", "sallyport.json"), JSON.stringify(OPERATOR));
    const env = { ...place.env(), SALLYPORT_STATE: join(place.folder, "state"), XDG_CONFIG_HOME: config };
    const words = ["mcp", "--tools", tools, "--answer-within", ANSWER_WITHIN, "--on-disconnect", "end"];
    const server = new StdioServer(process.execPath, [ENTRY, ...words], { cwd: place.workspace, env });
    await server.initialize();
    return server;
  };
}

const bash: AgentTools = {
  name: "bash",
  connect: serve("bash"),
  run: (command, timeout) => ["Bash", { command, description: WHY, timeout }],
  start: (command) => ["Bash", { command, description: WHY, run_in_background: true }],
  read: (shell_id) => ["BashOutput", { shell_id }],
  waitFor: (shell_id, filter) => ["BashOutput", { shell_id, filter, wait: WAIT_SECONDS }],
  waitForExit: (shell_id) => ["BashOutput", { shell_id, wait: WAIT_SECONDS }],
  search: (shell_id, filter) => ["BashOutput", { shell_id, filter }],
  stop: (shell_id) => ["KillShell", { shell_id }],
  understand(text) {
    const running = /^(status: running|still running|started in background)/m.test(text);
    const exitCode = running ? null : (numberIn(text, /^exit: (\d+)$/m) ?? 0);
    return { output: text, handle: /shell_id[:=] ?([\w-]+)/.exec(text)?.[1] ?? null, running, exitCode };
  },
};

const runner: AgentTools = {
  name: "runner",
  connect: serve("runner"),
  run: (command, timeout) => ["run", { command, shell: true, timeout, intent: WHY }],
  // No tool reads the output or the exit code of a background command, so the command writes both to its log.
  start: (command) => ["run_background", { command: `${command}; echo "exit: $?"`, log_file: "job.log", intent: WHY }],
  read: () => ["run", { command: "cat job.log", intent: WHY }],
  waitForExit: () => ["run", { command: untilLogged("exit: "), shell: true, intent: WHY }],
  resume: (_, command, timeout) => runner.run(command, timeout),
  stop: (pid) => ["kill_process", { pid: Number(pid), intent: WHY }],
  understand(text, step) {
    const handle = /\bpid[:=] ?(\d+)/.exec(text)?.[1] ?? null;
    if (step !== "read") return { output: text, handle, running: handle !== null, exitCode: numberIn(text, EXIT_CODE) };
    const exitCode = numberIn(text, /^exit: (\d+)$/m);
    return { output: text, handle, running: exitCode === null, exitCode };
  },
};

const processes: AgentTools = {
  name: "process",
  connect: serve("process"),
  run: (command, timeout) => ["process.run", { command, timeout }],
  start: (command) => ["process.run", { command, background: true }],
  read: (process_id) => ["process.logs", { process_id }],
  waitForExit: (process_id) => ["process.monitor", { process_id, wait: WAIT_SECONDS }],
  resume: (process_id) => ["process.logs", { process_id, wait: WAIT_SECONDS }],
  stop: (process_id) => ["process.kill", { process_id, force_after: 1 }],
  understand(text) {
    const handle = /process_id: ([\w-]+)/.exec(text)?.[1] ?? null;
    return { output: text, handle, running: /\bstate: running/.test(text), exitCode: numberIn(text, EXIT_CODE) };
  },
};

const exec: AgentTools = {
  name: "exec",
  connect: serve("exec"),
  run: (command, timeout) => ["execute", { command, timeout }],
  start: (command) => ["execute", { command, background: true }],
  open: (command) => ["execute_pty", { command, background: true }],
  read: (session_id) => ["process_poll", { session_id }],
  waitForExit: (session_id) => ["process_poll", { session_id, wait: WAIT_SECONDS }],
  write: (session_id, line) => ["process_manager", { action: "write", session_id, data: `${line}\n` }],
  search: (session_id, pattern) => ["execute", { command: `grep ${pattern} .tmp/exec/${session_id}.log` }],
  stop: (session_id) => ["process_manager", { action: "kill", session_id }],
  understand(text) {
    const handle = /session_id: ([\w-]+)/.exec(text)?.[1] ?? null;
    return { output: text, handle, running: /\bstatus: running/.test(text), exitCode: numberIn(text, EXIT_CODE) };
  },
};

const shell: AgentTools = {
  name: "shell",
  connect: serve("shell"),
  run: (command, timeout) => ["exec", { command, timeout }],
  start: (command) => ["exec", { command, background: true }],
  open: (command) => ["exec", { command, pty: true, yieldMs: 1000 }],
  read: (session_id) => ["process", { action: "poll", session_id }],
  waitFor: (session_id, pattern) => [
    "process",
    { action: "wait", session_id, pattern, timeoutMs: WAIT_SECONDS * 1000 },
  ],
  waitForExit: (session_id) => ["process", { action: "wait", session_id, timeoutMs: WAIT_SECONDS * 1000 }],
  write: (session_id, data) => ["process", { action: "submit", session_id, data }],
  stop: (session_id) => ["process", { action: "kill", session_id }],
  understand(text) {
    const running = /still running|is running|started in the background/i.test(text);
    const handle = /session_id:? ([\w-]+)/.exec(text)?.[1] ?? null;
    return { output: text, handle, running, exitCode: running ? null : (numberIn(text, /Exit code (\d+)/) ?? 0) };
  },
};

/** The toolsets of Sallyport; the first is the default. */
export const TOOLSETS = [bash, shell, processes, runner, exec];
