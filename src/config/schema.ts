import * as z from "zod";
import type { AllowEntry, UserRule } from "../core/policy.ts";
import type { OPERATIONS, TOOLSETS } from "../core/settings.ts";
import {
  ASK,
  COMMAND_LINE,
  DEFAULTS,
  DURABILITY,
  MASK_FAILURE,
  NETWORK,
  PERMISSION,
  QUORUM,
  SANDBOX,
  SCOPE,
  SECURITY,
} from "../core/settings.ts";

/**
 * The schema of sallyport.json. Every key is optional, unknown keys are rejected. The defaults are in core/settings.ts.
 */
const text = z.string().min(1).max(4096);
const names = (what: string) => z.array(text.max(256)).max(1000).describe(what);
const paths = (what: string) =>
  z
    .array(text.refine((path) => !path.includes("\0"), "must not contain NUL"))
    .max(64)
    .describe(what);
const count = (most: number) => z.int().min(1).max(most);

const MAX_PORTS = 64;

const rule = () =>
  z
    .strictObject({
      id: text.optional().describe("Name of the rule in messages (default: `user-rule`)"),
      prefix: z
        .array(z.union([text, z.array(text).min(1)]))
        .min(1)
        .optional()
        .describe("First arguments of a command, program name included; an array matches any one of its strings"),
      pattern: text
        .optional()
        .describe(
          "Glob patterns (`*`, `?`) for all arguments of a command, program name included, separated by spaces",
        ),
      decision: z
        .enum(["allow", "ask", "deny"])
        .describe("Decision for a command that matches; the strictest matching rule decides"),
      message: text.optional().describe("Reason that is shown to the agent and the approver"),
      match: z
        .array(text)
        .optional()
        .describe("Example commands that the rule must match; checked when the configuration is loaded"),
      not_match: z
        .array(text)
        .optional()
        .describe("Example commands that the rule must not match; checked when the configuration is loaded"),
    })
    .describe("Rule that allows, denies or requires approval for commands") satisfies z.ZodType<UserRule>;

const allowlistEntry = () =>
  z
    .strictObject({
      pattern: text.describe(
        "Glob pattern for the resolved path of the program, or the name of a program that is found on `PATH`",
      ),
      args: z
        .string()
        .max(4096)
        .optional()
        .describe("Glob patterns for the arguments, separated by spaces; a final `**` matches all remaining arguments"),
      cwd: text.optional().describe("Working directory in which the entry applies, subfolders included"),
      expires: text.optional().describe("Time at which the entry expires, in ISO 8601 format"),
      agent: text.optional().describe("Name of the agent that the entry applies to (default: all agents)"),
      note: text.optional().describe("Comment that is shown with the verdict"),
      lastUsed: text.optional().describe("Time at which the entry was last used, in ISO 8601 format; not evaluated"),
    })
    .describe("Program that runs without approval when `security` is `allowlist`") satisfies z.ZodType<AllowEntry>;

const env = () =>
  z
    .strictObject({
      pass: names(
        "Environment variables that commands receive although they look secret or risky; `*` matches any text",
      ).optional(),
      block: names(
        "Additional environment variables that commands do not receive; takes precedence over `pass`",
      ).optional(),
    })
    .describe("Environment variables of commands; see docs/environment.md");

const limits = () =>
  z
    .strictObject({
      processes: count(4_194_304)
        .optional()
        .describe("Maximum number of concurrent processes and threads of a command"),
      cpu: z
        .number()
        .min(0.01)
        .max(1024)
        .optional()
        .describe("Maximum number of CPUs that a command uses, such as 0.5 (default: unlimited)"),
      memoryBytes: z
        .int()
        .min(1 << 20)
        .max(2 ** 50)
        .optional()
        .describe("Maximum memory of a command and all processes it starts, in bytes (default: unlimited)"),
      diskBytes: count(2 ** 50)
        .optional()
        .describe(
          "Maximum number of bytes that a command and all processes it starts write to files (default: unlimited)",
        ),
      openFiles: count(1_048_576)
        .optional()
        .describe("Maximum number of open files per process (default: 1024, which a command can raise)"),
      fileSize: count(2 ** 50)
        .optional()
        .describe("Maximum size of a file that a command writes, in bytes (default: unlimited)"),
      sessions: count(10_000).optional().describe("Maximum number of running sessions per agent"),
      startsPerMinute: count(1_000_000)
        .optional()
        .describe("Maximum number of sessions that an agent starts per minute"),
    })
    .describe("Limits of each command and each agent; see docs/limits.md");

