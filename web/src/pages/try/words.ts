import type { Decision } from "../../../../src/core/policy.ts";

export const VERDICTS: Record<Decision, { word: string; title: string; means: string; tone: string }> = {
  allow: {
    word: "runs",
    title: "It would run",
    means: "By itself, in whatever confinement is configured.",
    tone: "good",
  },
  ask: {
    word: "asks",
    title: "A person would be asked",
    means: "It runs once somebody said yes, exactly as it is.",
    tone: "warn",
  },
  deny: { word: "denied", title: "It would be denied", means: "By a default that the operator can lift.", tone: "bad" },
  blocked: {
    word: "blocked",
    title: "It would be blocked",
    means: "Nothing lifts this: no approval, no setting.",
    tone: "bad",
  },
};
