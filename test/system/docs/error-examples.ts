/** One or more examples of every error type, each provoked through the code that throws it. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { ErrorType, Recovery, SallyportError } from "../../../src/core/error.ts";
import { newId } from "../../../src/core/id.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import { openConnection } from "../../../src/fleet/connection.ts";
import { TrustedKeys } from "../../../src/fleet/keys.ts";
import { Nodes } from "../../../src/fleet/nodes.ts";
import { FleetRegistry } from "../../../src/fleet/registry.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import type { HttpErrorType } from "../../../src/http/errors.ts";
import { tools } from "../../../src/index.ts";
import { TestFleet } from "../../fixtures/fleet.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { OtherGateway } from "../../fixtures/other-gateway.ts";
import { allProcesses, killAndWait, send } from "../../fixtures/processes.ts";
import { ENTRY } from "../../fixtures/sallyport.ts";
import { TestService } from "../../fixtures/service.ts";
import { until } from "../../fixtures/until.ts";

/** An error as every surface shows it. */
export interface Failure {
  type: string;
  message: string;
  recovery: readonly Recovery[];
}

export type Example = () => Promise<Failure>;

const fixture = new GatewayFixture();
/** The default gateway: no quotas, no sandbox, and every command that requires approval is approved. */
let opened: Promise<Gateway> | null = null;
let fleetStarted: Promise<TestFleet> | null = null;
let serviceStarted: Promise<TestService> | null = null;

function gateway(): Promise<Gateway> {
  opened ??= fixture.open();
  return opened;
}

function fleet(): Promise<TestFleet> {
  fleetStarted ??= startFleet();
  return fleetStarted;
}

/** Starts a fleet whose only worker, `build-1`, trusts no gateway. */
async function startFleet(): Promise<TestFleet> {
  const started = await TestFleet.start();
  await started.worker("build-1", {}, started.fixture({ trusting: false }));
  return started;
}

function service(): Promise<TestService> {
  serviceStarted ??= TestService.start();
  return serviceStarted;
}

export async function closeExamples(): Promise<void> {
  await (await serviceStarted)?.close();
  await (await fleetStarted)?.close();
  await fixture.close();
}

/** Returns the error that `work` throws. */
async function thrown(work: () => unknown): Promise<Failure> {
  try {
    await work();
  } catch (error) {
    return error as SallyportError;
  }
  return assert.fail("no error was thrown");
}

/** Runs a command and returns the error in its result. */
async function failed(request: RunRequest, options?: GatewayOptions): Promise<Failure> {
  const runner = options ? await fixture.open(options) : await gateway();
  const { error } = await runner.run(request, { approvalTimeoutMs: 0 });
  if (options) await runner.close();
  return error ?? assert.fail("the command was started");
}

/** Runs a command that requires approval, and returns its approval request. */
async function pendingApproval(command: string, options: GatewayOptions = {}) {
  const runner = await fixture.open({ approve: async () => null, ...options });
  const { approvalId, error } = await runner.run({ command, ask: "always" }, { approvalTimeoutMs: 0 });
  return { gateway: runner, id: approvalId ?? assert.fail("no approval was requested"), error };
}

const ANN = { who: "ann", channel: "cli" } as const;

function write(name: string, text: string, mode = 0o644): void {
  writeFileSync(fixture.path(name), text, { mode });
}

function killKeeperOf({ id }: { id: string }): void {
  const keeper = allProcesses().find(({ title }) => title.startsWith(`keeper: ${id}`));
  send(keeper?.pid ?? assert.fail(`session ${id} has no keeper`), "SIGKILL");
}

/** The error types that only a fleet with a NATS server can produce. */
type FleetType = "StatementRefused" | "FleetVersion" | "HostSilent" | "NoWorker" | "NodeNotFound" | "OtherGateway";

