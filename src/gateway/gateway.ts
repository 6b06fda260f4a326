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
import { agentFilter, agentName } from "../core/names.ts";
import type { Verdict } from "../core/policy.ts";
import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import type { Settings, Toolset } from "../core/settings.ts";
import { ASK, SECURITY } from "../core/settings.ts";
import { confine } from "../sandbox/confine.ts";
import { allowedVariables } from "../sandbox/environment.ts";
import type { ShellForm } from "../sandbox/launch-spec.ts";
import { gatewayClosed } from "../session/errors.ts";
import { findSession, LocalSessions } from "../session/local-sessions.ts";
import { refusedResult } from "../session/refusal.ts";
import { clean } from "../session/retention.ts";
import type { SessionRecords } from "../session/session.ts";
import { Session } from "../session/session.ts";
import type { AuditLog } from "../storage/audit.ts";
import { restoreReserve } from "../storage/reserve.ts";
import { SignIns } from "../storage/sign-ins.ts";
import { Tokens } from "../storage/tokens.ts";
import type { WorkQueue } from "../storage/work.ts";
import type { Consent } from "./authorize.ts";
import { authorizeInput, readsCode } from "./authorize-input.ts";
import {
  assertPermitted,
  auditRefusal,
  authorizeOperation,
  type RefusedOperation,
  type SessionOperation,
} from "./authorize-operation.ts";
import { ChangeFeed } from "./change-feed.ts";
import type { GatewayContext } from "./context.ts";
import { inspectAndDecide, withEnforcement } from "./decide.ts";
import { joinCall, sessionOfCall } from "./join-call.ts";
import { auditRemovals, type Maintenance } from "./maintenance.ts";
import { DEFAULT_LIMIT, findRemoteSession, listAllSessions, RemoteSession } from "./remote-sessions.ts";
import { currentSettings } from "./settings.ts";
import { type Preparation, prepare, type SubmitOptions, submit } from "./submit.ts";
import { waitForExit, waitTimes } from "./wait-for-exit.ts";

type ShellStartOptions = StartOptions & {
  foreground?: boolean;
  shell?: ShellForm;
  consent?: Consent;
  env?: Record<string, string>;
};

/** State shared by all views of a gateway. */
interface Life {
  closed: Promise<void> | null;
  tokens?: Tokens;
  signIns?: SignIns;
}

