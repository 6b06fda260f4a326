/** The text of a systemd unit. */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { unusableValue } from "./errors.ts";

export const SERVICES = ["serve", "worker"] as const;
export type ServiceName = (typeof SERVICES)[number];

export interface UnitOptions {
  service: ServiceName;
  scope: "user" | "system";
  /** The account of a system unit. */
  user: string;
  /** The folder in which the service starts: the workspace of `serve`, and the folder of relative paths in its options. */
  folder: string;
  /** The program and its arguments. */
  command: readonly string[];
  /** A command that ends when the service accepts requests. Null when systemd does not wait. */
  ready: readonly string[] | null;
  env: Readonly<Record<string, string>>;
  /** A file with further variables, which need not exist. */
  environmentFile: string;
  /** The major version of systemd. */
  version: number;
}

/** Since this version, systemd starts the service in a child of its cgroup. */
const SUBGROUP_VERSION = 254;

/** The cgroup into which the keeper moves the processes of a delegated cgroup (LEAF_NAME in native/cgroup). */
const SUBGROUP = "sallyport-door";

const DESCRIPTIONS: Record<ServiceName, string> = {
  serve: "Sallyport console, HTTP API and MCP",
  worker: "Sallyport worker of a fleet",
};

export function unitName(service: ServiceName): string {
  return `sallyport-${service}.service`;
}

const MARK = "# Written by `sallyport service install`, which replaces this file. To change it, use `systemctl edit`.";

/** Returns the text of a unit. The second line has a checksum, by which an edited file is recognized. */
export function unitText(options: UnitOptions): string {
  const body = sections(options)
    .map(([title, lines]) => `[${title}]\n${lines.map((line) => `${line}\n`).join("")}`)
    .join("\n");
  return `${MARK}\n# Checksum: ${checksum(body)}\n\n${body}`;
}

/** Reports whether a text is a unit of ours, and whether it has been edited since. */
export function originOf(text: string): "ours" | "edited" | "foreign" {
  if (!text.startsWith(MARK)) return "foreign";
  const [, sum, body = ""] = /^.*\n# Checksum: ([0-9a-f]{16})\n\n(.*)$/s.exec(text) ?? [];
  return sum === checksum(body) ? "ours" : "edited";
}

function checksum(body: string): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

function sections(options: UnitOptions): [string, string[]][] {
  const { service, scope, user, folder, command, ready, env, environmentFile, version } = options;
  const isSystem = scope === "system";
  const network = isSystem ? ["Wants=network-online.target", "After=network-online.target"] : [];
  return [
    ["Unit", [`Description=${DESCRIPTIONS[service]}`, ...network, "StartLimitIntervalSec=0"]],
    [
      "Service",
      [
        "Type=exec",
        ...(isSystem ? [`User=${specifierFree(user)}`] : []),
        `WorkingDirectory=${pathValue(folder)}`,
        ...Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
        `EnvironmentFile=-${globFree(pathValue(environmentFile))}`,
        `ExecStart=${commandLine(command)}`,
        ...(ready ? [`ExecStartPost=${commandLine(ready)}`, "TimeoutStartSec=300"] : []),
        "Restart=on-failure",
        "RestartSec=2",
        "# Commands and their keepers continue when the service stops or restarts.",
        "KillMode=process",
        "# A command that exceeds its memory limit does not end the service.",
        "OOMPolicy=continue",
        ...delegation(version),
      ],
    ],
    ["Install", [`WantedBy=${isSystem ? "multi-user.target" : "default.target"}`]],
  ];
}

/** Before systemd has subgroups, a service with a delegated cgroup cannot be restarted while commands have limits. */
function delegation(version: number): string[] {
  if (version < SUBGROUP_VERSION) return [];
  return [
    "# The kernel enforces the limits of each command, in a cgroup of its own.",
    "Delegate=yes",
    `DelegateSubgroup=${SUBGROUP}`,
  ];
}

/** The folders that systemd has on PATH. */
const SYSTEM_PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Returns a PATH on which commands find Node too, wherever it is installed. */
export function servicePath(node: string, home: string): string {
  const folder = dirname(node);
  return [...new Set([folder, `${home}/.local/bin`, ...SYSTEM_PATH])].join(":");
}

/** Quotes a word for a line of a unit. */
function quoted(word: string): string {
  const text = specifierFree(word);
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

function commandLine(words: readonly string[]): string {
  return words.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ");
}

/** Escapes what systemd would expand in any value. */
function specifierFree(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: systemd accepts no such characters in a unit.
  if (/[\x00-\x08\x0b-\x1f\x7f]/.test(text)) throw unusableValue(text, "contains control characters");
  return text.replaceAll("%", "%%");
}

/** Escapes a path that is the whole value of a line, where systemd knows no quotes. */
function pathValue(path: string): string {
  if (/\n|\t|^\s|\s$/.test(path)) throw unusableValue(path, "starts or ends with a space, or contains line breaks");
  return specifierFree(path);
}

/** Escapes the wildcards that systemd expands in the path of an EnvironmentFile. */
function globFree(path: string): string {
  return path.replace(/[\\*?[]/g, "\\$&");
}
