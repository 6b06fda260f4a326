/** Asks right here about the approval with the id and in the state folder given, and prints what was said. It is called off when a file appears. */
import { existsSync } from "node:fs";
import { Approvals } from "../../../src/approval/approvals.ts";
import { processIo } from "../../../src/cli/io.ts";
import { promptForApproval } from "../../../src/cli/terminal/approval-prompt.ts";
import { openDatabase } from "../../../src/storage/database.ts";

const [file = "", id = "", callOff] = process.argv.slice(2);
const approvals = new Approvals(openDatabase(file));
const off = new AbortController();
setInterval(() => callOff && existsSync(callOff) && off.abort(), 20).unref();
const said = await promptForApproval(approvals.get(id), processIo(), off.signal);
console.log(`SAID ${JSON.stringify(said)}`);
process.exit();