const timeouts = () =>
  z
    .strictObject({
      defaultSeconds: count(2_147_483)
        .optional()
        .describe("Timeout of a foreground command that sets none, in seconds (default: set by the toolset)"),
      maxSeconds: count(2_147_483)
        .optional()
        .describe(
          "Maximum timeout of a foreground command, in seconds; a shorter maximum of the toolset takes precedence",
        ),
    })
    .describe("Timeouts of foreground commands; each toolset has its own defaults");

const retention = () =>
  z
    .strictObject({
      maxAgeHours: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("Age in hours after which finished sessions are removed; 0 for no limit"),
      maxCount: z
        .int()
        .min(0)
        .max(10_000_000)
        .optional()
        .describe("Maximum number of finished sessions of each agent to keep; 0 for no limit"),
      maxBytes: z
        .int()
        .min(0)
        .max(2 ** 50)
        .optional()
        .describe(
          "Maximum size of all logs of finished sessions, and of all temporary directories, in bytes; 0 for no limit",
        ),
    })
    .describe("Retention of finished sessions");

const approvals = () =>
  z
    .strictObject({
      expiresMinutes: z
        .number()
        .positive()
        .max(43_200)
        .optional()
        .describe("Time after which an undecided approval request is denied, in minutes"),
      quorum: z
        .strictObject({
          rule: z
            .enum(QUORUM)
            .optional()
            .describe("Number of approvers that must approve a request: any one, a majority, or all"),
          approvers: names("Names of the approvers; if empty, any person can decide and the rule is `any`").optional(),
        })
        .optional()
        .describe("Approvals that a request needs"),
      commandLine: z
        .enum(COMMAND_LINE)
        .optional()
        .describe(
          "What may approve and grant on the command line: a person on a `terminal`, also a `script` without a terminal, or `anywhere`, which includes the shell of an agent host",
        ),
    })
    .describe("Settings for approvals; see docs/approvals.md");

const tier = (what: string) => z.enum(PERMISSION).optional().describe(what);
const permissions = () =>
  z
    .strictObject({
      run: tier("Permission to start a command"),
      write: tier("Permission to write to the stdin or terminal of a command"),
      kill: tier("Permission to send a signal"),
      extend: tier("Permission to extend a timeout"),
      remove: tier("Permission to remove a finished session"),
      list: tier("Permission to list sessions"),
      read: tier("Permission to read output and state"),
    } satisfies Record<(typeof OPERATIONS)[number], unknown>)
    .describe(
      "Permission for each operation: `autonomous` allows it, `notify` allows and reports it, `ask` requires approval, `deny` disables it (default: set by the toolset)",
    );

const toolset = (what: string) => z.boolean().optional().describe(what);
const toolsets = () =>
  z
    .strictObject({
      runner: toolset("Toolset with `run`, `run_background`, `kill_process` and `is_blocked`"),
      process: toolset(
        "Toolset with `process.run`, `process.monitor`, `process.kill`, `process.list` and `process.logs`",
      ),
      exec: toolset(
        "Toolset with `execute`, `execute_pty`, `process_manager`, `process_list`, `process_poll` and `process_log`; also enabled by `ENABLE_EXECUTE=1`",
      ),
      shell: toolset("Toolset with `exec` and `process`"),
      bash: toolset("Toolset with `Bash`, `BashOutput` and `KillShell`"),
    } satisfies Record<(typeof TOOLSETS)[number], unknown>)
    .describe("Toolsets that are offered to agents; see docs/toolsets.md");

