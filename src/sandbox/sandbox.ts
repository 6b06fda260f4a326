import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { uptimeMs } from "../core/clock.ts";
import type { SandboxCapabilities, SandboxSpec } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { askedBounds, type Bounds, configuredBounds, expandPath, type Places } from "./access.ts";
import { type Loosening, looseningsOf } from "./escalation.ts";
import { deniedPaths, hiddenPlaces } from "./masked-paths.ts";
import { ensurePrivateFolder, type FolderOwner, privateFolder } from "./private-tmp.ts";
import { protectedSpots } from "./protected-paths.ts";
import type { CommandUser } from "./user.ts";
import { isWithin } from "./workspace.ts";

/** Nothing here keeps a command in bounds: it is judged as an unconfined one. Null: the executor cannot confine. */
export function confines(tier: SandboxCapabilities | null): tier is SandboxCapabilities {
  return tier !== null && (tier.landlock > 0 || tier.mounts !== "none");
}

/** What holds one command in the end. */
export interface Sandboxed {
  bounds: Bounds;
  /** Null: nothing does. */
  spec: SandboxSpec | null;
  /** The kernel keeps it from harm: what nobody can analyse may run. */
  confined: boolean;
  /** It was to be confined, and nothing here can. */
  unavailable: boolean;
  /** Further denied paths than the built-in ones, for those who explain a failure later. */
  denied: readonly string[];
  loosened: readonly Loosening[];
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
  tier: () => SandboxCapabilities | null;
}

/** Looked at again at most this often: a repository may appear, but a request in between costs nothing. */
const LOOK_EVERY_MS = 1000;
/** So many kinds of requests are remembered; agents mostly ask for one or two. */
const MOST_ASKED = 32;

/** Prepares what holds commands: once per configuration, so that a request costs a look at one folder. */
export class Sandboxing {
  readonly #input: SandboxInput;
  readonly #places: Places;
  readonly #denied: string[];
  readonly #hidden: string[];
  readonly #added: string[];
  readonly #owner: FolderOwner;
  readonly #folder: string;
  #ground: Ground;
  #nextLook: number;
  #made = false;
  #usual: Sandboxed;
  /** What holds requests that name a profile or a network, and no paths. */
  readonly #asked = new Map<string, Sandboxed>();

  constructor(input: SandboxInput) {
    const { settings, workspace, agent, state, keepOut, home, user } = input;
    this.#input = input;
    this.#places = { workspace, home };
    this.#added = settings.denied.map((path) => expandPath(path, this.#places));
    const homes = [home, ...(user ? [user.home] : [])];
    this.#denied = deniedPaths({ homes, keepOut, added: this.#added });
    this.#hidden = hiddenPlaces(process.env);
    this.#owner = { state, workspace, agent, user: user?.ids ?? null };
    this.#folder = privateFolder(this.#owner);
    this.#nextLook = uptimeMs() + LOOK_EVERY_MS;
    this.#ground = groundOf(input, this.#places);
    this.#usual = this.#settle(this.#ground.configured, []);
  }

  /** The private folder, where a command of this configuration gets one. */
  get folder(): string {
    return this.#folder;
  }

  /** What holds this request. Throws for what no approval could give. */
  of(request: Pick<RunRequest, "sandbox" | "network" | "writable">): Sandboxed {
    const planned = this.plan(request);
    this.#make(planned);
    return planned;
  }

