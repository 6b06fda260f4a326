import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { uptimeMs } from "../core/clock.ts";
import type { SandboxCapabilities, SandboxSpec } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { type Access, type BasePaths, configuredAccess, expandPath, requestedAccess } from "./access.ts";
import { type Escalation, escalationsOf } from "./escalation.ts";
import { deniedPaths, maskedPaths } from "./masked-paths.ts";
import { ensurePrivateTmp, type PrivateTmpOwner, privateTmpPath } from "./private-tmp.ts";
import { protectedPaths } from "./protected-paths.ts";
import type { CommandUser } from "./user.ts";
import { isWithin } from "./workspace.ts";

/** Reports whether commands can be sandboxed. If not, policy treats them as not sandboxed. */
function canConfine(capabilities: SandboxCapabilities | null): capabilities is SandboxCapabilities {
  return capabilities !== null && (capabilities.landlock > 0 || capabilities.mounts !== "none");
}

/** The resolved sandbox of one request. */
export interface SandboxPlan {
  access: Access;
  /** The restrictions that the executor enforces. Null when it enforces none. */
  spec: SandboxSpec | null;
  /** Whether the kernel sandboxes the command, so that policy can allow it even if it cannot be analyzed. */
  confined: boolean;
  /** Whether a sandbox was requested or configured that this machine does not support. */
  unavailable: boolean;
  /** The configured denied paths, without the built-in ones. Used to explain a failure. */
  denied: readonly string[];
  escalations: readonly Escalation[];
}

interface SandboxInput {
  settings: Settings;
  workspace: string;
  agent: string;
  state: string;
  keepOut: readonly string[];
  home: string;
  user: CommandUser | null;
  /**
   * Returns the sandbox features of this machine, or null when the executor cannot sandbox commands. Called only for a
   * sandboxed command.
   */
  capabilities: () => SandboxCapabilities | null;
}

/** How often the workspace is checked for new protected and writable paths, such as those of a new repository. */
const REFRESH_MS = 1000;
/** The maximum number of cached plans. Agents usually request one or two combinations of profile and network. */
const MAX_CACHED = 32;

/** Plans the sandboxes of requests. It resolves paths once per configuration, so that planning a request is cheap. */
export class SandboxPlanner {
  readonly #input: SandboxInput;
  readonly #base: BasePaths;
  readonly #denied: string[];
  readonly #masked: string[];
  readonly #added: string[];
  readonly #owner: PrivateTmpOwner;
  readonly #folder: string;
  #rules: WorkspaceRules;
  #nextRefresh: number;
  #created = false;
  #configured: SandboxPlan;
  /** Plans of requests that set a profile or a network but no paths. */
  readonly #cached = new Map<string, SandboxPlan>();

  constructor(input: SandboxInput) {
    const { settings, workspace, agent, state, keepOut, home, user } = input;
    this.#input = input;
    this.#base = { workspace, home };
    this.#added = settings.denied.map((path) => expandPath(path, this.#base));
    const homes = [home, ...(user ? [user.home] : [])];
    this.#denied = deniedPaths({ homes, keepOut, added: this.#added });
    this.#masked = maskedPaths(process.env);
    this.#owner = { state, workspace, agent, user: user?.ids ?? null };
    this.#folder = privateTmpPath(this.#owner);
    this.#nextRefresh = uptimeMs() + REFRESH_MS;
    this.#rules = workspaceRules(input, this.#base);
    this.#configured = this.#planFor(this.#rules.configured, []);
  }

  /** The path of the private temporary directory, which may not exist yet. */
  get folder(): string {
    return this.#folder;
  }

  /** Plans a request and creates its temporary directory. Throws for a path that no approval allows. */
  prepare(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    const planned = this.plan(request);
    this.#create(planned);
    return planned;
  }

