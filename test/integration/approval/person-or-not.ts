/** Prints whether this process counts as a person's: `person`, or why not. Its argument: the namespace that asked. */
import { assertPerson, readAncestry } from "../../../src/approval/self-approval.ts";

try {
  assertPerson(readAncestry(), process.argv[2] ?? null);
  console.log("person");
} catch (error) {
  console.log((error as Error).message);
}
