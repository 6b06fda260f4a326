import { fileURLToPath } from "node:url";

/** Runs the tests of the commands that the resident gateway answers through the native client. */
process.env.TEST_CLIENT ??= fileURLToPath(new URL("../../../native/build/client", import.meta.url));

await import("./run.test.ts");
await import("./run-signals.test.ts");
await import("./check.test.ts");
await import("./arguments.test.ts");
await import("./sh.test.ts");
