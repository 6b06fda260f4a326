import * as z from "zod";
import type { AllowEntry, UserRule } from "../core/policy.ts";
import type { OPERATIONS, TOOLSETS } from "../core/settings.ts";
import { ASK, DEFAULTS, DURABILITY, NETWORK, PERMISSION, QUORUM, SANDBOX, SCOPE, SECURITY } from "../core/settings.ts";

/** sallyport.json as people write it: everything is optional, nothing unknown is let by. Defaults are in defaults.ts. */
const text = z.string().min(1).max(4096);
const names = (what: string) => z.array(text.max(256)).max(1000).describe(what);
const paths = (what: string) =>
  z
    .array(text.refine((path) => !path.includes("\0"), "must not contain NUL"))
    .max(64)
    .describe(what);
const count = (most: number) => z.int().min(1).max(most);

/** More than anybody can look over is a mistake. */
const MOST_PORTS = 64;

const rule = () =>
  z
    .strictObject({
      id: text.optional().describe("Name of the rule, shown in verdicts"),
      prefix: z
        .array(z.union([text, z.array(text).min(1)]))
        .min(1)
        .optional()
        .describe("First words of the command, in order; a list matches any one of its words"),
      pattern: text
        .optional()
        .describe("Patterns for all words of the command, separated by spaces; `*` and `?` are wildcards"),
      decision: z
        .enum(["allow", "ask", "deny"])
        .describe("Decision for a matching command; if several rules match, the strictest applies"),
      message: text.optional().describe("Reason, shown to the approver and the agent"),
      match: z.array(text).optional().describe("Example commands that must match; checked when the file is loaded"),
      not_match: z
        .array(text)
        .optional()
        .describe("Example commands that must not match; checked when the file is loaded"),
    })
    .describe("A rule for commands") satisfies z.ZodType<UserRule>;

const allowlistEntry = () =>
  z
    .strictObject({
      pattern: text.describe("Glob for the resolved path of the program, or a name that is looked up on PATH"),
      args: z
        .string()
        .max(4096)
        .optional()
        .describe("Patterns for the arguments, one per argument; a final `**` matches the rest"),
      cwd: text.optional().describe("Matches only if the working directory is this folder or inside it"),
      expires: text.optional().describe("ISO 8601 time at which the entry expires"),
      agent: text.optional().describe("Matches only commands of this agent"),
      note: text.optional().describe("Comment; has no effect"),
      lastUsed: text.optional().describe("ISO 8601 time of the last use; has no effect"),
    })
    .describe("A program that runs without approval in allowlist mode") satisfies z.ZodType<AllowEntry>;

const env = () =>
  z
    .strictObject({
      pass: names(
        "Variables that commands get although they look like secrets or are risky; `*` matches any text",
      ).optional(),
      block: names("Additional variables that commands do not get; takes precedence over `pass`").optional(),
    })
    .describe("Environment variables of commands; see docs/environment.md");

const limits = () =>
  z
    .strictObject({
      processes: count(4_194_304)
        .optional()
        .describe("Processes and threads of a command, including all that it starts"),
      cpu: z
        .number()
        .min(0.01)
        .max(1024)
        .optional()
        .describe("CPUs that a command may use, such as 0.5; unset means no limit"),
      memoryBytes: z
        .int()
        .min(1 << 20)
        .max(2 ** 50)
        .optional()
        .describe("Bytes of memory of a command, including all that it starts; unset means no limit"),
      diskBytes: count(2 ** 50)
        .optional()
        .describe("Bytes that a command, including all that it starts, may write to files; unset means no limit"),
      openFiles: count(1_048_576)
        .optional()
        .describe("Open files per process; unset means 1024, which a command may raise"),
      fileSize: count(2 ** 50)
        .optional()
        .describe("Maximum size in bytes of a file that a command writes; unset means no limit"),
      sessions: count(10_000).optional().describe("Sessions of one agent that may run at the same time"),
      startsPerMinute: count(1_000_000).optional().describe("Sessions that one agent may start within a minute"),
    })
    .describe("Limits per command and per agent; see docs/limits.md");