const callback = () =>
  z
    .strictObject({
      command: z
        .array(text)
        .min(1)
        .max(100)
        .optional()
        .describe("Program and arguments; it receives the work item as JSON on stdin"),
      webhook: z
        .strictObject({
          url: z.url({ protocol: /^https?$/ }).describe("URL to which the work item is posted as JSON"),
          secretFile: text.describe("File with the secret that signs each request"),
        })
        .optional()
        .describe("Webhook to call"),
      dbos: z
        .strictObject({
          urlFile: text.describe("File with the URL of the DBOS system database (`postgresql://…`)"),
          queue: text.max(256).describe("Name of the queue"),
          workflow: text.max(256).describe("Name of the workflow that receives the work item"),
          workflowClass: text.max(256).optional().describe("Class of the workflow, if it has one"),
        })
        .optional()
        .describe("DBOS workflow queue; requires the package `@dbos-inc/dbos-sdk`"),
    })
    .describe(
      "Command, webhook or DBOS workflow to call for each work item, such as the end of a background command; see docs/work-queue.md",
    );

const fleet = () =>
  z
    .strictObject({
      servers: z
        .union([text, z.array(text).min(1).max(32)])
        .describe("NATS server URLs, such as `nats://10.0.0.1:4222`"),
      name: text.max(63).optional().describe("Name of the fleet on these servers (default: `main`)"),
      as: text.max(63).optional().describe("Name of this gateway in the fleet (default: the host name)"),
      credentials: text.optional().describe("File with an nkey seed, or with a user JWT and its seed"),
      tls: z
        .strictObject({
          ca: text.optional().describe("File with the CA certificate of the servers"),
          cert: text.optional().describe("File with the client certificate, if the servers require one"),
          key: text.optional().describe("File with the private key of the client certificate"),
        })
        .optional()
        .describe("TLS settings; if set, even to `{}`, connections without TLS are refused"),
      workspace: text
        .max(63)
        .optional()
        .describe("Name of the workspace on the workers (default: derived from its path)"),
      sticky: z
        .boolean()
        .optional()
        .describe(
          "Run all commands of the workspace on the host that has its files; if false, each runs on any host (default: true)",
        ),
      claimWithinMs: count(86_400_000)
        .optional()
        .describe("Maximum time a command waits for a free worker, in milliseconds (default: 600000)"),
    })
    .describe("Fleet whose workers run the commands; see docs/fleet.md");

const config = () =>
  z
    .strictObject({
      $schema: z.string().optional().describe("Location of the JSON Schema of this file, for editors"),
      security: z
        .enum(SECURITY)
        .optional()
        .describe(
          "Commands that run without approval: `full` for all that no rule stops, `allowlist` for those on the allowlist; `deny` denies every command",
        ),
      ask: z
        .enum(ASK)
        .optional()
        .describe(
          "Commands that require approval: `on-miss` for those that `security` does not allow, `always` for all, `off` to deny instead of asking",
        ),
      sandbox: z.enum(SANDBOX).optional().describe("Sandbox profile of commands; see docs/sandbox.md"),
      network: z
        .union(
          [z.enum(NETWORK), z.strictObject({ ports: z.array(count(65_535)).max(MAX_PORTS) })],
          'must be "on", "off" or { "ports": [443] }',
        )
        .optional()
        .describe("Network access of sandboxed commands: all, none, or only to the listed TCP ports"),
      writable: paths("Paths that sandboxed commands can write to, in addition to the workspace").optional(),
      readable: paths(
        "Paths of the built-in list of credentials that sandboxed commands can read after all",
      ).optional(),
      denied: paths(
        "Paths that sandboxed commands can neither read nor write, in addition to the built-in list",
      ).optional(),
      sockets: paths(
        "Unix sockets, or folders of them, that sandboxed commands can connect to, in addition to those in writable paths",
      ).optional(),
      user: z
        .string()
        .regex(/^(?:[a-z_][a-z0-9_.-]{0,31}\$?|\d{1,10}(?::\d{1,10})?)$/i, "must be a user name, `uid` or `uid:gid`")
        .optional()
        .describe("User that commands run as when Sallyport runs as root (default: root)"),
      require: z
        .boolean()
        .optional()
        .describe(
          "What to do if this machine cannot enforce the whole sandbox: `true` refuses to run commands; `false` runs them with what can be enforced, even if that is nothing (default: refuse only if nothing can be enforced)",
        ),
      maskFailure: z
        .enum(MASK_FAILURE)
        .optional()
        .describe("What happens to a running command when a denied or protected path loses its mask: kill it, or warn"),
      scope: z
        .enum(SCOPE)
        .optional()
        .describe("Allowed locations of `cwd` and `logFile`: inside the workspace, or anywhere"),
      rules: z.array(rule()).max(1000).optional().describe("Rules for commands, in addition to the built-in ones"),
      allowlist: z
        .array(allowlistEntry())
        .max(10_000)
        .optional()
        .describe("Programs that run without approval when `security` is `allowlist`"),
      safeBins: names("Built-in text filters that need no allowlist entry (default: all of them)").optional(),
      allowDenied: names(
        "IDs of built-in denials that require approval instead, such as `privilege` (`sudo`, `su`, `doas`)",
      ).optional(),
      env: env().optional(),
      limits: limits().optional(),
      timeouts: timeouts().optional(),
      retention: retention().optional(),
      approvals: approvals().optional(),
      permissions: permissions().optional(),
      toolsets: toolsets().optional(),
      callback: callback().optional(),
      fleet: fleet().optional(),
      durability: z
        .enum(DURABILITY)
        .optional()
        .describe("Failures that acknowledged work survives; `power-loss` needs disk flushes for each command"),
    })
    .describe("Configuration of Sallyport");

