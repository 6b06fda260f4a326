import { AuditLog } from "../../src/storage/audit.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { inTransaction } from "../../src/storage/transaction.ts";
import { newEntry } from "./audit-entries.ts";

// audit-writer.ts DATABASE NAME COUNT: appends COUNT entries, alone and several in one transaction by turns.
const [path = "", name = "", count = ""] = process.argv.slice(2);
const database = openDatabase(path);
const log = new AuditLog(database);
const append = (number: number) => log.append(newEntry({ agent: name, summary: String(number) }));
process.stdout.write("ready\n");
for (let number = 0; number < Number(count); number += 3) {
  append(number);
  inTransaction(database, () => {
    append(number + 1);
    append(number + 2);
  });
}
database.close();
