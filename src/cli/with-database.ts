import type { DatabaseSync } from "node:sqlite";
import type { Invocation } from "./command.ts";
import { textOption } from "./options.ts";
import { stateFolder } from "./state.ts";

/** Opens the records of a state folder, and nothing else: looking back works where nothing can be run any more. */
export async function withDatabase<T>(
  { values }: Pick<Invocation, "values">,
  use: (database: DatabaseSync) => Promise<T>,
): Promise<T> {
  const [{ openDatabase }, { openStateFolder }] = await Promise.all([
    import("../storage/database.ts"),
    import("../storage/state-folder.ts"),
  ]);
  const database = openDatabase(`${openStateFolder(stateFolder(textOption(values, "state")))}/sallyport.db`);
  try {
    return await use(database);
  } finally {
    database.close();
  }
}