  /** The same, without making anything: for those who only want to know. */
  plan(request: Pick<RunRequest, "sandbox" | "network" | "writable">): Sandboxed {
    this.#lookAround();
    if (request.sandbox === undefined && request.network === undefined && request.writable === undefined) {
      return this.#usual;
    }
    if (request.writable !== undefined) return this.#answer(request);
    const kind = JSON.stringify([request.sandbox, request.network]);
    let known = this.#asked.get(kind);
    if (known === undefined) {
      known = this.#answer(request);
      if (this.#asked.size >= MOST_ASKED) this.#asked.clear();
      this.#asked.set(kind, known);
    }
    return known;
  }

  #answer(request: Pick<RunRequest, "sandbox" | "network" | "writable">): Sandboxed {
    const { configured, writing, readOnly } = this.#ground;
    const asked = askedBounds(request, { configured, writing, places: this.#places, denied: this.#denied });
    const lifted = liftedBy(asked.writable, readOnly, this.#places.workspace);
    return this.#settle(asked, lifted);
  }

  #lookAround(): void {
    const now = uptimeMs();
    if (now < this.#nextLook) return;
    this.#nextLook = now + LOOK_EVERY_MS;
    const ground = groundOf(this.#input, this.#places);
    // The very same object as long as nothing changed: the executor encodes it once.
    if (isDeepStrictEqual(ground, this.#ground)) return;
    this.#ground = ground;
    this.#usual = this.#settle(ground.configured, []);
    this.#asked.clear();
  }

  #make({ spec }: Sandboxed): void {
    if (!spec?.temporary) return;
    // Looked over once; from then on it can only vanish, with whatever else cleans /tmp.
    if (!this.#made || !existsSync(this.#folder)) ensurePrivateFolder(this.#folder, this.#owner);
    this.#made = true;
  }

  #settle(bounds: Bounds, lifted: readonly string[]): Sandboxed {
    const spec = this.#spec(bounds, lifted);
    const tier = spec === null ? null : this.#input.tier();
    const wanted = bounds.profile !== "off";
    const confined = wanted && confines(tier);
    return {
      bounds,
      spec: tier === null ? null : spec,
      confined,
      unavailable: wanted && !confined,
      denied: this.#added,
      loosened: looseningsOf(bounds, this.#ground.configured, lifted),
    };
  }

  #spec(bounds: Bounds, lifted: readonly string[]): SandboxSpec | null {
    const { settings, user } = this.#input;
    const network = typeof bounds.network === "object" ? { ports: [...bounds.network.ports] } : bounds.network;
    const common = { network, user: user?.ids ?? null, require: settings.require };
    if (bounds.profile === "off") {
      // Whom it runs as and what it reaches still holds.
      const needed = common.user !== null || network !== "on";
      if (!needed) return null;
      return { ...common, isolated: false, writable: ["/"], readOnly: [], denied: [], hidden: [], temporary: null };
    }
    const writes = bounds.profile !== "read-only";
    return {
      ...common,
      isolated: bounds.profile === "isolated",
      // A place of its own within another would be a mount of its own, which nothing can be renamed over.
      writable: bounds.writable.filter((path, _, all) => !all.some((other) => other !== path && isWithin(path, other))),
      readOnly: this.#ground.readOnly.filter((spot) => !lifted.includes(spot)),
      denied: this.#denied,
      hidden: this.#hidden,
      temporary: writes ? this.#folder : null,
    };
  }
}

/** What the workspace holds that matters, as of the last look. */
interface Ground {
  configured: Bounds;
  /** The same, were writing allowed: what a request that may write gets. */
  writing: Bounds;
  readOnly: string[];
}

function groundOf({ settings }: SandboxInput, places: Places): Ground {
  const spots = protectedSpots(places.workspace);
  const configured = configuredBounds(settings, places, spots.writable);
  const lifted = liftedBy(configured.writable, spots.readOnly, places.workspace);
  return {
    configured,
    writing: configuredBounds({ ...settings, sandbox: "workspace-write" }, places, spots.writable),
    readOnly: spots.readOnly.filter((spot) => !lifted.includes(spot)),
  };
}

/** Naming a protected spot, a folder that holds one, or a file in one is how it is asked for. The workspace is not. */
function liftedBy(writable: readonly string[], spots: readonly string[], workspace: string): string[] {
  const named = writable.filter((path) => isWithin(path, workspace) && path !== workspace);
  return spots.filter((spot) => named.some((path) => isWithin(spot, path) || isWithin(path, spot)));
}