const LOCAL: Record<Exclude<ErrorType, FleetType>, Example[]> = {
  InvalidRequest: [
    () => failed({ command: "sleep", timeoutMs: -1 }).catch((error) => error),
    () => failed({ command: "make", tiemoutMs: 60_000 } as RunRequest).catch((error) => error),
  ],
  CommandBlocked: [() => failed({ command: "rm -rf /" })],
  CommandDenied: [
    async () => {
      const deny = { prefix: ["terraform", "apply"], decision: "deny" as const, message: "Deploy from CI only." };
      return failed({ command: "terraform apply" }, { policy: { sandbox: "off", rules: [deny] } });
    },
    async () => {
      const approve = async () => ({ decision: "deny" as const, who: "ann", reason: "not on a Friday" });
      const runner = await fixture.open({ approve });
      const { error } = await runner.run({ command: "git push", ask: "always" });
      return error ?? assert.fail("the command was started");
    },
  ],
  ApprovalPending: [async () => (await pendingApproval("git push")).error ?? assert.fail()],
  CommandNotFound: [
    () => {
      write("build.sh", "#!/bin/bash\nmake\n", 0o755);
      return failed({ command: "./biuld.sh", args: [] });
    },
  ],
  PermissionDenied: [
    () => {
      write("deploy.sh", "#!/bin/bash\necho done\n");
      return failed({ command: "./deploy.sh", args: [] });
    },
  ],
  SpawnFailed: [
    () => {
      write("tool", `\x7fELF${"\x01".repeat(60)}`, 0o755);
      return failed({ command: "./tool" });
    },
  ],
  PathOutOfScope: [() => failed({ command: "ls", cwd: "/etc" }, { policy: { sandbox: "off", scope: "workspace" } })],
  WorkdirNotFound: [() => failed({ command: "make", cwd: "backend" })],
  ArgumentsTooLong: [() => failed({ command: "echo", args: ["x".repeat(140_000)] })],
  ResourceLimitExceeded: [
    async () => {
      const one = await fixture.open({ policy: { sandbox: "off", limits: { sessions: 1 } } });
      const session = await one.start({ command: "sleep 600" });
      const { error } = await one.run({ command: "make" });
      await session.kill({ graceMs: 0 });
      return error ?? assert.fail("the command was started");
    },
    () => {
      const policy = { sandbox: "off" as const, limits: { fileSize: 1 << 20 } };
      return failed({ command: "head -c 3000000 /dev/zero > archive.tar" }, { policy });
    },
  ],
  InputRequired: [() => failed({ command: "vim", args: ["notes.txt"] })],
  MaskBroken: [
    async () => {
      const one = await fixture.open({ policy: { sandbox: "workspace-write" } });
      write(".mcp.json", "{}");
      const session = await one.start({ command: "echo up; sleep 600" });
      await until("the command runs", async () => (await session.logs()).text.includes("up"));
      rmSync(fixture.path(".mcp.json"));
      write(".mcp.json", "{}");
      const { error } = await session.wait();
      return error ?? assert.fail("the command was not killed");
    },
  ],
  SandboxUnavailable: [
    async () => {
      const options = { policy: { sandbox: "workspace-write" as const } };
      const other = await OtherGateway.open(fixture, { options, env: { SALLYPORT_EXECUTOR: "portable" } });
      const { error } = await other.ask<{ error: Failure }>({ call: "run", request: { command: "make" } });
      await other.close();
      return error;
    },
  ],
  SessionNotFound: [async () => thrown(async () => (await gateway()).session("build"))],
  SessionLost: [
    async () => {
      const session = await (await gateway()).start({ command: "sleep 600", name: "lost" });
      killKeeperOf(session);
      return (await session.wait()).error ?? assert.fail("the session was not lost");
    },
  ],
  AmbiguousId: [
    async () => {
      const [first, second] = [
        await (await gateway()).run({ command: "true" }),
        await (await gateway()).run({ command: "true" }),
      ];
      let common = 0;
      while (first.id[common] === second.id[common]) common++;
      return thrown(async () => (await gateway()).session(first.id.slice(0, common)));
    },
  ],
  NameInUse: [
    async () => {
      await (await gateway()).run({ command: "true", name: "web" });
      return thrown(async () => (await gateway()).run({ command: "true", name: "web" }));
    },
  ],
  AlreadyExited: [
    async () => {
      const session = await (await gateway()).start({ command: "true", name: "tests" });
      await session.wait();
      return thrown(() => session.kill());
    },
  ],
  StillRunning: [
    async () => {
      const session = await (await gateway()).start({ command: "sleep 600", name: "server" });
      const error = await thrown(() => session.remove());
      await session.kill({ graceMs: 0 });
      return error;
    },
  ],
  StdinClosed: [
    async () => {
      const session = await (await gateway()).start({ command: "sleep 600", name: "watcher" });
      const error = await thrown(() => session.write("q"));
      await session.kill({ graceMs: 0 });
      return error;
    },
  ],
  NotOnTerminal: [
    async () => {
      const session = await (await gateway()).start({ command: "sleep 600", name: "pipes" });
      const error = await thrown(() => session.screen());
      await session.kill({ graceMs: 0 });
      return error;
    },
  ],
  KillFailed: [
    async () => {
      const session = await (await gateway()).start({ command: "sleep 600", name: "stuck" });
      const other = await fixture.open({ attach: false });
      rmSync(`${fixture.sessionFolder(session.id)}/ctl`);
      const kill = tools(other, "process").find(({ name }) => name === "process.kill");
      const answer = await kill?.call({ process_id: session.id });
      await session.kill({ graceMs: 0 });
      await other.close();
      return (answer?.structured as { error: Failure } | undefined)?.error ?? assert.fail("the signal was delivered");
    },
  ],
  KeeperUnavailable: [
    async () => {
      const other = await OtherGateway.open(fixture, { env: { SALLYPORT_KEEPER: "/no/such/keeper" } });
      const error = await thrown(() => other.ask({ call: "run", request: { command: "make" } }));
      await other.close();
      return error;
    },
  ],
  StateUnusable: [
    async () => {
      write("notes.txt", "");
      return thrown(() => fixture.open({ state: fixture.path("notes.txt") }));
    },
  ],
  GatewayClosed: [
    async () => {
      const closed = await fixture.open();
      await closed.close();
      return thrown(() => closed.run({ command: "make" }));
    },
  ],
  WorkNotFound: [async () => thrown(async () => (await gateway()).work.ack(9999, "no lease"))],
  LeaseLost: [
    async () => {
      const { work } = await fixture.open({ state: join(fixture.folder, "queue") });
      work.enqueue({ key: "example", type: "EXAMPLE", priority: "HIGH", payload: {} });
      const claimed = work.claim({ worker: "w1", types: ["EXAMPLE"] }) ?? assert.fail("nothing to claim");
      work.ack(claimed.id, claimed.lease);
      return thrown(() => work.ack(claimed.id, "an earlier lease"));
    },
  ],
  ApprovalNotFound: [async () => thrown(async () => (await gateway()).approvals.get("0192aa00"))],
  AlreadyDecided: [
    async () => {
      const { gateway, id } = await pendingApproval("git push origin main");
      gateway.approvals.decide(id, { decision: "deny", ...ANN });
      return thrown(() => gateway.approvals.decide(id, { decision: "once", who: "bob", channel: "cli" }));
    },
  ],
  NotAnApprover: [
    async () => {
      const quorum = { rule: "any" as const, approvers: ["ann", "bob"] };
      const policy = { sandbox: "off" as const, approvals: { quorum } };
      const { gateway, id } = await pendingApproval("git push origin next", { policy });
      return thrown(() => gateway.approvals.decide(id, { decision: "once", who: "eve", channel: "cli" }));
    },
  ],
  SelfApproval: [
    async () => {
      const { id } = await pendingApproval("git push --tags");
      write("approve.sh", `${process.execPath} ${ENTRY} approve ${id} --state ${fixture.state} --json`);
      const { stderr } = await (await gateway()).run({ command: "bash approve.sh" });
      return (JSON.parse(stderr) as { error: Failure }).error;
    },
  ],
  NotGrantable: [
    async () => {
      const { gateway, id } = await pendingApproval("make");
      return thrown(() => gateway.approvals.decide(id, { decision: "always", ...ANN }));
    },
  ],
  GrantNotFound: [async () => thrown(async () => (await gateway()).approvals.grants.revoke("0192aa00", ANN))],
  TokenNotFound: [async () => thrown(async () => (await gateway()).tokens.revoke("ci"))],
  TrustNotFound: [() => thrown(() => new TrustedKeys(fixture.state).remove("office"))],
  FleetUnreachable: [
    async () => {
      const member = await fixture.open({ fleet: { servers: "nats://127.0.0.1:1" } });
      return thrown(() => member.run({ command: "make" }));
    },
  ],
  InvalidConfiguration: [
    () => {
      write("operator.json", '{\n  "sandbox": "of"\n}\n');
      return thrown(() => fixture.open({ configuration: fixture.path("operator.json") }));
    },
  ],
};

