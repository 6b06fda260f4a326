import { execFileSync, type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stopZygotes } from "../../fixtures/processes.ts";

export const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));
const TIMEOUT_MS = 300_000;
const NETWORK_ERROR = /ETIMEDOUT|ECONN|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EIDLETIMEOUT/;
/** The programs on the PATH of the installed package. No compiler is among them. */
const PROGRAMS = ["sh", "bash", "env", "tar", "echo", "cat", "true"];

/** A new project with the packed package and its dependencies, and a PATH without a compiler. */
export class EmptyFolder {
  readonly folder = mkdtempSync(join(tmpdir(), "sallyport-pack-"));
  readonly project = join(this.folder, "project");
  readonly state = join(this.folder, "state");
  readonly #programs = join(this.folder, "programs");
  readonly tarball: string;

  constructor() {
    for (const each of [this.project, this.#programs, join(this.folder, "home")]) mkdirSync(each);
    for (const name of PROGRAMS) symlinkSync(find(name), join(this.#programs, name));
    symlinkSync(process.execPath, join(this.#programs, "node"));
    writeFileSync(join(this.project, "package.json"), '{ "name": "project", "private": true, "type": "module" }');
    this.tarball = join(this.folder, pack(this.folder));
  }

  /** The folder of the installed package. */
  get package(): string {
    return join(this.project, "node_modules", "sallyport");
  }

  get env(): Record<string, string> {
    return { PATH: this.#programs, HOME: join(this.folder, "home"), SALLYPORT_STATE: this.state };
  }

  run(program: string, args: string[], env: NodeJS.ProcessEnv = this.env): SpawnSyncReturns<string> {
    return spawnSync(program, args, { cwd: this.project, env, encoding: "utf8", timeout: TIMEOUT_MS });
  }

  /** Installs the package with npm when the registry is reachable, and otherwise by unpacking and linking. */
  install(online: boolean): void {
    if (!online || !this.#installWithNpm()) this.#installFromArchive();
  }

  /** Returns false when the registry did not respond. */
  #installWithNpm(): boolean {
    const options = ["--no-audit", "--no-fund", "--prefer-offline", "--omit=optional", "--loglevel=error"];
    // The rest of the environment is inherited, because it may contain proxy settings and the location of npm's cache.
    const env = { ...process.env, PATH: this.#programs };
    const { status, stdout, stderr } = this.run(process.execPath, [npm(), "install", ...options, this.tarball], env);
    if (status === 0) return true;
    if (status !== null && !NETWORK_ERROR.test(stderr)) throw new Error(`npm install failed: ${stdout}${stderr}`);
    rmSync(join(this.project, "node_modules"), { recursive: true, force: true });
    return false;
  }

  #installFromArchive(): void {
    const modules = join(this.project, "node_modules");
    mkdirSync(this.package, { recursive: true });
    // Uses the PATH of the tests, because tar starts gzip, which is not among PROGRAMS.
    execFileSync("tar", ["-xzf", this.tarball, "--strip-components=1", "-C", this.package]);
    const { dependencies } = JSON.parse(readFileSync(join(this.package, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies)) this.link(name);
    mkdirSync(join(modules, ".bin"));
    symlinkSync("../sallyport/bin/sallyport.cjs", join(modules, ".bin", "sallyport"));
  }

  /** Links a package from the repository's node_modules into the project. */
  link(name: string): void {
    const target = join(this.project, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) symlinkSync(join(REPOSITORY, "node_modules", name), target);
  }

  async close(): Promise<void> {
    await stopZygotes(this.state);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function find(program: string): string {
  const found = ["/usr/bin", "/bin", "/usr/local/bin"].map((folder) => join(folder, program)).find(existsSync);
  if (!found) throw new Error(`${program} is not installed`);
  return found;
}

/** Returns the path of npm's script. It may belong to another Node.js installation than the one that runs the tests. */
export function npm(): string {
  const given = process.env.npm_execpath;
  if (given && existsSync(given)) return given;
  const folders = (process.env.PATH ?? "").split(":").filter((folder) => existsSync(join(folder, "npm")));
  return realpathSync(join(folders[0] ?? "/usr/bin", "npm"));
}

/** Packs the current contents of dist/ and a newly built keeper. Returns the name of the archive. */
function pack(folder: string): string {
  const tools: [string, string[]][] = [
    [process.execPath, [join(REPOSITORY, "native/install.js"), "--prebuilt"]],
    [process.execPath, [npm(), "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder]],
  ];
  for (const [program, args] of tools) {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: REPOSITORY, encoding: "utf8" });
    if (status !== 0) throw new Error(`${args.join(" ")}: ${stdout}${stderr}`);
  }
  return readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
}
