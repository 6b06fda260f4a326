/** Asks right here about the approval with the id and in the state folder given, and prints what was said. */
import { Approvals } from "../../../src/approval/approvals.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { askRightHere } from "../../../src/surfaces/cli/approvals/ask-right-here.ts";
import { processIo } from "../../../src/surfaces/cli/io.ts";

const [file = "", id = "", callOffAfter] = process.argv.slice(2);
const approvals = new Approvals(openDatabase(file));
const signal = callOffAfter ? AbortSignal.timeout(Number(callOffAfter)) : undefined;
const said = await askRightHere(approvals.get(id), processIo(), signal);
console.log(`SAID ${JSON.stringify(said)}`);
process.exit();
