/**
 * Runs the examples on the pages docs/toolset-NAME-examples.md against a server over MCP and compares the answers with
 * the page. With UPDATE_EXAMPLES=1, writes the answers to the page instead.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { TOOLSETS } from "../../../src/core/settings.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import { type Connected, McpFixture } from "../../fixtures/mcp.ts";
import { missing } from "../../fixtures/on-path.ts";
import { until } from "../../fixtures/until.ts";
import { visibleFolder } from "../../fixtures/visible-folder.ts";
import { type Example, type ExampleStep, examplesOf, withAnswers } from "./example-pages.ts";
import { Forms } from "./example-text.ts";
import { ROOT } from "./pages.ts";

const UPDATE = process.env.UPDATE_EXAMPLES === "1";
const PROGRAMS = ["git", "make", "python3", "vim", "less", "curl"];
const FEWEST = 30;
/** How long the client of an example waits that shows a command which takes longer. */
const IMPATIENT = "2s";
/** On a busy machine, the time that a command takes can change an answer. A changed text differs in every run. */
const RUNS = 3;
const LONGEST_MS = 240_000;

const CONFIG = {
  scope: "workspace",
  toolsets: { exec: true },
  // Each call of `exec` would require approval.
  permissions: { run: "autonomous", write: "autonomous", kill: "autonomous" },
  rules: [
    { prefix: ["make", "deploy"], decision: "ask", message: "A person approves each deployment." },
    { prefix: ["terraform", "apply"], decision: "deny", message: "Infrastructure is changed by the pipeline." },
  ],
  limits: { sessions: 10_000, startsPerMinute: 1_000_000, memoryBytes: 512 << 20, processes: 200, fileSize: 64 << 20 },
};

/** A server on a Unix socket: a TCP port may be in use on this machine. */
const SERVER = `import http.server, socketserver

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, flush=True)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"healthy\\n")

    def log_message(self, *_):
        pass

print("listening on app.sock", flush=True)
socketserver.UnixStreamServer("app.sock", Handler).serve_forever()
`;

const MAKEFILE = `build:
\t@echo built

test:
\t@echo 'test_login FAILED: expected 200, got 500' >&2; exit 1

deploy:
\t@echo deployed
`;

/** A server whose home directory is not that of this machine's user, and has a key that commands must not read. */
class HomeFixture extends McpFixture {
  readonly home = visibleFolder("sallyport-home-");

  override get env(): Record<string, string> {
    return { ...super.env, HOME: this.home };
  }

  override async close(): Promise<void> {
    await super.close();
    rmSync(this.home, { recursive: true });
  }
}

/** The server of one page, with a person who decides about its requests. */
class Scene {
  readonly #fixture = new HomeFixture(CONFIG);
  readonly workspace = this.#fixture.fixture.workspace;
  readonly #toolset: string;
  #patient: Connected | null = null;
  #impatient: Connected | null = null;
  #current: Connected | null = null;
  #gateway: Gateway | null = null;