const FLEET: Record<FleetType, Example[]> = {
  StatementRefused: [
    async () => {
      const gateway = await (await fleet()).open();
      const { error } = await gateway.run({ command: 'eval "$(cat script)"', host: "build-1" });
      return error ?? assert.fail("the command was started");
    },
  ],
  FleetVersion: [
    async () => {
      const link = await openConnection({ servers: (await fleet()).servers, as: "newer" }, "gateway");
      const id = newId();
      const job = { version: 99, id, attempt: 1, agent: "default", to: { gateway: "newer", process: "p" } };
      await link.js.publish(link.subjects.work("any", "default"), JSON.stringify(job), { msgID: id });
      const registry = new FleetRegistry(link.sessions);
      const entry = async () => (await registry.read("default", id))?.entry;
      await until("the worker responds", async () => (await entry())?.state === "ended");
      const error = (await entry())?.account?.error;
      await link.nc.close();
      return error ?? assert.fail("the worker accepted the job");
    },
  ],
  HostSilent: [
    async () => {
      const { child } = await (await fleet()).workerProcess("build-2");
      const gateway = await (await fleet()).open();
      const session = await gateway.start({ command: "echo done", host: "build-2" });
      await session.wait();
      await killAndWait(child);
      return thrown(() => session.logs());
    },
  ],
  NoWorker: [
    async () => {
      const gateway = await (await fleet()).open();
      const { error } = await gateway.run({ command: "nvidia-smi", labels: { gpu: "a100" } });
      return error ?? assert.fail("the command was started");
    },
  ],
  NodeNotFound: [
    async () => {
      const link = await openConnection({ servers: (await fleet()).servers, as: "operator" }, "gateway");
      const error = await thrown(() => new Nodes(link).drain("build-9"));
      await link.nc.close();
      return error;
    },
  ],
  OtherGateway: [
    async () => {
      const office = await (await fleet()).open();
      const session = await office.start({ command: "sleep 600", name: "far", host: "build-1" });
      const branch = await fixture.open({ fleet: { servers: (await fleet()).servers, as: "branch" } });
      await until("the session is listed", async () => (await branch.sessions({ others: true })).sessions.length > 0);
      const error = await thrown(async () => (await branch.find("far")).remove({ force: true }));
      await session.kill({ graceMs: 0 });
      await branch.close();
      return error;
    },
  ],
};