/**
 * A gateway for one agent in one workspace, returned by `openGateway`. Methods fail with `GatewayClosed` after `close`.
 *
 * @example
 * ```ts
 * const result = await gateway.run({ command: "echo hello" });
 * console.log(result.exitCode, result.output.trim()); // 0 hello
 *
 * const server = await gateway.start({ command: "sleep 60", name: "server" });
 * console.log(gateway.list({ live: true }).map(({ name }) => name)); // [ 'server' ]
 * await server.kill();
 *
 * console.log(gateway.check("rm -rf /").verdict); // blocked
 * ```
 */
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

  /** The path of the state folder. */
  get state(): string {
    return this.#context.state;
  }

  /** The approval requests and standing grants of the state folder. */
  get approvals(): Approvals {
    return this.#context.approvals;
  }

  /** The audit log of the state folder. */
  get audit(): AuditLog {
    this.#context.registry.flush();
    return this.#context.audit;
  }

  /** The work queue of the state folder. */
  get work(): WorkQueue {
    this.#context.registry.flush();
    return this.#context.work;
  }

  /** The changes to sessions and approvals in the state folder, made by any process. */
  get changes(): ChangeFeed {
    return new ChangeFeed(this.#context);
  }

  /** The tokens of HTTP and MCP clients. */
  get tokens(): Tokens {
    const { database } = this.#context;
    // Created on first use, because most gateways serve no clients.
    this.#life.tokens ??= new Tokens(database);
    return this.#life.tokens;
  }

  /** The sign-ins to the console. */
  get signIns(): SignIns {
    const { database } = this.#context;
    this.#life.signIns ??= new SignIns(database);
    return this.#life.signIns;
  }

  /** Whether each toolset is enabled. */
  get toolsets(): Readonly<Record<Toolset, boolean>> {
    return currentSettings(this.#context).settings.toolsets;
  }

  /** The configured default and maximum timeout of tools, in seconds. Null when not configured. */
  get timeouts(): { defaultSeconds: number | null; maxSeconds: number | null } {
    return currentSettings(this.#context).settings.timeouts;
  }

  /**
   * Runs a command in the foreground and resolves with its result, whatever the outcome. The default timeout is 60 s.
   * Processes that the command leaves running are ended. Rejects with `InvalidRequest` for an invalid request, and with
   * the reason of `options.signal` if it is aborted before the command starts.
   */
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
    // Awaited only when it is a promise: an extra turn of the event loop would measurably delay a short command.
    const result = told instanceof Promise ? await told : told;
    result.verdict = verdict;
    result.approvalId = approvalId;
    return result;
  }

  /**
   * Like `run`, but if the same call was made before and the command outlasted it, joins that command. `call`
   * identifies calls with the same arguments.
   *
   * @internal
   */
  async runOrJoin(
    call: string,
    request: RunRequest,
    options: RunOptions,
  ): Promise<{ result: RunResult; joined: boolean }> {
    const earlier = sessionOfCall(this.#context, call);
    if (earlier)
      return { result: await joinCall(this.#context, earlier, this.#session(earlier), options), joined: true };
    const result = await this.run(request, options);
    if (result.status === "running") this.#context.registry.store.setCall(result.id, call);
    return { result, joined: false };
  }

  /**
   * Lets the next identical call run the command again instead of returning the result of this session.
   *
   * @internal
   */
  forgetCall(session: string): void {
    this.#context.registry.store.setCall(session, null);
  }

  /**
   * Starts a command in the background and resolves with its session as soon as it has started, was refused, or failed
   * to start; check `info().status`. There is no timeout by default, and the command continues when this process exits.
   * With `foreground`, it has the timeout and lifetime of a foreground command. Rejects like `run`.
   */
  start(request: RunRequest, options: StartOptions & { foreground?: boolean } = {}): Promise<Session> {
    return this.startAs(request, options);
  }

  /**
   * Like `start`, for a program that acts as a shell.
   *
   * @internal
   */
  startAs(request: RunRequest, options: ShellStartOptions): Promise<Session> {
    return this.#start(request, options, {});
  }

  async #start(
    request: RunRequest,
    options: ShellStartOptions,
    more: Pick<SubmitOptions, "id" | "withoutApproval">,
  ): Promise<Session> {
    const { foreground = false, signal, approvalTimeoutMs, logFolder, shell, consent } = options;
    signal?.throwIfAborted();
    const submitOptions = { background: !foreground, signal, approvalTimeoutMs, logFolder, shell, consent, ...more };
    // An approval is bound to the environment in which it was requested (invariant 2).
    const context = options.env ? { ...this.#context, env: options.env } : this.#context;
    return this.#submit(context, request, submitOptions);
  }

  /**
   * Starts a command under the given ID, in the background unless `foreground` is set. If it requires an approval that
   * is not given, and no `approvalTimeoutMs` is set, rejects with `ApprovalRequired` and records nothing. Otherwise,
   * rejects like `start`.
   *
   * @internal
   */
  startAllowed(request: RunRequest, options: ShellStartOptions & { id: string }): Promise<Session> {
    return this.#start(request, options, {
      id: options.id,
      withoutApproval: options.approvalTimeoutMs === undefined && !options.consent,
    });
  }

  async #submit(context: GatewayContext, request: RunRequest, submitOptions: SubmitOptions): Promise<Session> {
    const { name, session, execution } = await submit(context, request, submitOptions);
    const release = execution?.hold();
    await execution?.started;
    release?.();
    return this.#session({ id: session.id, name });
  }

  /**
   * Decides on a request that another process will run. Refusals are recorded, and with `ask` approval is requested.
   *
   * @internal
   */
  prepare(request: RunRequest, { ask }: { ask: boolean }): Promise<Preparation> {
    return prepare(this.#context, request, ask);
  }

  /**
   * Returns the verdict of the policy on a command without running it. A string is shell text; an array is a program
   * and its arguments.
   */
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
    const verdict = inspectAndDecide(request, { cwd, env, path: env.PATH ?? "" }, as, who, sandbox);
    return withEnforcement(verdict, sandbox, settings.require);
  }

  /**
   * Returns the variables that a request may set, without the others. For callers that pass on a whole environment, in
   * which a variable that is not allowed is no mistake.
   *
   * @internal
   */
  allowedVariables(env: Readonly<Record<string, string>>): Record<string, string> {
    return allowedVariables(env, currentSettings(this.#context).settings.env);
  }

  /** Returns the verdict on a command under every combination of security and approval modes. */
  modes(command: string | string[], options: CheckOptions = {}): ModeVerdict[] {
    const pairs = SECURITY.flatMap((security) => ASK.map((ask) => ({ security, ask })));
    return pairs.map((modes) => ({ ...modes, verdict: this.#check(command, options, modes).verdict }));
  }

  /** The effective policy of the agent. */
  get policy(): PolicyInForce {
    const { rules, allowlist, safeBins, allowDenied, security, ask, sandbox } = currentSettings(this.#context).settings;
    const used = this.#context.allowlistUse;
    const entries = allowlist.map((entry) => ({ ...entry, lastUsed: used.lastUsed(entry.pattern) }));
    return { security, ask, sandbox, rules, allowlist: entries, safeBins, allowDenied };
  }

  /** Returns the agents that have sessions, most recently active first. */
  agents(): AgentInfo[] {
    const { registry, agent, ownOnly } = this.#context;
    return registry.store.agents().filter(({ name }) => !ownOnly || name === agent);
  }

  /** Returns a session by ID, unique prefix of an ID, or name. Throws `SessionNotFound` or `AmbiguousId`. */
  session(reference: string): Session {
    const { registry, agent, ownOnly } = this.#context;
    return this.#session(findSession(registry.store, reference, ownOnly ? agent : undefined));
  }

  /** Resolves with a session like `session`. In a fleet, also finds the sessions of other gateways. */
  async find(reference: string): Promise<Session> {
    try {
      return this.session(reference);
    } catch (error) {
      const { peers, session } = await findRemoteSession(this.#context, String(reference), error);
      const { executor } = this.#context;
      return this.#at(new RemoteSession(executor, peers, session), session, session.agent);
    }
  }

  /** Returns the agent's newest session whose main process has or had this process ID, or null. */
  sessionWithPid(pid: number): Session | null {
    const { registry, agent } = this.#context;
    const row = registry.store.withPid(agent, pid);
    return row ? this.#session(row) : null;
  }

  /**
   * Records an operation that was refused before it reached a session, such as a signal to a foreign process.
   *
   * @internal
   */
  auditRefusal(refused: RefusedOperation): void {
    auditRefusal(this.#context, refused);
  }

  /**
   * Returns a view of the gateway for a toolset: it finds only the agent's own sessions, uses these default permissions,
   * and names sessions by ID in errors.
   */
  scoped({ tiers: defaultPermissions = {}, approvalTimeoutMs, signal }: Scope = {}): Gateway {
    const context: GatewayContext = {
      ...this.#context,
      defaultPermissions,
      waitOptions: { approvalTimeoutMs, signal },
      ownOnly: true,
      sessionsById: true,
    };
    return new Gateway(context, this.#retention, this.#maintenance, this.#life);
  }

  /**
   * Returns a view of the gateway for one caller: an agent, which finds only its own sessions, or a person, who finds
   * all sessions.
   */
  acting({ agent = this.#context.agent, person, channel, approvalTimeoutMs, signal }: Acting): Gateway {
    const acting = agentName(agent);
    const actor = person ?? acting;
    const ownOnly = person === undefined;
    const context: GatewayContext = {
      ...this.#context,
      agent: acting,
      actor,
      channel,
      ownOnly,
      waitOptions: { approvalTimeoutMs, signal },
    };
    return new Gateway(context, this.#retention, this.#maintenance, this.#life);
  }

  /**
   * Resolves if an operation is permitted, after an approval where one is required. Rejects with `CommandDenied` or
   * `ApprovalPending`. Without a session, the operation applies to all sessions of the agent. The methods of a session
   * do this themselves.
   */
  async permit(operation: SessionOperation, session: { id: string; name: string } | null = null): Promise<void> {
    await authorizeOperation(this.#context, operation, session);
  }

  /** Returns the sessions of the state folder, newest first. */
  list(asked: ListQuery = {}): SessionInfo[] {
    const { registry } = this.#context;
    assertPermitted(this.#context, "list");
    registry.expireApprovals();
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

  /** Resolves with a page of sessions, newest first. In a fleet, includes the sessions of other gateways. */
  sessions(query: SessionsQuery = {}): Promise<SessionList> {
    return listAllSessions(this.#context, this, query);
  }

  /** Returns the number of sessions of the state folder that match. */
  count(query: ListQuery = {}): number {
    return this.#context.registry.store.count(this.#reach(query));
  }

  #reach(query: ListQuery): ListQuery {
    const { ownOnly, agent } = this.#context;
    if (ownOnly) return { ...query, agent };
    return query.agent === undefined ? query : { ...query, agent: agentFilter(query.agent) };
  }

  /**
   * Removes finished sessions that exceed the limits, which default to those of the gateway. `onProgress` is called
   * regularly with the number of sessions removed so far and the number to remove.
   */
  async clean(
    retention: Partial<Retention> = {},
    onProgress?: (done: number, total: number) => void,
  ): Promise<CleanReport> {
    const { registry, audit, actor, channel } = this.#context;
    const limits = { ...this.#retention(), ...retention };
    return clean(registry, limits, {
      onRemoved: (removals) => auditRemovals(audit, removals, { actor, channel }),
      onProgress,
    });
  }

  #session(row: { id: string; name: string }): Session {
    return this.#at(new LocalSessions(this.#context.registry), row);
  }

  #at(records: SessionRecords, session: { id: string; name: string }, of?: string): Session {
    const { audit, agent, actor, channel, sessionsById } = this.#context;
    let owner = of;
    return new Session(records, session, {
      label: sessionsById ? session.id : session.name,
      // The entry names the agent that owns the session, which may differ from the acting one. It is cached because
      // every key press adds an entry.
      audit: (entry) => {
        owner ??= records.located(session.id)?.agent;
        audit.append({ agent: owner ?? agent, actor, channel, ...entry });
      },
      authorize: (operation, session, detail) => authorizeOperation(this.#context, operation, session, detail),
      authorizeInput: (session, input) => authorizeInput(this.#context, session, input),
      readsCode: (session) => readsCode(this.#context, session),
    });
  }

  /**
   * Closes the gateway and all of its views. Commands continue to run; pending `run` calls resolve with the status
   * `running`. Closing it again has no effect.
   */
  close(): Promise<void> {
    this.#life.closed ??= this.#letGo();
    return this.#life.closed;
  }

  async #letGo(): Promise<void> {
    await this.#maintenance.stop();
    await this.#opened.executor.close();
    this.#opened.registry.close();
    this.#opened.restarts.closed();
    this.#opened.database.close();
    restoreReserve(this.#opened.state);
  }
}
