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
      id: text.optional().describe("Shown as the rule's name"),
      prefix: z
        .array(z.union([text, z.array(text).min(1)]))
        .min(1)
        .optional()
        .describe("The first words of a command, in order; a list stands for any one of its words"),
      pattern: text.optional().describe("Patterns for all words of a command, separated by blanks; `*` and `?`"),
      decision: z.enum(["allow", "ask", "deny"]).describe("What happens to a command that matches; the strictest wins"),
      message: text.optional().describe("Why, for the person and the agent"),
      match: z.array(text).optional().describe("Commands that must match; checked at the start"),
      not_match: z.array(text).optional().describe("Commands that must not match; checked at the start"),
    })
    .describe("A rule about commands") satisfies z.ZodType<UserRule>;

const allowlistEntry = () =>
  z
    .strictObject({
      pattern: text.describe("A glob over the program's resolved path, or a bare name that is found by PATH"),
      args: z
        .string()
        .max(4096)
        .optional()
        .describe("Patterns for the arguments, one a word; a last `**` takes the rest"),
      cwd: text.optional().describe("Only when the command starts in this folder or below"),
      expires: text.optional().describe("ISO time after which the entry counts no more"),
      agent: text.optional().describe("Only for this agent"),
      note: text.optional().describe("For people"),
      lastUsed: text.optional().describe("ISO time; kept, not judged"),
    })
    .describe("A program that may run by itself in allowlist mode") satisfies z.ZodType<AllowEntry>;

const env = () =>
  z
    .strictObject({
      pass: names(
        "Names let through to commands although they look secret or risky; `*` stands for anything",
      ).optional(),
      block: names("Further names kept from commands; stronger than `pass`").optional(),
    })
    .describe("Which environment variables commands get; see docs/environment.md");

const limits = () =>
  z
    .strictObject({
      processes: count(4_194_304)
        .optional()
        .describe("Processes and threads of a command, with all it starts, at a time"),
      cpu: z
        .number()
        .min(0.01)
        .max(1024)
        .optional()
        .describe("Processors a command may use, such as 0.5; no limit without it"),
      memoryBytes: z
        .int()
        .min(1 << 20)
        .max(2 ** 50)
        .optional()
        .describe("Memory of a command with all it starts; no limit without it"),
      diskBytes: count(2 ** 50)
        .optional()
        .describe("Bytes a command, with all it starts, may write to files; no limit without it"),
      openFiles: count(1_048_576)
        .optional()
        .describe("Open files per process; without it 1024, which a command may raise"),
      fileSize: count(2 ** 50)
        .optional()
        .describe("Bytes of the largest file a command may write; without it no limit"),
      sessions: count(10_000).optional().describe("Sessions of one agent that may run at a time"),
      startsPerMinute: count(1_000_000).optional().describe("Sessions one agent may start within a minute"),
    })
    .describe("Limits per command and per agent");

const timeouts = () =>
  z
    .strictObject({
      defaultSeconds: count(2_147_483).optional().describe("Deadline of a foreground command that names none"),
      maxSeconds: count(2_147_483)
        .optional()
        .describe("The longest deadline a foreground command may have, where the toolset has none that is shorter"),
    })
    .describe("Deadlines; without them each toolset's own hold");

const retention = () =>
  z
    .strictObject({
      maxAgeHours: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe("Finished sessions older than this are removed; 0: never"),
      maxCount: z.int().min(0).max(10_000_000).optional().describe("Finished sessions kept at most; 0: no limit"),
      maxBytes: z
        .int()
        .min(0)
        .max(2 ** 50)
        .optional()
        .describe("Bytes of logs kept at most; 0: no limit"),
    })
    .describe("Which finished sessions are kept");

const approvals = () =>
  z
    .strictObject({
      expiresMinutes: z
        .number()
        .positive()
        .max(43_200)
        .optional()
        .describe("How long a person has to decide; then it is a no"),
      quorum: z
        .strictObject({
          rule: z.enum(QUORUM).optional().describe("How many of the approvers must say yes"),
          approvers: names(
            "Who may decide; empty: anybody who can reach the state folder, and the rule is `any`",
          ).optional(),
        })
        .optional()
        .describe("Whose yes it takes"),
    })
    .describe("How approvals work");

const tier = (what: string) => z.enum(PERMISSION).optional().describe(what);
const permissions = () =>
  z
    .strictObject({
      run: tier("Starting a command"),
      write: tier("Writing to a command's input"),
      kill: tier("Sending a signal"),
      extend: tier("Moving a deadline"),
      remove: tier("Removing a finished session"),
      list: tier("Listing sessions"),
      read: tier("Reading output and state"),
    } satisfies Record<(typeof OPERATIONS)[number], unknown>)
    .describe(
      "What each operation needs: nothing, a notification, a person's yes, or it is off; else the toolset's own",
    );

