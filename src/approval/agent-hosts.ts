/** Programs that run AI agents, and how to recognize a process of one. */
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

interface AgentHost {
  /** The name in messages. */
  name: string;
  /** Names of its program, of its process, or of the script that an interpreter runs. */
  programs: readonly string[];
  /** Parts of the path of its script, for installations whose script has a general name such as `index.js`. */
  packages?: readonly string[];
  /** Variables that it sets for the commands of its agent. Variables that people set themselves do not belong here. */
  variables?: readonly string[];
  /** Arguments with which it runs without a person. */
  headless?: readonly string[];
}

export const AGENT_HOSTS: readonly AgentHost[] = [
  {
    name: "Claude Code",
    programs: ["claude", "claude-code"],
    packages: ["@anthropic-ai/claude-code", "@anthropic-ai/claude-agent-sdk"],
    variables: ["CLAUDECODE"],
    headless: ["-p", "--print"],
  },
  {
    name: "Codex",
    programs: ["codex", "codex-cli", "codex-linux-sandbox"],
    packages: ["@openai/codex"],
    variables: ["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI", "CODEX_THREAD_ID"],
    headless: ["exec", "e"],
  },
  {
    name: "Gemini CLI",
    programs: ["gemini", "gemini-cli"],
    packages: ["@google/gemini-cli"],
    variables: ["GEMINI_CLI"],
    headless: ["-p", "--prompt"],
  },
  {
    name: "Qwen Code",
    programs: ["qwen", "qwen-code"],
    packages: ["@qwen-code/qwen-code"],
    variables: ["QWEN_CODE"],
    headless: ["-p", "--prompt"],
  },
  {
    name: "opencode",
    programs: ["opencode"],
    packages: ["opencode-ai"],
    variables: ["OPENCODE"],
    headless: ["run"],
  },
  {
    name: "Copilot CLI",
    programs: ["copilot"],
    packages: ["@github/copilot"],
    variables: ["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
    headless: ["-p", "--prompt"],
  },
  {
    name: "Cline",
    programs: ["cline", "cline-host", "cline-core"],
    packages: ["node_modules/cline"],
    variables: ["CLINE_ACTIVE"],
    headless: ["-y", "--yolo", "--oneshot"],
  },
  {
    name: "Continue",
    programs: ["cn"],
    packages: ["@continuedev/cli"],
    variables: ["CONTINUE_CLI"],
    headless: ["-p", "--print"],
  },
  { name: "goose", programs: ["goose", "goosed"], variables: ["GOOSE_TERMINAL"], headless: ["run"] },
  {
    name: "Cursor",
    programs: ["cursor-agent"],
    packages: ["cursor-agent/versions"],
    variables: ["CURSOR_AGENT"],
    headless: ["-p", "--print"],
  },
  {
    name: "Amp",
    programs: ["amp"],
    packages: ["@sourcegraph/amp", "@ampcode/cli"],
    variables: ["AMP_CURRENT_THREAD_ID"],
    headless: ["-x", "--execute"],
  },
  { name: "Auggie", programs: ["auggie"], packages: ["@augmentcode/auggie"], variables: ["AUGMENT_AGENT"] },
  { name: "Crush", programs: ["crush"], packages: ["@charmland/crush"], variables: ["CRUSH"], headless: ["run"] },
  { name: "aider", programs: ["aider"], headless: ["-m", "--message"] },
  { name: "Kiro", programs: ["kiro-cli", "kiro-cli-chat"], headless: ["--no-interactive"] },
  { name: "Antigravity", programs: ["antigravity-agent"], variables: ["ANTIGRAVITY_AGENT"] },
  { name: "pi", programs: [], packages: ["@mariozechner/pi-coding-agent"], variables: ["PI_CODING_AGENT"] },
  // Several hosts agreed on these variables.
  { name: "an agent host", programs: [], variables: ["AI_AGENT"] },
];

/** A process that belongs to an agent host. */
export interface HostProcess {
  host: string;
  pid: number;
  /** What identified it, such as `program claude` or `variable CLAUDECODE`. */
  by: string;
  headless: boolean;
  /** Its environment; null when it cannot be read. */
  env: Readonly<Record<string, string>> | null;
}

const INTERPRETERS = /^(?:node|nodejs|bun|deno|python[\d.]*|MainThread)$/;
/** How many arguments of an interpreter are searched for its script. */
const MAX_ARGUMENTS = 8;

/** Returns the agent host that a process belongs to, or null. Throws when the process has exited. */
export function agentHostOf(pid: number): HostProcess | null {
  const argv = textOf(`/proc/${pid}/cmdline`).split("\0").slice(0, -1);
  const names = [linkOf(`/proc/${pid}/exe`), textOf(`/proc/${pid}/comm`).trim(), argv[0] ?? ""].map(programName);
  const scripts = names.some((name) => INTERPRETERS.test(name))
    ? argv.slice(1, MAX_ARGUMENTS).filter((argument) => !argument.startsWith("-"))
    : [];
  const env = environmentOf(pid);
  for (const host of AGENT_HOSTS) {
    const program = [...names, ...scripts.slice(0, 1).map(programName)].find((name) => host.programs.includes(name));
    const paths = [linkOf(`/proc/${pid}/exe`), ...scripts.slice(0, 1)];
    const found = program ?? host.packages?.find((part) => paths.some((path) => path.includes(`/${part}/`)));
    if (found === undefined) continue;
    const headless = argv.slice(1).some((argument) => host.headless?.includes(argument));
    return { host: host.name, pid, by: `program ${found}`, headless, env };
  }
  const variable = env && hostVariable(env);
  return variable ? { ...variable, pid, headless: false, env } : null;
}

/** Returns the host that an environment names. */
export function hostVariable(env: Readonly<Record<string, string | undefined>>): { host: string; by: string } | null {
  for (const { name, variables = [] } of AGENT_HOSTS) {
    const variable = variables.find((each) => (env[each] ?? "") !== "");
    if (variable !== undefined) return { host: name, by: `variable ${variable}` };
  }
  return null;
}

/** Returns the name of a program without its folder, the extension of a script, and the platform in the name. */
function programName(path: string): string {
  return basename(path.replace(/ \(deleted\)$/, "").replace(/^-/, ""))
    .replace(/\.(?:exe|[cm]?[jt]s|py)$/, "")
    .replace(/-(?:x86_64|aarch64|arm64|linux|darwin)\b.*$/, "");
}

/** Returns the environment that a process was started with. Null for processes of other users. */
function environmentOf(pid: number): Record<string, string> | null {
  try {
    const pairs = textOf(`/proc/${pid}/environ`).split("\0");
    return Object.fromEntries(pairs.map((pair) => [pair.split("=", 1)[0] ?? "", pair.slice(pair.indexOf("=") + 1)]));
  } catch {
    return null;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // A process of another user.
  }
}

function textOf(path: string): string {
  return readFileSync(path, "utf8");
}

interface ProcessStatus {
  parent: number;
  session: number;
  /** The device number of the controlling terminal, or 0. */
  terminal: number;
}

/** Throws when the process has exited or is hidden. */
export function statusOf(pid: number | "self"): ProcessStatus {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The process name in parentheses can itself contain parentheses and spaces.
  const [, parent, , session, terminal] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(parent), session: Number(session), terminal: Number(terminal) };
}

const MAX_DEPTH = 10_000;

/** The PIDs of the parent of this process, its parent and so on. Throws when the chain cannot be followed. */
export function ancestors(): number[] {
  const chain: number[] = [];
  // process.pid cannot be used: /proc may belong to another PID namespace, where that PID is a different process.
  for (let pid = statusOf("self").parent; pid > 0 && chain.length < MAX_DEPTH; pid = statusOf(pid).parent) {
    chain.push(pid);
  }
  return chain;
}

/** Returns the nearest agent host that has started this process, as far as its parents can be followed. */
export function findAgentHost(): HostProcess | null {
  if (process.platform !== "linux") return null;
  try {
    for (const pid of ancestors()) {
      const host = agentHostOf(pid);
      if (host) return host;
    }
  } catch {
    // A parent has exited, or is hidden from this user.
  }
  return null;
}
