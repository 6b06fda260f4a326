import type { Approvals } from "../approval/approvals.ts";
import type {
  Acting,
  AgentInfo,
  CheckOptions,
  CleanReport,
  ListQuery,
  ModeVerdict,
  PolicyInForce,
  Retention,
  RunOptions,
  Scope,
  SessionList,
  SessionsQuery,
  StartOptions,
} from "../core/gateway.ts";
import type { Verdict } from "../core/policy.ts";
import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Settings, Toolset } from "../core/settings.ts";
import { ASK, SECURITY } from "../core/settings.ts";
import { confine } from "../sandbox/confine.ts";
import { gatewayClosed } from "../session/errors.ts";
import { findSession, LocalSessions } from "../session/local-sessions.ts";
import { refusedResult } from "../session/refusal.ts";
import { clean } from "../session/retention.ts";
import type { SessionRecords } from "../session/session.ts";
import { Session } from "../session/session.ts";
import type { AuditLog } from "../storage/audit.ts";
import { SignIns } from "../storage/sign-ins.ts";
import { Tokens } from "../storage/tokens.ts";
import type { WorkQueue } from "../storage/work.ts";
import { authorizeInput } from "./authorize-input.ts";
import { assertPermitted, authorizeOperation, type SessionOperation } from "./authorize-operation.ts";
import { ChangeFeed } from "./change-feed.ts";
import type { GatewayContext } from "./context.ts";
import { inspectAndDecide } from "./decide.ts";
import type { Maintenance } from "./maintenance.ts";
import { DEFAULT_LIMIT, findRemoteSession, listAllSessions, RemoteSession } from "./remote-sessions.ts";
import { currentSettings } from "./settings.ts";
import { submit } from "./submit.ts";
import { waitForExit, waitTimes } from "./wait-for-exit.ts";

/** State shared by all views of a gateway. */
interface Life {
  closed: Promise<void> | null;
  tokens?: Tokens;
  signIns?: SignIns;
}

/** What callers hold: one agent in one workspace. Commands are started by submit.ts only. */
export class Gateway {
  readonly #opened: GatewayContext;
  readonly #retention: () => Retention;
  readonly #maintenance: Maintenance;
  readonly #life: Life;

  constructor(
    context: GatewayContext,
    retention: () => Retention,
    maintenance: Maintenance,
    life: Life = { closed: null },
  ) {
    this.#opened = context;
    this.#retention = retention;
    this.#maintenance = maintenance;
    this.#life = life;
  }

  get #context(): GatewayContext {
    if (this.#life.closed === null) return this.#opened;
    throw gatewayClosed();
  }

  get state(): string {
    return this.#context.state;
  }

  get approvals(): Approvals {
    return this.#context.approvals;
  }

  get audit(): AuditLog {
    this.#context.registry.flush();
    return this.#context.audit;
  }

  get work(): WorkQueue {
    this.#context.registry.flush();
    return this.#context.work;
  }

