import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Approvals, type ApprovalsOptions } from "../../src/approval/approvals.ts";
import { type Binding, bindingOf } from "../../src/approval/binding.ts";
import type { NewApproval } from "../../src/approval/describe.ts";
import type { ApprovalAudit } from "../../src/core/approval.ts";
import type { Analysis } from "../../src/core/facts.ts";
import type { Verdict } from "../../src/core/verdict.ts";
import { inspect } from "../../src/shell/inspect.ts";
import { systemLookup } from "../../src/shell/lookup.ts";
import { openDatabase } from "../../src/storage/database.ts";

export const PATH = "/usr/local/bin:/usr/bin:/bin";

export interface Asked {
  command: string;
  agent?: string;
  cwd?: string;
  env?: Record<string, string>;
  inherited?: Record<string, string>;
  stdin?: string;
  confinement?: string;
  reasons?: Verdict["reasons"];
  intent?: string;
}

/** A workspace and a real database; asks as the gateway does. */
export class Room {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-approval-")));
  readonly workspace = join(this.folder, "workspace");
  readonly file = join(this.folder, "sallyport.db");
  readonly audited: ApprovalAudit[] = [];
  readonly #open: DatabaseSync[] = [];

  constructor() {
    mkdirSync(this.workspace);
  }

  /** Each call is a gateway of its own, as far as the database can tell. */
  approvals(options: ApprovalsOptions = {}): Approvals {
    return new Approvals(this.database(), {
      audit: (entry) => void this.audited.push(entry),
      above: () => "nobody",
      ...options,
    });
  }

  database(): DatabaseSync {
    const database = openDatabase(this.file);
    this.#open.push(database);
    return database;
  }

  /** A lookup of its own each time: a shared one remembers for a second what it found on PATH. */
  inspect(command: string, cwd = this.workspace, path = PATH): Analysis {
    return inspect(command, { cwd, home: this.folder, workspace: this.workspace, lookup: systemLookup(path) });
  }

  binding(asked: Asked): Binding {
    const cwd = asked.cwd ?? this.workspace;
    return bindingOf({
      command: asked.command,
      argv: ["bash", "-c", "--", asked.command],
      file: "/bin/bash",
      cwd,
      env: { PATH, ...asked.inherited, ...asked.env },
      facts: this.inspect(asked.command, cwd, asked.env?.PATH).commands,
      lookup: systemLookup(asked.env?.PATH ?? PATH),
      stdin: asked.stdin ?? null,
      confinement: asked.confinement ?? "workspace-write",
    });
  }

  asked(asked: Asked): NewApproval {
    const cwd = asked.cwd ?? this.workspace;
    const { analyzable, commands } = this.inspect(asked.command, cwd, asked.env?.PATH);
    return {
      agent: asked.agent ?? "builder",
      binding: this.binding(asked),
      verdict: { command: asked.command, verdict: "ask", analyzable, reasons: asked.reasons ?? [], commands },
      cwd,
      workspace: this.workspace,
      env: asked.env ?? {},
      stdin: asked.stdin ?? null,
      confinement: asked.confinement ?? "workspace-write",
      intent: asked.intent ?? null,
    };
  }

  outcomes(): string[] {
    return this.audited.map(({ outcome }) => outcome);
  }

  remove(): void {
    for (const database of this.#open) database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