  constructor(toolset: string) {
    this.#toolset = toolset;
    mkdirSync(join(this.#fixture.home, ".ssh"));
    writeFileSync(join(this.#fixture.home, ".ssh/id_ed25519"), "secret\n");
    writeFileSync(join(this.workspace, "server.py"), SERVER);
    writeFileSync(join(this.workspace, "Makefile"), MAKEFILE);
  }

  async open(): Promise<void> {
    this.#patient = await this.#fixture.stdio(["--tools", this.#toolset]);
    this.#gateway = await this.#fixture.fixture.open();
  }

  /** Starts an example: its client waits as long as it does by default. */
  async begin(): Promise<void> {
    this.#current = this.#patient;
    await this.#impatient?.close();
    this.#impatient = null;
  }

  async close(): Promise<void> {
    await this.#patient?.close();
    await this.#impatient?.close();
    const live = this.#gateway?.list({ live: true }) ?? [];
    // A session may end before the signal.
    for (const { id } of live)
      await this.#gateway
        ?.session(id)
        .kill({ graceMs: 0 })
        .catch(() => {});
    await this.#fixture.close();
  }

  forms(): Forms {
    return new Forms([
      [realpathSync(this.workspace), "/home/ann/app"],
      [this.#fixture.home, "/home/ann"],
    ]);
  }

  async call(name: string, args: Record<string, unknown>): Promise<string> {
    const { content } = (await this.#current?.client.callTool({ name, arguments: args })) ?? {};
    const [first] = content as { text: string }[];
    return first?.text ?? "";
  }

  /** Makes an event happen that a page describes between two calls, and returns what the page shows of it. */
  async happen(event: string, forms: Forms): Promise<string> {
    const [, reason] = /^A person denies the request: (.*)$/.exec(event) ?? [];
    const [, setting, value] = /^The operator sets `(\w+)` to `(.*)`\.$/.exec(event) ?? [];
    if (reason !== undefined) this.#decide({ decision: "deny", reason });
    else if (event === "A person approves the request.") this.#decide({ decision: "once" });
    else if (event === "A person approves the request, now and in the future.") this.#decide({ decision: "always" });
    else if (event === "The request expires.") this.#expire();
    else if (event === `The client waits for ${IMPATIENT}.`) await this.#hurry();
    else if (event === "The work queue receives an item.") return this.#workItem(forms);
    else if (setting !== undefined && value !== undefined) await this.#configure({ [setting]: JSON.parse(value) });
    else assert.fail(`unknown event: ${event}`);
    return "";
  }

  async #hurry(): Promise<void> {
    this.#impatient ??= await this.#fixture.stdio(["--tools", this.#toolset, "--answer-within", IMPATIENT]);
    this.#current = this.#impatient;
  }

  /** Returns the payload of the item about a session of this example. */
  async #workItem(forms: Forms): Promise<string> {
    let payload: Record<string, unknown> = {};
    await until("the work queue has an item", () => {
      const item = this.#gateway?.work.claim({ worker: "page" });
      if (!item) return false;
      this.#gateway?.work.ack(item.id, item.lease);
      payload = item.payload as Record<string, unknown>;
      return forms.hasShown(String(payload.session_id));
    });
    return JSON.stringify(payload);
  }

  #decide(decision: { decision: "once" | "always" | "deny"; reason?: string }): void {
    const [request] = this.#gateway?.approvals.list({ status: "pending" }) ?? [];
    assert.ok(request, "no request is pending");
    this.#gateway?.approvals.decide(request.id, { ...decision, who: "ann", channel: "cli" });
  }

  #expire(): void {
    const database = new DatabaseSync(join(this.#fixture.fixture.state, "sallyport.db"));
    database.prepare("UPDATE approvals SET expires_ms = ? WHERE status = 'pending'").run(Date.now() - 1000);
    database.close();
  }

  /** Changes the operator's settings, and waits until the server uses them. */
  async #configure(settings: object): Promise<void> {
    const loaded = () => this.#gateway?.audit.search({ kind: "config" }).length ?? 0;
    const before = loaded();
    this.#fixture.configure({ ...CONFIG, ...settings });
    await until("the server uses the new settings", () => loaded() > before);
  }
}

async function answer(scene: Scene, forms: Forms, { call, event }: ExampleStep): Promise<string> {
  if (event !== null) return forms.show(await scene.happen(event, forms));
  if (call === null) return "";
  const args = JSON.parse(forms.actual(call.args)) as Record<string, unknown>;
  return forms.show(await scene.call(call.tool, args));
}

/** Runs the examples of a page, notes their answers, and returns the differences from the page. */
/** Returns the answers that differ from the page, by example. */
async function differencesOf(toolset: string, examples: readonly Example[]): Promise<Map<string, string>> {
  const scene = new Scene(toolset);
  const differences = new Map<string, string>();
  try {
    await scene.open();
    for (const { heading, line, steps } of examples) {
      const forms = scene.forms();
      await scene.begin();
      for (const step of steps) {
        step.actual = await answer(scene, forms, step);
        if (step.actual === step.answer) continue;
        const example = `${heading} (line ${line})`;
        differences.set(example, `${differences.get(example) ?? example}\n${step.text}\n${step.actual}`);
      }
    }
  } finally {
    await scene.close();
  }
  return differences;
}

const absent = PROGRAMS.map(missing).filter(Boolean);

describe("examples", { concurrency: true, skip: absent[0] || false }, () => {
  for (const toolset of TOOLSETS) {
    const path = join(ROOT, `docs/toolset-${toolset}-examples.md`);
    const page = readFileSync(path, "utf8");
    const examples = examplesOf(page);
    test(`the ${examples.length} examples of ${toolset} get the answers shown`, { timeout: LONGEST_MS }, async () => {
      assert.ok(examples.length >= FEWEST, `${toolset} has only ${examples.length} examples`);
      let differences = await differencesOf(toolset, examples);
      if (UPDATE) return writeFileSync(path, withAnswers(page, examples));
      // On a busy machine a few answers come at other moments. An answer that has changed differs in every run.
      for (let run = 1; run < RUNS && differences.size > 0; run++) {
        const again = await differencesOf(toolset, examples);
        differences = new Map([...again].filter(([example]) => differences.has(example)));
      }
      const remaining = [...differences.values()];
      assert.deepEqual(remaining, [], remaining.join("\n\n"));
    });
  }
});
