import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const SECRETS = [
  ".ssh/id_ed25519",
  ".aws/credentials",
  ".config/gcloud/credentials.db",
  ".kube/config",
  ".gnupg/private",
  ".netrc",
  ".npmrc",
  ".bash_history",
  ".mozilla/firefox/x.default/cookies",
];
const PROTECTED = [".vscode/tasks.json", ".claude/settings.json", ".mcp.json"];

/** The folders of the attempts: a workspace, a home directory with secrets, and a folder outside the workspace. */
export class Arena {
  readonly folder: string;
  readonly workspace: string;
  readonly outside: string;
  readonly home: string;
  readonly state: string;
  readonly sockets: string;
  /** The initial state of the folders. */
  readonly template: string;
  /** A folder in /tmp that all users can write to. */
  readonly shared = mkdtempSync(join(tmpdir(), "sallyport-shared-"));

  constructor(folder: string) {
    this.folder = folder;
    this.workspace = join(folder, "workspace");
    this.outside = join(folder, "outside");
    this.home = join(folder, "home");
    this.state = join(folder, "state");
    this.sockets = join(folder, "sockets");
    this.template = join(folder, "template");
    mkdirSync(this.sockets);
    this.#fillTemplate();
    this.restore();
  }

  #fillTemplate(): void {
    const [workspace, outside, home, shared] = ["workspace", "outside", "home", "shared"].map((name) =>
      join(this.template, name),
    ) as [string, string, string, string];
    put(join(shared, "file"), "treasure\n");
    for (const secret of SECRETS) put(join(home, secret), "treasure\n");
    put(join(home, ".bashrc"), "# as it was\n");
    put(join(outside, "victim"), "as it was\n");
    put(join(outside, "operators/secret"), "treasure\n");
    mkdirSync(join(outside, "folder"));
    mkdirSync(workspace);
    execFileSync("git", ["init", "-q", "--template=", workspace], { env: { ...process.env, HOME: home } });
    put(join(workspace, ".git/hooks/sample"), "# a hook\n");
    for (const path of PROTECTED) put(join(workspace, path), "{}\n");
    put(join(workspace, "sallyport.json"), '{ "$schema": "as it was" }\n');
  }

  /** The folders with their templates. */
  get #places(): [place: string, template: string][] {
    const { workspace, outside, home, shared } = this;
    return Object.entries({ workspace, outside, home, shared }).map(([name, place]) => [
      place,
      join(this.template, name),
    ]);
  }

  /** Restores the initial state of the folders. */
  restore(): void {
    for (const [place, template] of this.#places) {
      rmSync(place, { recursive: true, force: true });
      cpSync(template, place, { recursive: true });
    }
  }

  /** The same as shell text, with few processes. */
  get restoreScript(): string {
    const places = this.#places.map(([place]) => `'${place}'`).join(" ");
    const { template, folder, shared } = this;
    const inside = `cp -r '${template}/workspace' '${template}/outside' '${template}/home' '${folder}'`;
    return `rm -rf ${places} && ${inside} && cp -r '${template}/shared' '${shared}'`;
  }

  /** Creates a secret after the command has started. */
  appear(): void {
    put(join(this.home, ".docker/config.json"), "treasure\n");
    put(join(this.workspace, "go"), "go\n");
  }

  /** Describes all files that a sandboxed command must not change. */
  untouched(): string {
    return [this.outside, this.home, this.shared].flatMap(describe).join("\n");
  }

  /** Removes what is not in the folder of the arena. */
  remove(): void {
    rmSync(this.shared, { recursive: true, force: true });
  }
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o644);
}

function describe(path: string): string[] {
  const { mode, uid, gid, mtimeMs, nlink } = lstatSync(path);
  const isFolder = (mode & 0o170000) === 0o040000;
  const isFile = (mode & 0o170000) === 0o100000;
  const line = `${path} ${mode.toString(8)} ${uid} ${gid} ${nlink} ${mtimeMs}`;
  if (!isFolder) return [`${line} ${isFile ? readFileSync(path, "latin1") : ""}`];
  return [
    line,
    ...readdirSync(path)
      .sort()
      .flatMap((name) => describe(join(path, name))),
  ];
}
