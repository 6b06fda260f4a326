/**
 * A cluster of three NATS servers, and workers and gateways that use it, each in its own process. Each worker and
 * gateway has its own network connection to the servers.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IS_ROOT } from "../../../fixtures/as-user.ts";
import { MARK } from "../../../fixtures/gateway.ts";
import { ENTRY } from "../../../fixtures/installed.ts";
import { NatsCluster } from "../../../fixtures/nats.ts";
import { withVariable, zygotesOf } from "../../../fixtures/processes.ts";
import { until } from "../../../fixtures/until.ts";
import { Bridge, type Line, noNamespaces, ProxyLine } from "./line.ts";
import { Member } from "./member.ts";

const GATEWAY = fileURLToPath(new URL("gateway-process.ts", import.meta.url));
/** Allows every command: the test is about delivery, not policy. */
const POLICY = { scope: "anywhere", sandbox: "off", limits: { sessions: 10_000, startsPerMinute: 1_000_000 } } as const;

export interface FixtureOptions {
  workers: number;
  gateways: number;
  slots: number;
  /** Connects members through network namespaces where available. */
  namespaces: boolean;
  /** Sessions that no worker claims within this time are abandoned. */
  claimWithinMs: number;
}

export class ChaosFixture {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-chaos-"));
  readonly workers: Member[] = [];
  readonly gateways: Member[] = [];
  /** Workers that were lost permanently. */
  readonly lost: Member[] = [];
  readonly isolated: boolean;
  readonly #options: FixtureOptions;
  readonly #bridge: Bridge | null;
  #cluster: NatsCluster | null = null;

  constructor(options: FixtureOptions) {
    this.#options = options;
    this.isolated = options.namespaces && noNamespaces() === false;
    const subnet = 1 + (process.pid % 250);
    this.#bridge = this.isolated && IS_ROOT ? new Bridge(String(subnet), subnet) : null;
  }

  get cluster(): NatsCluster {
    if (!this.#cluster) throw new Error("the fixture is not open");
    return this.#cluster;
  }

  async open(): Promise<void> {
    const address = this.#bridge ? { address: this.#bridge.address } : {};
    // Members must use their own connection, not addresses that a server advertises.
    this.#cluster = await NatsCluster.start(3, () => ({ ...address, advertise: false }));
    const { workers, gateways } = this.#options;
    for (let index = 1; index <= workers; index++) await this.addWorker(`w${index}`);
    for (let index = 1; index <= gateways; index++) this.gateways.push(await this.#gateway(`g${index}`));
    for (const worker of this.workers) await worker.started();
    for (const gateway of this.gateways) gateway.start();
    for (const gateway of this.gateways) await gateway.started();
  }

  stateOf(name: string): string {
    return join(this.folder, name, "state");
  }

  workspacesOf(name: string): string {
    return join(this.folder, name, "workspaces");
  }

  /** Returns all running processes of a member: itself, its keepers and its commands. */
  processesOf(name: string): number[] {
    return withVariable(MARK, `${this.folder}/${name}`);
  }

  async addWorker(name: string): Promise<Member> {
    const worker = await this.#worker(name);
    this.workers.push(worker);
    worker.start();
    return worker;
  }

  /** Kills a worker permanently, together with everything that runs on it. */
  async lose(worker: Member): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1);
    this.lost.push(worker);
    await worker.kill();
    for (const zygote of zygotesOf(this.stateOf(worker.name))) process.kill(zygote, "SIGKILL");
    await until("no process of the worker is left", () => {
      const left = this.processesOf(worker.name);
      for (const pid of left) killed(pid);
      return left.length === 0;
    });
  }

  async #worker(name: string): Promise<Member> {
    const config = join(this.folder, name, "config", "sallyport");
    mkdirSync(this.workspacesOf(name), { recursive: true });
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "sallyport.json"), JSON.stringify(POLICY));
    const options = [
      "--workspaces",
      this.workspacesOf(name),
      "--slots",
      String(this.#options.slots),
      "--as",
      name,
      "--ship-logs",
    ];
    return new Member({
      name,
      line: await this.#line(),
      argv: (urls) => [process.execPath, ENTRY, "worker", "--fleet", oneUrl(urls), ...options],
      env: this.#env(name),
    });
  }

  async #gateway(name: string): Promise<Member> {
    const workspace = join(this.folder, "shop");
    mkdirSync(workspace, { recursive: true });
    const line = await this.#line();
    // Commands share no files, so they may run on any worker (`sticky: false`).
    const { claimWithinMs } = this.#options;
    const fleet = { servers: line.urls, as: name, workspace: "shop", sticky: false, claimWithinMs };
    const options = { state: this.stateOf(name), workspace, configuration: null, policy: POLICY, fleet };
    mkdirSync(join(this.folder, name), { recursive: true });
    const env = { ...this.#env(name), GATEWAY_OPTIONS: JSON.stringify(options) };
    return new Member({ name, line, argv: () => [process.execPath, GATEWAY], env });
  }

  #line(): Promise<Line> {
    const { urls } = this.cluster;
    return this.#bridge ? Promise.resolve(this.#bridge.line(urls)) : ProxyLine.to(urls);
  }

  #env(name: string): NodeJS.ProcessEnv {
    return {
      ...process.env,
      [MARK]: `${this.folder}/${name}`,
      SALLYPORT_STATE: this.stateOf(name),
      XDG_CONFIG_HOME: join(this.folder, name, "config"),
    };
  }

  async close(): Promise<void> {
    const members = [...this.gateways, ...this.workers, ...this.lost];
    for (const { line } of members) line.heal();
    await Promise.all(members.map((member) => member.stop()));
    const names = new Set(members.map(({ name }) => name));
    for (const name of names) for (const zygote of zygotesOf(this.stateOf(name))) killed(zygote);
    for (const name of names) for (const pid of this.processesOf(name)) killed(pid);
    await Promise.all(members.map(({ line }) => line.close()));
    await this.#cluster?.close();
    this.#bridge?.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function oneUrl(urls: string[]): string {
  return `nats://${urls.map((url) => new URL(url).host).join(",")}`;
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // already exited
  }
}
