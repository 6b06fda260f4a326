import { peerServer } from "../mcp/peer-server.ts";
import type { Place } from "./place.ts";
import { type AgentTools, numberIn, untilLogged } from "./tools.ts";

function installed(name: string, program: string): AgentTools["connect"] {
  return (place: Place) => peerServer(name, program, { cwd: place.workspace, env: place.env() });
}

/** The longest time that a call waits. It is below the client's limit, which would lose the PID. */
const WAIT_MS = 10_000;

const RUNNING = /Process is running|is waiting for input|timeout reached/;

const desktopCommander: AgentTools = {
  name: "desktop-commander",
  connect: installed("@wonderwhy-er/desktop-commander", "desktop-commander"),
  run: (command, seconds) => ["start_process", { command, timeout_ms: Math.min(WAIT_MS, seconds * 1000) }],
  start: (command) => ["start_process", { command, timeout_ms: 1000 }],
  open: (command) => ["start_process", { command, timeout_ms: WAIT_MS }],
  read: (pid) => ["read_process_output", { pid: Number(pid), timeout_ms: WAIT_MS }],
  waitFor: (pid) => desktopCommander.read(pid),
  waitForExit: (pid) => desktopCommander.read(pid),
  write: (pid, input) => ["interact_with_process", { pid: Number(pid), input }],
  stop: (pid) => ["force_terminate", { pid: Number(pid) }],
  understand(text, step) {
    // A read says how the process ended, and nothing if it goes on.
    const running = step === "read" ? !/Process completed|No active session/.test(text) : RUNNING.test(text);
    const exitCode = running ? null : numberIn(text, /exit code (\d+)/);
    return { output: text, handle: /PID (\d+)/.exec(text)?.[1] ?? null, running, exitCode };
  },
};

const commands: AgentTools = {
  name: "mcp-server-commands",
  connect: installed("mcp-server-commands", "mcp-server-commands"),
  // Its only tool has no timeout.
  run: (command) => ["run_command", { command }],
  start: (command) => ["run_command", { command: `(${command}; echo "exit: $?") > job.log 2>&1 & echo $!` }],
  read: () => ["run_command", { command: "cat job.log" }],
  waitForExit: () => ["run_command", { command: untilLogged("exit: ") }],
  stop: (pid) => ["run_command", { command: `kill ${pid}` }],
  understand(text, step) {
    const handle = step === "start" ? (/^(\d+)$/m.exec(text)?.[1] ?? null) : null;
    const exitCode = step === "read" ? numberIn(text, /^exit: (\d+)$/m) : text.startsWith("Command failed") ? 1 : 0;
    return { output: text, handle, running: step === "start" || (step === "read" && exitCode === null), exitCode };
  },
};

/** Widely used MCP servers that run commands. */
export const PEERS = [desktopCommander, commands];
