import type { SessionInfo } from "../../../src/core/session.ts";

type Tone = "live" | "good" | "bad" | "warn" | "odd" | "plain";

interface Look {
  word: string;
  tone: Tone;
}

/** Returns the label and the color for the status of a session. */
export function statusLook(info: Pick<SessionInfo, "status" | "exitCode" | "signal" | "lingering">): Look {
  if (info.lingering) return { word: "processes still running", tone: "live" };
  switch (info.status) {
    case "running":
      return { word: "running", tone: "live" };
    case "completed":
      return info.exitCode === 0 || info.exitCode === null
        ? { word: "completed", tone: "good" }
        : { word: `exit ${info.exitCode}`, tone: "bad" };
    case "timed_out":
      return { word: "timed out", tone: "warn" };
    case "killed":
      return { word: info.signal ?? "killed", tone: "warn" };
    case "pending":
      return { word: "pending", tone: "warn" };
    case "lost":
      return { word: "lost", tone: "odd" };
    default:
      return { word: info.status, tone: "bad" };
  }
}

export function Status(props: { info: SessionInfo }) {
  const look = () => statusLook(props.info);
  return (
    <span class="status" data-tone={look().tone}>
      <span class="dot" />
      {look().word}
    </span>
  );
}
