/** What comes in a query is text; these say which, and make of it what it means. */

import * as z from "zod";
import { LONGEST_TIMEOUT_MS } from "../../core/timeouts.ts";

/** A whole number from 0 up. */
export const count = (most: number = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value <= most, `must be at most ${most}`)
    .meta({ type: "integer", minimum: 0, maximum: most });

/** Also below 0. */
export const integer = () =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, "must be a whole number")
    .transform(Number)
    .meta({ type: "integer" });

export const flag = () =>
  z
    .enum(["true", "false"], 'must be "true" or "false"')
    .transform((value) => value === "true")
    .meta({ type: "boolean" });

/** What is looked for, or a name: long enough for every honest one. */
export const words = (most = 1024) => z.string().max(most);

/** ms since the epoch, or an ISO time. */
export const time = () =>
  z
    .string()
    .max(40)
    .transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text)))
    .refine((ms) => !Number.isNaN(ms), "must be milliseconds since the epoch or an ISO time")
    .meta({ type: "string", description: "An ISO time, or milliseconds since the epoch" });

export const milliseconds = z.int().min(0).max(LONGEST_TIMEOUT_MS);
/** No answer is waited for longer: whatever lies between may not keep a silent connection for ever. */
export const patience = z.int().min(0).max(3_600_000);
