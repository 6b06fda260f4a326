import { createSignal } from "solid-js";
import type { Approval } from "../../../src/core/approval.ts";
import { shownLine } from "../../../src/text/visible.ts";
import { go } from "../route.ts";
import { onNewApproval } from "./approvals.ts";

const KEY = "sallyport-notify";
const LONGEST = 200;

const supported = "Notification" in window;
const [wanted, setWanted] = createSignal(
  supported && Notification.permission === "granted" && localStorage.getItem(KEY) === "yes",
);

export { supported as canNotify, wanted as notifies };

export async function toggleNotify(): Promise<void> {
  const on = !wanted() && (await Notification.requestPermission()) === "granted";
  localStorage.setItem(KEY, on ? "yes" : "no");
  setWanted(on);
}

// Shows a desktop notification for a new request while the page is not visible. A notification has no buttons to
// approve or deny, because the request must be read first.
onNewApproval((approval) => {
  if (!wanted() || document.visibilityState === "visible") return;
  const title = `${shownLine(approval.agent)} requests approval`;
  const shown = new Notification(title, { body: summary(approval), tag: approval.id });
  shown.onclick = () => {
    window.focus();
    go(`#/approvals/${approval.id}`);
    shown.close();
  };
});

function summary({ request }: Approval): string {
  const text = shownLine(request.command.text);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