const toolset = (what: string) => z.boolean().optional().describe(what);
const toolsets = () =>
  z
    .strictObject({
      runner: toolset("run, run_background, kill_process, is_blocked"),
      process: toolset("process.run and its siblings"),
      exec: toolset("execute, execute_pty, process_manager; off unless this or ENABLE_EXECUTE says so"),
      shell: toolset("exec and process"),
      bash: toolset("Bash, BashOutput, KillShell"),
    } satisfies Record<(typeof TOOLSETS)[number], unknown>)
    .describe("Which toolsets are offered");

const callback = () =>
  z
    .strictObject({
      command: z
        .array(text)
        .min(1)
        .max(100)
        .optional()
        .describe("Program and arguments; the item comes on its stdin as JSON"),
      webhook: z
        .strictObject({
          url: z.url({ protocol: /^https?$/ }).describe("Address the item is posted to as JSON"),
          secretFile: text.describe("File whose content signs what is posted"),
        })
        .optional()
        .describe("A web address to call"),
      dbos: z
        .strictObject({
          urlFile: text.describe("File that holds the address of DBOS's system database: postgresql://…"),
          queue: text.max(256).describe("The queue's name"),
          workflow: text.max(256).describe("The name of the workflow that is given the item"),
          workflowClass: text.max(256).optional().describe("The class it belongs to, if any"),
        })
        .optional()
        .describe("A durable workflow queue of DBOS; needs the package @dbos-inc/dbos-sdk"),
    })
    .describe("What is called for each work item, such as the end of a background command");

const fleet = () =>
  z
    .strictObject({
      servers: z.union([text, z.array(text).min(1).max(32)]).describe("NATS servers, such as nats://10.0.0.1:4222"),
      name: text.max(63).optional().describe("Which fleet on these servers; default `main`"),
      as: text.max(63).optional().describe("This gateway's name among the members; default the machine's"),
      credentials: text.optional().describe("A file: an nkey seed, or a user's JWT with its seed"),
      tls: z
        .strictObject({
          ca: text.optional().describe("The authority that vouches for the servers"),
          cert: text.optional().describe("Our certificate, where the servers want one"),
          key: text.optional().describe("Its key"),
        })
        .optional()
        .describe("Files for TLS; with it nothing else will do"),
      workspace: text.max(63).optional().describe("The workspace's name on the workers; default made from its folder"),
      sticky: z
        .boolean()
        .optional()
        .describe("Whether its commands all run on the host that has its files (default), or each on any"),
      claimWithinMs: count(86_400_000).optional().describe("How long a command may wait for a free worker"),
    })
    .describe("Run commands on the machines of a fleet; see docs/fleet.md");

const config = () =>
  z
    .strictObject({
      $schema: z.string().optional().describe("Where the JSON Schema of this file is, for editors"),
      security: z
        .enum(SECURITY)
        .optional()
        .describe("`full`: what is not forbidden may run; `allowlist`: only what is allowed; `deny`: nothing"),
      ask: z
        .enum(ASK)
        .optional()
        .describe("When a person is asked: `on-miss` for what is not allowed, `always`, or `off`: misses are denied"),
      sandbox: z.enum(SANDBOX).optional().describe("What the kernel keeps commands from"),
      network: z
        .union(
          [z.enum(NETWORK), z.strictObject({ ports: z.array(count(65_535)).max(MOST_PORTS) })],
          'must be "on", "off" or { "ports": [443] }',
        )
        .optional()
        .describe("Whether confined commands reach the network, or which TCP ports only"),
      writable: paths("What confined commands may write to besides the workspace").optional(),
      denied: paths("What confined commands neither read nor write, besides the built-in list").optional(),
      user: z
        .string()
        .regex(/^(?:[a-z_][a-z0-9_.-]{0,31}\$?|\d{1,10}(?::\d{1,10})?)$/i, "must be a user's name, `uid` or `uid:gid`")
        .optional()
        .describe("Whom commands run as where Sallyport itself is root; without it as root"),
      require: z
        .boolean()
        .optional()
        .describe("Rather run nothing than leave out a part of the sandbox that this machine cannot provide"),
      scope: z
        .enum(SCOPE)
        .optional()
        .describe("Where `cwd` and `logFile` may lead; `anywhere` is for people at a keyboard"),
      rules: z.array(rule()).max(1000).optional().describe("Rules about commands, on top of the built-in ones"),
      allowlist: z.array(allowlistEntry()).max(10_000).optional().describe("What may run by itself in allowlist mode"),
      safeBins: names("Which of the built-in text filters need no allowlist entry; without it all of them").optional(),
      allowDenied: names(
        "Built-in denials that a person lifts, by their rule, such as `privilege` (sudo, su, doas): they are asked then",
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
        .describe("What an exit record survives; `power-loss` costs a disk flush a command"),
    })
    .describe("The configuration of Sallyport");

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
    .describe("Settings of this agent, on top of the general ones");

const agentName = () => z.string().regex(/^[\w][\w.:@/-]{0,127}$/, "must be a name of an agent");

const wholeFile = () =>
  config()
    .extend({
      agents: z.record(agentName(), agentConfig()).optional().describe("Settings of single agents, by name"),
    })
    .describe("sallyport.json: the operator's word, or a workspace's, which can only tighten it");

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
