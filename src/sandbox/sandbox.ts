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

/** False: a command is judged as an unconfined one. Null: the executor cannot confine. */
function canConfine(capabilities: SandboxCapabilities | null): capabilities is SandboxCapabilities {
  return capabilities !== null && (capabilities.landlock > 0 || capabilities.mounts !== "none");
}

/** What holds one command in the end. */
export interface SandboxPlan {
  access: Access;
  /** Null: nothing does. */
  spec: SandboxSpec | null;
  /** The kernel keeps it from harm: what nobody can analyse may run. */
  confined: boolean;
  /** It was to be confined, and nothing here can. */
  unavailable: boolean;
  /** Further denied paths than the built-in ones, for those who explain a failure later. */
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
  /** What there is to confine with, asked only where something is to be confined; null: the executor cannot. */
  capabilities: () => SandboxCapabilities | null;
}

/** Looked at again at most this often: a repository may appear, but a request in between costs nothing. */
const REFRESH_MS = 1000;
/** So many kinds of requests are remembered; agents mostly ask for one or two. */
const MAX_CACHED = 32;

/** Prepares what holds commands: once per configuration, so that a request costs a look at one folder. */
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
  /** What holds requests that name a profile or a network, and no paths. */
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

  /** The private folder, where a command of this configuration gets one. */
  get folder(): string {
    return this.#folder;
  }

  /** Plans this request and creates its temporary folder. Throws for what no approval could give. */
  prepare(request: Pick<RunRequest, "sandbox" | "network" | "writable">): SandboxPlan {
    const planned = this.plan(request);
    this.#create(planned);
    return planned;
  }

  /** The plan alone: nothing is created. */
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
    // The very same object as long as nothing changed: the executor encodes it once.
    if (isDeepStrictEqual(rules, this.#rules)) return;
    this.#rules = rules;
    this.#configured = this.#planFor(rules.configured, []);
    this.#cached.clear();
  }

  #create({ spec }: SandboxPlan): void {
    if (!spec?.temporary) return;
    // Looked over once; from then on it can only vanish, with whatever else cleans /tmp.
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
      // Whom it runs as and what it reaches still holds.
      const needed = common.user !== null || network !== "on";
      if (!needed) return null;
      return { ...common, isolated: false, writable: ["/"], readOnly: [], denied: [], masked: [], temporary: null };
    }
    const writes = access.profile !== "read-only";
    return {
      ...common,
      isolated: access.profile === "isolated",
      // A place of its own within another would be a mount of its own, which nothing can be renamed over.
      writable: access.writable.filter((path, _, all) => !all.some((other) => other !== path && isWithin(path, other))),
      readOnly: this.#rules.readOnly.filter((protectedPath) => !lifted.includes(protectedPath)),
      denied: this.#denied,
      masked: this.#masked,
      temporary: writes ? this.#folder : null,
    };
  }
}

/** What the workspace holds that matters, as of the last look. */
interface WorkspaceRules {
  configured: Access;
  /** The same, were writing allowed: what a request that may write gets. */
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

/** Naming a protected path, a folder that holds one, or a file in one is how it is asked for. The workspace is not. */
function requestedProtectedPaths(writable: readonly string[], paths: readonly string[], workspace: string): string[] {
  const named = writable.filter((path) => isWithin(path, workspace) && path !== workspace);
  return paths.filter((protectedPath) =>
    named.some((path) => isWithin(protectedPath, path) || isWithin(path, protectedPath)),
  );
}