/** Keys that can be set for a single agent. */
const agentConfig = () =>
  config()
    .pick({
      security: true,
      ask: true,
      sandbox: true,
      network: true,
      writable: true,
      readable: true,
      denied: true,
      sockets: true,
      user: true,
      require: true,
      maskFailure: true,
      scope: true,
      rules: true,
      allowlist: true,
      safeBins: true,
      allowDenied: true,
      env: true,
      limits: true,
      timeouts: true,
      permissions: true,
      toolsets: true,
    })
    .describe("Settings of this agent, merged over the general ones");

const agentName = () =>
  z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9._:@/-]{0,126}[A-Za-z0-9])?$/, "must be a valid agent name");

const wholeFile = () =>
  config()
    .extend({
      agents: z.record(agentName(), agentConfig()).optional().describe("Settings for individual agents, by agent name"),
    })
    .describe("Operator or workspace configuration; a workspace file can only tighten the operator's");

let made: ReturnType<typeof wholeFile> | null = null;

/**
 * Returns the schema of the whole file. It is built on first use, because that takes longer than the rest of the CLI
 * start.
 */
export function configFile(): ReturnType<typeof wholeFile> {
  made ??= wholeFile();
  return made;
}

export type Config = z.infer<ReturnType<typeof config>>;
export type AgentConfig = z.infer<ReturnType<typeof agentConfig>>;
/**
 * The content of `sallyport.json`, and the type of the `policy` option.
 *
 * @example
 * ```ts
 * import type { ConfigFile } from "sallyport";
 *
 * const policy: ConfigFile = { security: "allowlist", ask: "off", allowlist: [{ pattern: "git", args: "status" }] };
 * const strict = await openGateway({ policy });
 * console.log(strict.check("git status").verdict, strict.check("git push").verdict); // allow deny
 * await strict.close();
 * ```
 */
export type ConfigFile = z.infer<ReturnType<typeof wholeFile>>;

export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
}

/** Returns the JSON Schema of sallyport.json, including default values. */
export function configJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(configFile(), { io: "input", target: "draft-2020-12" }) as JsonSchema;
  addDefaults(schema, DEFAULTS as unknown as Record<string, unknown>);
  return { $schema: schema.$schema, title: "sallyport.json", ...schema };
}

function addDefaults(schema: JsonSchema, defaults: Record<string, unknown>): void {
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const value = Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    if (property.properties && value) addDefaults(property, value as Record<string, unknown>);
    else if (value !== undefined && value !== null) property.default = value;
  }
}
