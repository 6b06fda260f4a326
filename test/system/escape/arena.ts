import { execFileSync } from "node:child_process";
import {
  chmodSync,
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
  /** A folder in /tmp that all users can write to. */
  readonly shared = mkdtempSync(join(tmpdir(), "sallyport-shared-"));

  constructor(folder: string) {
    this.folder = folder;
    this.workspace = join(folder, "workspace");
    this.outside = join(folder, "outside");
    this.home = join(folder, "home");
    this.state = join(folder, "state");
    this.sockets = join(folder, "sockets");
    mkdirSync(this.sockets);
    this.restore();
  }

  /** Restores the initial state of the folders. */
  restore(): void {
    const places = [this.workspace, this.outside, this.home, this.shared];
    for (const place of places) rmSync(place, { recursive: true, force: true });
    put(join(this.shared, "file"), "treasure\n");
    for (const secret of SECRETS) put(join(this.home, secret), "treasure\n");
    put(join(this.home, ".bashrc"), "# as it was\n");
    put(join(this.outside, "victim"), "as it was\n");
    put(join(this.outside, "operators/secret"), "treasure\n");
    mkdirSync(join(this.outside, "folder"));
    mkdirSync(this.workspace);
    execFileSync("git", ["init", "-q", "--template=", this.workspace], { env: { ...process.env, HOME: this.home } });
    put(join(this.workspace, ".git/hooks/sample"), "# a hook\n");
    for (const path of PROTECTED) put(join(this.workspace, path), "{}\n");
    put(join(this.workspace, "sallyport.json"), '{ "$schema": "as it was" }\n');
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