const timeouts = () =>
  z
    .strictObject({
      defaultSeconds: count(2_147_483)
        .optional()
        .describe("Default timeout of a foreground command; unset means the toolset's default"),
      maxSeconds: count(2_147_483)
        .optional()
        .describe("Maximum timeout of a foreground command; a toolset may have a lower one"),
    })
    .describe("Timeouts of foreground commands");

const retention = () =>
  z
    .strictObject({
      maxAgeHours: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("Maximum age of finished sessions in hours; 0 means no limit"),
      maxCount: z
        .int()
        .min(0)
        .max(10_000_000)
        .optional()
        .describe("Maximum number of finished sessions; 0 means no limit"),
      maxBytes: z
        .int()
        .min(0)
        .max(2 ** 50)
        .optional()
        .describe("Maximum size of all logs in bytes; 0 means no limit"),
    })
    .describe("Limits on the finished sessions that are kept");

const approvals = () =>
  z
    .strictObject({
      expiresMinutes: z
        .number()
        .positive()
        .max(43_200)
        .optional()
        .describe("Minutes until a pending approval request expires"),
      quorum: z
        .strictObject({
          rule: z
            .enum(QUORUM)
            .optional()
            .describe("Number of approvers that must approve: any one, a majority, or all"),
          approvers: names(
            "Names of the approvers; if empty, anyone with access to the state folder may decide",
          ).optional(),
        })
        .optional()
        .describe("Approvers that are required for an approval"),
    })
    .describe("Settings for approvals; see docs/approvals.md");

const tier = (what: string) => z.enum(PERMISSION).optional().describe(what);
const permissions = () =>
  z
    .strictObject({
      run: tier("Permission to start a command"),
      write: tier("Permission to write to stdin or a terminal"),
      kill: tier("Permission to send a signal"),
      extend: tier("Permission to change a deadline"),
      remove: tier("Permission to delete a finished session"),
      list: tier("Permission to list sessions"),
      read: tier("Permission to read output and status"),
    } satisfies Record<(typeof OPERATIONS)[number], unknown>)
    .describe("What each operation requires; unset means the default of the toolset");

const toolset = (what: string) => z.boolean().optional().describe(what);
const toolsets = () =>
  z
    .strictObject({
      runner: toolset("Offer run, run_background, kill_process and is_blocked"),
      process: toolset("Offer process.run, process.monitor, process.kill, process.list and process.logs"),
      exec: toolset("Offer execute, execute_pty and process_manager, process_list, process_poll and process_log"),
      shell: toolset("Offer exec and process"),
      bash: toolset("Offer Bash, BashOutput and KillShell"),
    } satisfies Record<(typeof TOOLSETS)[number], unknown>)
    .describe("Toolsets to offer; see docs/toolsets.md");

const callback = () =>
  z
    .strictObject({
      command: z
        .array(text)
        .min(1)
        .max(100)
        .optional()
        .describe("Program and arguments; gets the item as JSON on stdin"),
      webhook: z
        .strictObject({
          url: z.url({ protocol: /^https?$/ }).describe("URL to which the item is sent as JSON in a POST request"),
          secretFile: text.describe("File with the secret that signs the request"),
        })
        .optional()
        .describe("A webhook to call"),
      dbos: z
        .strictObject({
          urlFile: text.describe("File with the URL of the DBOS system database: postgresql://…"),
          queue: text.max(256).describe("Name of the queue"),
          workflow: text.max(256).describe("Name of the workflow that gets the item"),
          workflowClass: text.max(256).optional().describe("Class of the workflow, if it belongs to one"),
        })
        .optional()
        .describe("A DBOS workflow queue; requires the package @dbos-inc/dbos-sdk"),
    })
    .describe("Command, webhook or queue to call for each work item; see docs/work-queue.md");