  /** Plans a request without creating anything. */
  plan(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
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
    const { configured, writing, readOnly } = this.#rules;
    const asked = requestedAccess(request, { configured, writing, places: this.#base, denied: this.#denied });
    const lifted = requestedProtectedPaths(asked.writable, readOnly, this.#base.workspace);
    return this.#planFor(asked, lifted);
  }

  #refresh(): void {
    const now = uptimeMs();
    if (now < this.#nextRefresh) return;
    this.#nextRefresh = now + REFRESH_MS;
    const rules = workspaceRules(this.#input, this.#base);
    // Without changes the same plan is kept, because the executor encodes each object only once.
    if (isDeepStrictEqual(rules, this.#rules)) return;
    this.#rules = rules;
    this.#configured = this.#planFor(rules.configured, []);
    this.#cached.clear();
  }

  #create({ spec }: SandboxPlan): void {
    if (!spec?.temporary) return;
    // The directory is checked fully once. After that it can only disappear, when a program cleans /tmp.
    if (!this.#created || !existsSync(this.#folder)) ensurePrivateTmp(this.#folder, this.#owner);
    this.#created = true;
  }

  #planFor(access: Access, lifted: readonly string[]): SandboxPlan {
    const spec = this.#spec(access, lifted);
    const capabilities = spec === null ? null : this.#input.capabilities();
    const wanted = access.profile !== "off";
    const confined = wanted && canConfine(capabilities);
    return {
      access,
      spec: capabilities === null ? null : spec,
      confined,
      unavailable: wanted && !confined,
      denied: this.#added,
      escalations: escalationsOf(access, this.#rules.configured, lifted),
    };
  }

  #spec(access: Access, lifted: readonly string[]): SandboxSpec | null {
    const { settings, user } = this.#input;
    const network = typeof access.network === "object" ? { ports: [...access.network.ports] } : access.network;
    const common = { network, user: user?.ids ?? null, require: settings.require };
    if (access.profile === "off") {
      // The user and the network mode apply even without a sandbox.
      const needed = common.user !== null || network !== "on";
      if (!needed) return null;
      return { ...common, isolated: false, writable: ["/"], readOnly: [], denied: [], masked: [], temporary: null };
    }
    const writes = access.profile !== "read-only";
    return {
      ...common,
      isolated: access.profile === "isolated",
      // A nested path would be a separate mount point, which a file cannot be renamed over.
      writable: access.writable.filter((path, _, all) => !all.some((other) => other !== path && isWithin(path, other))),
      readOnly: this.#rules.readOnly.filter((protectedPath) => !lifted.includes(protectedPath)),
      denied: this.#denied,
      masked: this.#masked,
      temporary: writes ? this.#folder : null,
    };
  }
}

/** The access and protected paths of a workspace at the last refresh. */
interface WorkspaceRules {
  configured: Access;
  /** The configured access with the profile `workspace-write`, for requests that can write. */
  writing: Access;
  readOnly: string[];
}

function workspaceRules({ settings }: SandboxInput, places: BasePaths): WorkspaceRules {
  const paths = protectedPaths(places.workspace);
  const configured = configuredAccess(settings, places, paths.writable);
  const lifted = requestedProtectedPaths(configured.writable, paths.readOnly, places.workspace);
  return {
    configured,
    writing: configuredAccess({ ...settings, sandbox: "workspace-write" }, places, paths.writable),
    readOnly: paths.readOnly.filter((protectedPath) => !lifted.includes(protectedPath)),
  };
}

/**
 * Returns the protected paths that a list of writable paths requests: by naming the path, a parent folder other than
 * the workspace, or a file in it.
 */
function requestedProtectedPaths(writable: readonly string[], paths: readonly string[], workspace: string): string[] {
  const named = writable.filter((path) => isWithin(path, workspace) && path !== workspace);
  return paths.filter((protectedPath) =>
    named.some((path) => isWithin(protectedPath, path) || isWithin(path, protectedPath)),
  );
}