export const EXAMPLES: Record<ErrorType, Example[]> = { ...LOCAL, ...FLEET };

export function needsNats(type: ErrorType): boolean {
  return Object.hasOwn(FLEET, type);
}

/** Sends a request to the service with the token of a role, and returns the error in the response. */
async function answered(...args: Parameters<TestService["json"]>): Promise<Failure> {
  return (await (await service()).json<{ error: Failure }>(...args)).error;
}

/** Sends a GET request with headers that `fetch` does not allow, and returns the error in the response. */
async function answeredTo(headers: Record<string, string>): Promise<Failure> {
  const { url } = await service();
  const response = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
    request(`${url}/v1/sessions`, { headers }, resolve).on("error", reject).end();
  });
  return ((await json(response)) as { error: Failure }).error;
}

/** The types that only the HTTP service uses. The list is empty where the error is expensive to provoke. */
export const HTTP_EXAMPLES: Record<Exclude<HttpErrorType, ErrorType>, Example[]> = {
  NotSignedIn: [() => answered(null, "/v1/sessions")],
  NotPermitted: [() => answered("viewer", "/v1/sessions", { body: { command: "make" } })],
  WrongHost: [() => answeredTo({ host: "sallyport.example.com" })],
  WrongOrigin: [() => answeredTo({ origin: "https://example.com" })],
  TooManyAttempts: [
    async () => {
      const guess = () => answered(null, "/v1/sign-in", { body: { secret: "a guess" } });
      let error = await guess();
      for (let attempt = 0; attempt < 40 && error.type === "NotSignedIn"; attempt++) error = await guess();
      return error;
    },
  ],
  TooManyStreams: [],
  TooManyBodies: [],
  TooLarge: [() => answered(null, "/v1/sign-in", { body: { secret: "x".repeat(8192) } })],
  NotFound: [() => answered("operator", "/v1/session")],
  MethodNotAllowed: [() => answered("operator", "/v1/sessions", { method: "PUT" })],
  UnsupportedMediaType: [
    () => answered("operator", "/v1/sessions", { method: "POST", headers: { "content-type": "text/plain" } }),
  ],
  NotReady: [],
  InternalError: [],
};
