/** The network connection between a member and its servers, which can be interrupted and slowed down. */
import { execFileSync } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { IS_ROOT } from "../../../fixtures/as-user.ts";

export interface Line {
  /** The server URLs that the member uses. */
  readonly urls: string[];
  /** Prefix of the member's command line. */
  readonly within: string[];
  /** Drops all traffic without closing connections, like an unplugged cable. */
  cut(): void;
  heal(): void;
  slow(): void;
  close(): Promise<void>;
}

/** The delay of each chunk on a slow connection. */
const DELAY_MS = 150;

/** A TCP proxy in this process, which requires no privileges. Data in transit during a cut arrives after `heal`. */
export class ProxyLine implements Line {
  readonly within: string[] = [];
  readonly urls: string[] = [];
  readonly #proxies: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #cut = false;
  #delayMs = 0;

  static async to(upstreams: readonly string[]): Promise<ProxyLine> {
    const line = new ProxyLine();
    for (const upstream of upstreams) await line.#open(new URL(upstream));
    return line;
  }

  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#cut = false;
    this.#delayMs = 0;
    for (const socket of this.#sockets) socket.resume();
  }

  slow(): void {
    this.#delayMs = DELAY_MS;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#proxies.map((proxy) => new Promise((resolve) => proxy.close(resolve))));
  }

  #open({ protocol, hostname, port }: URL): Promise<void> {
    const proxy = createServer((near) => {
      // While the line is cut, a new connection is accepted but transfers no data.
      const far = dial({ host: hostname, port: Number(port) });
      this.#join(near, far);
      this.#join(far, near);
    });
    this.#proxies.push(proxy);
    return new Promise((resolve) =>
      proxy.listen(0, "127.0.0.1", () => {
        this.urls.push(`${protocol}//127.0.0.1:${(proxy.address() as AddressInfo).port}`);
        resolve();
      }),
    );
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    if (this.#cut) from.pause();
    from.on("data", (chunk) => {
      if (this.#delayMs === 0) to.write(chunk);
      else setTimeout(() => to.write(chunk), this.#delayMs);
    });
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.on("error", () => from.destroy());
  }
}

/** Returns the reason why network namespaces are unavailable, or false. */
export function noNamespaces(): string | false {
  if (!IS_ROOT) return "network namespaces require root";
  try {
    ip("netns", "add", "sp-probe");
    ip("netns", "del", "sp-probe");
    return false;
  } catch {
    return "this machine has no network namespaces";
  }
}

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: "pipe" });
}

/** A bridge that connects all namespaces. The servers listen on its address. */
export class Bridge {
  readonly address: string;
  readonly #name: string;
  #next = 2;

  constructor(tag: string, subnet: number) {
    this.#name = `spb${tag}`;
    this.address = `10.213.${subnet}.1`;
    ip("link", "add", this.#name, "type", "bridge");
    ip("addr", "add", `${this.address}/24`, "dev", this.#name);
    ip("link", "set", this.#name, "up");
  }

  line(urls: string[]): NamespaceLine {
    const host = this.#next++;
    return new NamespaceLine(urls, `${this.#name}${host}`, this.#name, this.address.replace(/1$/, String(host)));
  }

  close(): void {
    ip("link", "del", this.#name);
  }
}

/** A separate network namespace. The kernel drops packets while its link is down. */
export class NamespaceLine implements Line {
  readonly urls: string[];
  readonly within: string[];
  readonly #name: string;

  constructor(urls: string[], name: string, bridge: string, address: string) {
    this.urls = urls;
    this.#name = name;
    this.within = ["ip", "netns", "exec", name];
    ip("netns", "add", name);
    ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("link", "set", name, "master", bridge, "up");
    ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
    ip("-n", name, "link", "set", "eth0", "up");
    ip("-n", name, "link", "set", "lo", "up");
  }

  cut(): void {
    ip("link", "set", this.#name, "down");
  }

  heal(): void {
    ip("link", "set", this.#name, "up");
    this.#shape("del");
  }

  slow(): void {
    this.#shape("add");
  }

  async close(): Promise<void> {
    ip("netns", "del", this.#name);
  }

  /** Adds latency, or limits the bandwidth if the kernel has no netem. */
  #shape(action: "add" | "del"): void {
    const ways = [
      ["netem", "delay", `${DELAY_MS}ms`, "20ms"],
      ["tbf", "rate", "256kbit", "burst", "16kbit", "latency", "2s"],
    ];
    for (const way of action === "add" ? ways : [[]]) {
      try {
        execFileSync("tc", ["qdisc", action, "dev", this.#name, "root", ...way], { stdio: "pipe" });
        return;
      } catch {
        // The kernel lacks this queueing discipline, or none is installed.
      }
    }
  }
}
