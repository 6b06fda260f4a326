import { existsSync, mkdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { callerEnv } from "../core/caller.ts";
import { uptimeMs } from "../core/clock.ts";
import { SallyportError } from "../core/error.ts";
import type { HostAccess, SandboxCapabilities, SandboxSpec } from "../core/launch.ts";
import { nextStep } from "../core/next-step.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { type Access, type BasePaths, expandPath, requestedAccess } from "./access.ts";
import { type DeniedPaths, deniedPaths, type Homes, movedCredentialPaths } from "./denied-paths.ts";
import { type Escalation, escalationsOf } from "./escalation.ts";
import { enforcementOf, missingDenied, OFF, type RequiredSandbox } from "./level.ts";
import { type AllowedSockets, allowedSockets, maskedPaths } from "./masked-paths.ts";
import { LinkResolver } from "./paths/links.ts";
import { type MountTable, mountTable } from "./paths/mounts.ts";
import {
  ensurePrivateTmp,
  markUsed,
  type PrivateTmp,
  type PrivateTmpOwner,
  privateTmpExists,
  privateTmpOf,
} from "./private-tmp/private-tmp.ts";
import { readableFolders } from "./private-tmp/readable.ts";
import { deniedAbsentPaths } from "./protected/absent-paths.ts";
import { createEntries } from "./protected/git/git-entries.ts";
import { type RepositoryIndex, repositoryIndex } from "./protected/git/repository-index.ts";
import {
  gitIdentity,
  requestedProtectedPaths,
  type WorkspaceRules,
  workspaceRules,
} from "./protected/workspace-rules.ts";
import type { CommandUser } from "./user.ts";
import { isWithin } from "./workspace.ts";

/** The resolved sandbox of one request, and how much of it this machine enforces. */
export interface SandboxPlan extends RequiredSandbox {
  access: Access;
  /** The restrictions that the executor enforces. Null when it enforces none. */
  spec: SandboxSpec | null;
  /** The configured denied paths, without the built-in ones. Used to explain a failure. */
  denied: readonly string[];
  /** The configured sockets, without the built-in ones. */
  sockets: readonly string[];
  escalations: readonly Escalation[];
}

interface SandboxInput {
  settings: Settings;
  workspace: string;
  agent: string;
  state: string;
  keepOut: readonly string[];
  /** The home directory that `~` refers to. */
  home: string;
  homes: Homes;
  user: CommandUser | null;
  /** The PATH of commands. */
  path: string;
  /** The additional access of an agent's program. Null for commands. */
  host?: HostAccess | null | undefined;
  /**
   * Returns the sandbox features of this machine, or null when the executor cannot sandbox commands. Called only for a
   * sandboxed command.
   */
  capabilities: () => SandboxCapabilities | null;
}

/** How often the workspace is checked for new protected and writable paths, such as those of a new repository. */
const REFRESH_MS = 1000;
/** How often the private temporary directory is marked as used. */
const MARK_MS = 3600 * 1000;
/** The maximum number of cached plans. Agents usually request one or two combinations of profile and network. */
const MAX_CACHED = 32;

/** Plans the sandboxes of requests. It resolves paths at most once a second, so that planning a request is cheap. */
export class SandboxPlanner {
  readonly #input: SandboxInput;
  readonly #base: BasePaths;
  readonly #masked: string[];
  readonly #sockets: AllowedSockets;
  readonly #added: string[];
  readonly #moved: string[];
  readonly #owner: PrivateTmpOwner;
  readonly #private: PrivateTmp;
  readonly #index: RepositoryIndex;
  #rules: ResolvedRules;
  /** The mounts when the rules were computed. */
  #mounts: MountTable;
  /** The identity of the workspace's `.git` when the rules were computed. */
  #git: string;
  #denied: { mounts: MountTable; resolver: LinkResolver; paths: DeniedPaths } | null = null;
  #nextRefresh: number;
  #created = false;
  /** The capabilities that the last plan is based on. They change if a feature turns out to be missing. */
  #capabilities: SandboxCapabilities | null = null;
  #nextMark = 0;
  #configured: SandboxPlan;
  /** Plans of requests that set a profile or a network but no paths. */
  readonly #cached = new Map<string, SandboxPlan>();

  constructor(input: SandboxInput) {
    const { settings, workspace, agent, state, home, user } = input;
    this.#input = input;
    this.#base = { workspace, home };
    this.#added = settings.denied.map((path) => expandPath(path, this.#base));
    this.#moved = movedCredentialPaths(callerEnv(), [workspace, home]);
    this.#masked = maskedPaths(callerEnv(), [...new Set([ownUid(), user?.ids.uid ?? ownUid()])]);
    this.#sockets = allowedSockets(
      settings.sockets.map((path) => expandPath(path, this.#base)),
      input.keepOut,
    );
    this.#owner = { state, workspace, agent, user: user?.ids ?? null };
    this.#private = privateTmpOf(this.#owner);
    this.#index = repositoryIndex(state, workspace);
    this.#nextRefresh = uptimeMs() + REFRESH_MS;
    this.#git = gitIdentity(workspace);
    this.#mounts = mountTable();
    this.#rules = this.#resolve();
    this.#configured = this.#planFor(this.#rules.configured, []);
  }

  /** The path of $TMPDIR, which may not exist yet. */
  get tmpdir(): string {
    return this.#private.tmpdir;
  }

  /** Plans a request and creates its temporary directory. Throws for a path that no approval allows. */
  prepare(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    const planned = this.#withEntries(this.plan(request), request);
    this.#create(planned);
    this.#index.expectAbsent(this.#rules.absent);
    return planned;
  }

  /** Creates missing entries of git directories and plans the request again: a missing path cannot be mounted over. */
  #withEntries(planned: SandboxPlan, request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    if (!planned.spec?.temporary || this.#rules.creatable.length === 0) return planned;
    createEntries(this.#rules.creatable);
    this.#nextRefresh = 0;
    return this.plan(request);
  }

  /** Plans a request without creating anything. */
  plan(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    const planned = this.#planOf(request);
    if (planned.access.profile !== "off" && planned.spec?.writable.includes("/"))
      throw writableRoot(this.#base.workspace);
    return planned;
  }

  #planOf(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    this.#refresh();
    if (request.sandbox === undefined && request.network === undefined && request.writable === undefined) {
      return this.#configured;
    }
    if (request.writable !== undefined) return this.#planRequest(request);
    const kind = JSON.stringify([request.sandbox, request.network]);
    let known = this.#cached.get(kind);
    if (known === undefined) {
      known = this.#planRequest(request);
      if (this.#cached.size >= MAX_CACHED) this.#cached.clear();
      this.#cached.set(kind, known);
    }
    return known;
  }

  #planRequest(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    const { configured, writing, readOnly, denied } = this.#rules;
    const asked = requestedAccess(request, { configured, writing, places: this.#base, denied });
    const lifted = requestedProtectedPaths(asked.writable, readOnly, writing.writable);
    return this.#planFor(asked, lifted);
  }

  #refresh(): void {
    const now = uptimeMs();
    const probed = this.#capabilities === null ? null : this.#input.capabilities();
    const same = probed === this.#capabilities;
    const git = gitIdentity(this.#base.workspace);
    const mounts = mountTable();
    // The protected paths of a new repository differ, and the next command may follow at once.
    if (same && now < this.#nextRefresh && git === this.#git && mounts === this.#mounts) return;
    this.#git = git;
    this.#mounts = mounts;
    this.#nextRefresh = now + REFRESH_MS;
    const rules = this.#resolve();
    // Without changes the same plan is kept, because the executor encodes each object only once.
    if (same && isDeepStrictEqual(rules, this.#rules)) return;
    this.#rules = rules;
    this.#configured = this.#planFor(rules.configured, []);
    this.#cached.clear();
  }

  #resolve(): ResolvedRules {
    const { settings, keepOut, homes, user } = this.#input;
    const { denied, links } = this.#deniedPaths();
    const rules = workspaceRules({
      settings,
      user,
      homes: homes.own,
      places: this.#base,
      temporary: this.#private.folder,
      index: this.#index,
      mounts: this.#mounts,
    });
    const resolver = new LinkResolver();
    const reserved = keepOut.map((folder) => resolver.resolve(folder).real);
    const missing = missingDenied({ denied, writable: rules.writing.writable }, reserved);
    const { writable } = rules.writing;
    const readable = readableFolders(this.#private, { path: this.#input.path, writable, denied });
    const masked = this.#mounts.withAliases([...this.#masked]);
    const resolved = { ...rules, denied, links, masked, reserved, missing, readable };
    return this.#input.host ? this.#withHost(resolved, this.#input.host) : resolved;
  }

  /** Returns the denied paths. Hundreds of paths are resolved only if one of their folders has changed. */
  #deniedPaths(): DeniedPaths {
    const mounts = this.#mounts;
    if (this.#denied?.mounts === mounts && this.#denied.resolver.isCurrent()) return this.#denied.paths;
    const { settings, keepOut, homes, user } = this.#input;
    const resolver = new LinkResolver();
    const paths = deniedPaths(
      {
        homes,
        readable: settings.readable.map((path) => expandPath(path, this.#base)),
        moved: this.#moved,
        keepOut,
        added: this.#added,
        root: (user?.ids.uid ?? ownUid()) === 0,
        mounts,
      },
      resolver,
    );
    this.#denied = { mounts, resolver, paths };
    return paths;
  }

  /** Adds the paths of an agent's program that stay read-only, and its folder in the /tmp that the private one hides. */
  #withHost(rules: ResolvedRules, host: HostAccess): ResolvedRules {
    const resolver = new LinkResolver();
    const found = [...host.protected, host.runFolder].map((path) => resolver.resolve(path));
    const readOnly = this.#mounts.withAliases(found.map(({ real }) => real));
    // A link that the program could replace would choose which file other programs execute.
    const links = this.#mounts.withAliases(found.flatMap((each) => each.links));
    const isHidden = this.#private.binds.some(({ at }) => isWithin(host.runFolder, at) && host.runFolder !== at);
    return {
      ...rules,
      readOnly: [...new Set([...rules.readOnly, ...readOnly])],
      absent: [...rules.absent, ...host.absent.map((path) => resolver.resolve(path).real)],
      links: [...rules.links, ...links],
      readable: isHidden ? [...rules.readable, host.runFolder] : rules.readable,
    };
  }

  #create({ spec }: SandboxPlan): void {
    if (spec !== null) this.#reserveOwnFolders(spec);
    if (!spec?.temporary) return;
    // The directory is checked fully once. After that it can only disappear, when a program cleans /tmp.
    if (!this.#created || !privateTmpExists(this.#private)) ensurePrivateTmp(this.#private, this.#owner);
    this.#created = true;
    const now = uptimeMs();
    if (now < this.#nextMark) return;
    this.#nextMark = now + MARK_MS;
    markUsed(this.#private.folder);
  }

  /**
   * Creates the state folder and the configuration folder if the command could: a path that does not exist cannot be
   * masked, and a command that creates the operator's configuration would choose its own rules (invariant 7).
   */
  #reserveOwnFolders(spec: SandboxSpec): void {
    for (const folder of this.#rules.reserved) {
      const reachable = spec.writable.some((root) => isWithin(folder, root));
      if (reachable && !existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    }
  }

  #planFor(access: Access, lifted: readonly string[]): SandboxPlan {
    const confines = access.profile !== "off";
    const spec = this.#spec(access, lifted);
    const capabilities = spec === null ? null : this.#input.capabilities();
    if (spec !== null) this.#capabilities = capabilities;
    const enforced = spec === null ? OFF : enforcementOf(confines, spec, capabilities, this.#rules.reserved);
    // The keeper must not run the command with less than the verdict is based on (invariant 2).
    const require = this.#input.settings.require === true || enforced.notEnforced.length === 0;
    if (spec?.temporary && capabilities !== null && capabilities.mounts !== "none") {
      spec.binds = this.#private.binds;
      spec.readable = this.#rules.readable.filter((folder) => !spec.writable.some((root) => isWithin(folder, root)));
    }
    return {
      access,
      spec: capabilities === null || spec === null ? null : { ...spec, require },
      confines,
      ...enforced,
      denied: this.#added,
      sockets: this.#sockets.configured,
      escalations: escalationsOf(access, this.#rules.configured, lifted),
    };
  }

  /**
   * Returns the temporary directories to mask: without a private /tmp, those of other agents; with one, the further
   * paths of the /tmp that it hides.
   */
  #maskedTmp(writes: boolean): string[] {
    const { base, binds } = this.#private;
    return writes ? this.#mounts.aliases([base, ...binds.map(({ at }) => at)]) : this.#mounts.withAliases([base]);
  }

  #spec(access: Access, lifted: readonly string[]): SandboxSpec | null {
    const { settings, user } = this.#input;
    const network = typeof access.network === "object" ? { ports: [...access.network.ports] } : access.network;
    const common = { network, user: user?.ids ?? null, require: false, maskFailure: settings.maskFailure };
    if (access.profile === "off") {
      // The user and the network mode apply even without a sandbox.
      const needed = common.user !== null || network !== "on";
      if (!needed) return null;
      const paths = {
        writable: ["/"],
        readOnly: [],
        denied: [],
        masked: [],
        held: [],
        absent: [],
        sockets: [],
        readable: [],
      };
      return { ...common, ...paths, isolated: false, temporary: null, binds: [] };
    }
    const writes = access.profile !== "read-only";
    // A nested path would be a separate mount point, which a file cannot be renamed over.
    const writable = access.writable.filter(
      (path, _, all) => !all.some((other) => other !== path && isWithin(path, other)),
    );
    const isKept = (protectedPath: string): boolean => !lifted.includes(protectedPath);
    const [readOnly, absent] = [this.#rules.readOnly.filter(isKept), this.#rules.absent.filter(isKept)];
    return {
      ...common,
      isolated: access.profile === "isolated",
      writable,
      readOnly,
      denied: this.#rules.denied,
      absent: writes ? [...absent, ...deniedAbsentPaths(this.#rules.denied, writable)] : [],
      masked: [...this.#rules.masked, ...this.#maskedTmp(writes)],
      held: this.#rules.links.filter((link) => writable.some((root) => isWithin(link, root))),
      sockets: [
        ...this.#sockets.builtIn,
        ...this.#sockets.configured,
        ...(this.#input.host ? [this.#input.host.channel] : []),
      ],
      temporary: writes ? this.#private.tmpdir : null,
      binds: [],
      readable: [],
    };
  }
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

function writableRoot(workspace: string): SallyportError {
  const what = workspace === "/" ? "The workspace is the root directory" : "`writable` names the root directory";
  return new SallyportError("PathOutOfScope", `${what}, which a sandboxed command cannot be allowed to write.`, [
    workspace === "/"
      ? { action: "check_scope", hint: "Run Sallyport in a project folder, or set the workspace to one." }
      : { action: "check_scope", hint: "Name the folders that the command writes to." },
    nextStep("request_access", { name: "other-profile" }),
  ]);
}

/** The access, protected and denied paths of a workspace at the last refresh. */
interface ResolvedRules extends WorkspaceRules {
  denied: string[];
  /** The symbolic links that lead to denied paths. */
  links: string[];
  masked: string[];
  /** The state folder and the operator's configuration folder, which are created before a command could create them. */
  reserved: string[];
  /** The denied paths in writable folders that do not exist. */
  missing: string[];
  /** The folders below /tmp that commands can read. */
  readable: string[];
}
