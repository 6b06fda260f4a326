import type { Decision } from "../../../../src/core/policy.ts";

export const VERDICTS: Record<Decision, { word: string; title: string; means: string; tone: string }> = {
  allow: {
    word: "allowed",
    title: "Allowed",
    means: "The command would run without approval, in the configured sandbox.",
    tone: "good",
  },
  ask: {
    word: "requires approval",
    title: "Requires approval",
    means: "The command would run after a person approves exactly this command.",
    tone: "warn",
  },
  deny: {
    word: "denied",
    title: "Denied",
    means: "The policy denies this command. An operator can change the policy.",
    tone: "bad",
  },
  blocked: {
    word: "blocked",
    title: "Blocked",
    means: "A permanent rule blocks this command. No approval or setting can override it.",
    tone: "bad",
  },
};
