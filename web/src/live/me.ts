import { createSignal } from "solid-js";
import { ApiError, get, onSignedOut, post } from "../api/client.ts";
import { keepKey } from "../api/key.ts";
import type { Me, Role } from "../api/shapes.ts";

/** Who looks at the page. Undefined: not known yet; null: nobody signed in. */
const [me, setMe] = createSignal<Me | null | undefined>(undefined);

export { me };

const RETRY_MS = 2000;
let again = 0;

onSignedOut(() => setMe(null));

export async function learnWhoIAm(): Promise<void> {
  window.clearTimeout(again);
  try {
    setMe(await get<Me>("/v1/me"));
  } catch (error) {
    // A service that is being restarted knows its people again afterwards.
    if (error instanceof ApiError && error.status === 401) setMe(null);
    else again = window.setTimeout(() => void learnWhoIAm(), RETRY_MS);
  }
}

export const nobodyYet = (): void => {
  setMe(null);
};

export async function signIn(secret: string): Promise<void> {
  const { key, ...who } = await post<Me & { key: string }>("/v1/sign-in", { secret });
  keepKey(key);
  setMe(who);
}

export async function signOut(): Promise<void> {
  await post("/v1/sign-out").catch(() => undefined);
  keepKey(null);
  setMe(null);
}

const POWER: Record<Role, number> = { agent: 0, viewer: 0, approver: 1, operator: 2 };

/** The service decides; this only keeps buttons away that would be refused. */
export const may = (role: "approver" | "operator"): boolean => POWER[me()?.role ?? "viewer"] >= POWER[role];