const fleet = () =>
  z
    .strictObject({
      servers: z.union([text, z.array(text).min(1).max(32)]).describe("NATS servers, such as nats://10.0.0.1:4222"),
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
        .describe("TLS settings; if set, unencrypted connections are refused"),
      workspace: text
        .max(63)
        .optional()
        .describe("Name of the workspace on the workers (default: derived from its path)"),
      sticky: z
        .boolean()
        .optional()
        .describe(
          "Run all commands on the host that has the files of the workspace (default: true), or each on any host",
        ),
      claimWithinMs: count(86_400_000)
        .optional()
        .describe("Maximum time in milliseconds that a command waits for a free worker"),
    })
    .describe("Run commands on the machines of a fleet; see docs/fleet.md");

const config = () =>
  z
    .strictObject({
      $schema: z.string().optional().describe("Location of the JSON Schema of this file, for editors"),
      security: z
        .enum(SECURITY)
        .optional()
        .describe("`full` allows commands that no rule forbids, `allowlist` only listed commands, `deny` none"),
      ask: z
        .enum(ASK)
        .optional()
        .describe(
          "Commands that require approval: `on-miss` those that are not allowed, `always` all, `off` none (they are denied)",
        ),
      sandbox: z.enum(SANDBOX).optional().describe("Sandbox profile of commands; see docs/sandbox.md"),
      network: z
        .union(
          [z.enum(NETWORK), z.strictObject({ ports: z.array(count(65_535)).max(MOST_PORTS) })],
          'must be "on", "off" or { "ports": [443] }',
        )
        .optional()
        .describe("Network access of sandboxed commands, or the TCP ports they may use"),
      writable: paths("Paths that sandboxed commands may write to in addition to the workspace").optional(),
      denied: paths(
        "Paths that sandboxed commands can neither read nor write, in addition to the built-in list",
      ).optional(),
      user: z
        .string()
        .regex(/^(?:[a-z_][a-z0-9_.-]{0,31}\$?|\d{1,10}(?::\d{1,10})?)$/i, "must be a user's name, `uid` or `uid:gid`")
        .optional()
        .describe("User that commands run as if Sallyport runs as root; unset means root"),
      require: z
        .boolean()
        .optional()
        .describe("Refuse to run commands if this machine does not support a part of the sandbox"),
      scope: z.enum(SCOPE).optional().describe("Where `cwd` and `logFile` may be; `anywhere` is for interactive use"),
      rules: z.array(rule()).max(1000).optional().describe("Rules for commands, in addition to the built-in ones"),
      allowlist: z
        .array(allowlistEntry())
        .max(10_000)
        .optional()
        .describe("Commands that run without approval in allowlist mode"),
      safeBins: names("Built-in text filters that need no allowlist entry; unset means all of them").optional(),
      allowDenied: names(
        "IDs of built-in `deny` rules, such as `privilege` (sudo, su, doas), that require approval instead",
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
        .describe("What an exit record survives; `power-loss` costs a disk flush per command"),
    })
    .describe("Configuration of Sallyport");

/** What may differ for one agent. */
const agentConfig = () =>
  config()
    .pick({
      security: true,
      ask: true,
      sandbox: true,
      network: true,
      writable: true,
      denied: true,
      user: true,
      require: true,
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
    .describe("Settings of this agent; override the general ones");

const agentName = () => z.string().regex(/^[\w][\w.:@/-]{0,127}$/, "must be a name of an agent");

const wholeFile = () =>
  config()
    .extend({
      agents: z.record(agentName(), agentConfig()).optional().describe("Settings of individual agents, by name"),
    })
    .describe("sallyport.json of the operator, or of a workspace, which can only tighten it");

let made: ReturnType<typeof wholeFile> | null = null;

/** The whole file. Made when first needed: it takes longer to make than all the rest of a command line's start. */
export function configFile(): ReturnType<typeof wholeFile> {
  made ??= wholeFile();
  return made;
}

export type Config = z.infer<ReturnType<typeof config>>;
export type AgentConfig = z.infer<ReturnType<typeof agentConfig>>;
export type ConfigFile = z.infer<ReturnType<typeof wholeFile>>;

export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
}

/** The JSON Schema of sallyport.json, with the defaults that a file left out would have. */
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
