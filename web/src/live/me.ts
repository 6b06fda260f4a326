import { createSignal } from "solid-js";
import { ApiError, get, onSignedOut, post } from "../api/client.ts";
import { keepKey } from "../api/key.ts";
import type { Me, Role } from "../api/shapes.ts";

/** The person who is signed in. Null when signed out, undefined until that is known. */
const [me, setMe] = createSignal<Me | null | undefined>(undefined);

export { me };

const RETRY_MS = 2000;
let again = 0;

onSignedOut(() => setMe(null));

export async function loadMe(): Promise<void> {
  window.clearTimeout(again);
  try {
    setMe(await get<Me>("/v1/me"));
  } catch (error) {
    // Other errors may be caused by a restart of the service, after which the sign-in is still valid.
    if (error instanceof ApiError && error.status === 401) setMe(null);
    else again = window.setTimeout(() => void loadMe(), RETRY_MS);
  }
}

export const setSignedOut = (): void => {
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

/** Reports whether to offer actions that need the role. The service enforces roles; this only hides buttons. */
export const may = (role: "approver" | "operator"): boolean => POWER[me()?.role ?? "viewer"] >= POWER[role];
