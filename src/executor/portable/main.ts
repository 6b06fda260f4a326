/** The portable keeper: `node main.js STATE`. Started by the first gateway that needs it, and outlives that. */

import { TITLE } from "../session-owner.ts";
import { closeInherited } from "./descriptors.ts";
import { House } from "./server.ts";

const ALREADY_SERVED = 3;
const [, , state = ""] = process.argv;

closeInherited();
process.title = `${TITLE}${state}`;
process.umask(0o077);
process.on("SIGHUP", () => {});
const house = new House(state);
process.on("SIGTERM", () => house.leave());
process.on("SIGINT", () => house.leave());

if (!(await house.open())) process.exit(ALREADY_SERVED);
process.stdout.write("ready\n");
