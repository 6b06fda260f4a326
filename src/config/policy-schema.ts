import * as z from "zod";
import type { AllowEntry, UserRule } from "../core/policy.ts";

/** The shapes that src/policy judges by, as they stand in a configuration file. */
const text = z.string().min(1).max(4096);

export const rule = () =>
  z
    .strictObject({
      id: text.optional().describe("Shown as the rule's name"),
      prefix: z
        .array(z.union([text, z.array(text).min(1)]))
        .min(1)
        .optional()
        .describe("The first words of a command, in order; a list stands for any one of its words"),
      pattern: text.optional().describe("Patterns for all words of a command, separated by blanks; `*` and `?`"),
      decision: z.enum(["allow", "ask", "deny"]).describe("What happens to a command that matches; the strictest wins"),
      message: text.optional().describe("Why, for the person and the agent"),
      match: z.array(text).optional().describe("Commands that must match; checked at the start"),
      not_match: z.array(text).optional().describe("Commands that must not match; checked at the start"),
    })
    .describe("A rule about commands") satisfies z.ZodType<UserRule>;

export const allowlistEntry = () =>
  z
    .strictObject({
      pattern: text.describe("A glob over the program's resolved path, or a bare name that is found by PATH"),
      args: z
        .string()
        .max(4096)
        .optional()
        .describe("Patterns for the arguments, one a word; a last `**` takes the rest"),
      cwd: text.optional().describe("Only when the command starts in this folder or below"),
      expires: text.optional().describe("ISO time after which the entry counts no more"),
      agent: text.optional().describe("Only for this agent"),
      note: text.optional().describe("For people"),
      lastUsed: text.optional().describe("ISO time; kept, not judged"),
    })
    .describe("A program that may run by itself in allowlist mode") satisfies z.ZodType<AllowEntry>;
