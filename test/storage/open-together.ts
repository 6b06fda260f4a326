/** Opens new files in step with others like it; says what it could not open. */
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../src/storage/database.ts";

const { folder, files, parties, arrived } = workerData as {
  folder: string;
  files: number;
  parties: number;
  arrived: Int32Array;
};
const failures: string[] = [];
for (let file = 0; file < files; file++) {
  Atomics.add(arrived, file, 1);
  while (Atomics.load(arrived, file) < parties); // a wait that spins: all go in the same microsecond
  try {
    openDatabase(join(folder, `${file}.db`)).close();
  } catch (error) {
    failures.push(String(error));
  }
}
parentPort?.postMessage(failures);
