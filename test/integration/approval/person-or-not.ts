/**
 * Prints `person` if a decision by this process counts as a person's decision, otherwise the reason why not. The
 * argument is the PID namespace of the request.
 */
import { assertPerson, readAncestry } from "../../../src/approval/self-approval.ts";

try {
  assertPerson(readAncestry(), process.argv[2] ?? null);
  console.log("person");
} catch (error) {
  console.log((error as Error).message);
}