  /** What happens in the state folder, whoever does it. */
  get changes(): ChangeFeed {
    return new ChangeFeed(this.#context);
  }

  /** Who may call over HTTP. Made when first asked for: most gateways serve nobody. */
  get tokens(): Tokens {
    const { database } = this.#context;
    this.#life.tokens ??= new Tokens(database);
    return this.#life.tokens;
  }

  /** Who is signed in to the console. */
  get signIns(): SignIns {
    const { database } = this.#context;
    this.#life.signIns ??= new SignIns(database);
    return this.#life.signIns;
  }

  /** Which toolsets are offered now. */
  get toolsets(): Readonly<Record<Toolset, boolean>> {
    return currentSettings(this.#context).settings.toolsets;
  }

  /** Deadlines as they are configured; null: the toolset's own. */
  get timeouts(): Settings["timeouts"] {
    return currentSettings(this.#context).settings.timeouts;
  }

  async run(request: RunRequest, options: RunOptions = {}): Promise<RunResult> {
    const { signal, logFolder } = options;
    signal?.throwIfAborted();
    const { forPerson, forCommand } = waitTimes(options);
    const submitOptions = { background: false, signal, approvalTimeoutMs: forPerson, logFolder };
    const submission = await submit(this.#context, request, submitOptions);
    if (!submission.execution) return refusedResult(submission, submission.refusal);
    const { name, session, execution, verdict, approvalId } = submission;
    const ending = await waitForExit(this.#opened, session, execution, options, forCommand());
    const told = this.#opened.executor.data(session).result(name, session, ending);
    // Awaited only when it is a promise: an extra event loop turn is a measurable part of a short command.
    const result = told instanceof Promise ? await told : told;
    result.verdict = verdict;
    result.approvalId = approvalId;
    return result;
  }

  async start(request: RunRequest, options: StartOptions & { foreground?: boolean } = {}): Promise<Session> {
    const { foreground = false, signal, approvalTimeoutMs, logFolder } = options;
    signal?.throwIfAborted();
    const submitOptions = { background: !foreground, signal, approvalTimeoutMs, logFolder };
    const { name, session, execution } = await submit(this.#context, request, submitOptions);
    const release = execution?.hold();
    await execution?.started;
    release?.();
    return this.#session({ id: session.id, name });
  }

  check(command: string | string[], options: CheckOptions = {}): Verdict {
    return this.#check(command, options);
  }

  #check(command: string | string[], options: CheckOptions, modes?: Pick<Settings, "security" | "ask">): Verdict {
    const { settings, confinement } = currentSettings(this.#context);
    const [file = "", ...args] = Array.isArray(command) ? command : [command];
    const request = { command: file, ...(Array.isArray(command) ? { args } : {}), ...options };
    const { cwd, env, sandbox } = confine(request, confinement);
    const { agent, defaultPermissions } = this.#context;
    const who = { agent, workspace: confinement.scope.root, tier: defaultPermissions.run };
    const as = modes ? { ...settings, ...modes } : settings;
    return inspectAndDecide(request, { cwd, env, path: env.PATH ?? "" }, as, who, sandbox);
  }

  /** The same under every mode, as if it were configured: what each would make of this command. */
  modes(command: string | string[], options: CheckOptions = {}): ModeVerdict[] {
    const pairs = SECURITY.flatMap((security) => ASK.map((ask) => ({ security, ask })));
    return pairs.map((modes) => ({ ...modes, verdict: this.#check(command, options, modes).verdict }));
  }

  /** What is configured about commands, as it holds for this agent, and when its allowlist was last of use. */
  get policy(): PolicyInForce {
    const { rules, allowlist, safeBins, allowDenied, security, ask, sandbox } = currentSettings(this.#context).settings;
    const used = this.#context.allowlistUse;
    const entries = allowlist.map((entry) => ({ ...entry, lastUsed: used.lastUsed(entry.pattern) }));
    return { security, ask, sandbox, rules, allowlist: entries, safeBins, allowDenied };
  }

  /** Every agent that has sessions, with how many; who was last at work comes first. */
  agents(): AgentInfo[] {
    const { registry, agent, ownOnly } = this.#context;
    return registry.store.agents().filter(({ name }) => !ownOnly || name === agent);
  }

  session(reference: string): Session {
    const { registry, agent, ownOnly } = this.#context;
    return this.#session(findSession(registry.store, reference, ownOnly ? agent : undefined));
  }

  /** The same, and with a fleet also what other gateways have run there. */
  async find(reference: string): Promise<Session> {
    try {
      return this.session(reference);
    } catch (error) {
      const { peers, session } = await findRemoteSession(this.#context, String(reference), error);
      const { executor } = this.#context;
      return this.#at(new RemoteSession(executor, peers, session), session, session.agent);
    }
  }

  /** The agent's newest session whose main process has or had this pid; null: none ever had. */
  sessionWithPid(pid: number): Session | null {
    const { registry, agent } = this.#context;
    const row = registry.store.withPid(agent, pid);
    return row ? this.#session(row) : null;
  }

  /** The same gateway as a tool's caller sees it: its agent's own sessions only, with the toolset's own permissions. */
  scoped({ tiers: defaultPermissions = {}, approvalTimeoutMs, signal }: Scope = {}): Gateway {
    const context: GatewayContext = {
      ...this.#context,
      defaultPermissions,
      waitOptions: { approvalTimeoutMs, signal },
      ownOnly: true,
    };
    return new Gateway(context, this.#retention, this.#maintenance, this.#life);
  }

  /**
   * The same gateway for one of many callers: an agent, which finds its own sessions only, or a person, who finds all.
   */
  acting({ agent = this.#context.agent, person, channel, approvalTimeoutMs, signal }: Acting): Gateway {
    const actor = person ?? agent;
    const ownOnly = person === undefined;
    const context: GatewayContext = {
      ...this.#context,
      agent,
      actor,
      channel,
      ownOnly,
      waitOptions: { approvalTimeoutMs, signal },
    };
    return new Gateway(context, this.#retention, this.#maintenance, this.#life);
  }

  /** What the methods of a session ask by themselves; without a session, of all the agent has. */
  async permit(operation: SessionOperation, session: { id: string; name: string } | null = null): Promise<void> {
    await authorizeOperation(this.#context, operation, session);
  }

  list(asked: ListQuery = {}): SessionInfo[] {
    const { registry } = this.#context;
    assertPermitted(this.#context, "list");
    const query = this.#reach(asked);
    const wanted = query.status === undefined ? null : [query.status].flat();
    const matches = ({ status, lingering }: SessionInfo) =>
      (!wanted || wanted.includes(status)) && (!query.live || status === "running" || lingering);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const found: SessionInfo[] = [];
    // Reading a row may change its status from running. Rows that then no longer match are replaced by later ones.
    for (let from: ListQuery = query; ; ) {
      const rows = registry.store.list({ ...from, limit: limit - found.length });
      const full = rows.length < limit - found.length ? null : rows.at(-1);
      found.push(...rows.map((row) => registry.info(row)).filter(matches));
      if (!full || found.length >= limit) return found;
      from = { ...query, before: full.id };
    }
  }

  /** One page of what `list` gives and, with a fleet, of what other gateways have run there. */
  sessions(query: SessionsQuery = {}): Promise<SessionList> {
    return listAllSessions(this.#context, this, query);
  }

  count(query: ListQuery = {}): number {
    return this.#context.registry.store.count(this.#reach(query));
  }

  #reach(query: ListQuery): ListQuery {
    const { ownOnly, agent } = this.#context;
    return ownOnly ? { ...query, agent } : query;
  }

  /** `onProgress` hears now and then how many of how many are gone. */
  async clean(
    retention: Partial<Retention> = {},
    onProgress?: (done: number, total: number) => void,
  ): Promise<CleanReport> {
    return clean(this.#context.registry, { ...this.#retention(), ...retention }, onProgress);
  }

  #session(row: { id: string; name: string }): Session {
    return this.#at(new LocalSessions(this.#context.registry), row);
  }

  #at(records: SessionRecords, session: { id: string; name: string }, of?: string): Session {
    const { audit, agent, actor, channel } = this.#context;
    let owner = of;
    return new Session(records, session, {
      // The entry names the agent that owns the session, which may differ from the acting one. Cached for key presses.
      audit: (entry) => {
        owner ??= records.located(session.id)?.agent;
        audit.append({ agent: owner ?? agent, actor, channel, ...entry });
      },
      authorize: (operation, session, detail) => authorizeOperation(this.#context, operation, session, detail),
      authorizeInput: (session, commands) => authorizeInput(this.#context, session, commands),
    });
  }

  /** Lets go of everything and ends nothing: what `run` waits for resolves as `running`. Closing again is fine. */
  close(): Promise<void> {
    this.#life.closed ??= this.#letGo();
    return this.#life.closed;
  }

  async #letGo(): Promise<void> {
    await this.#maintenance.stop();
    await this.#opened.executor.close();
    this.#opened.registry.close();
    this.#opened.database.close();
  }
}
