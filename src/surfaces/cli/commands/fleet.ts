import type { Command } from "../command.ts";
import { showKey, trust } from "../fleet/trust.ts";
import { UsageError } from "../usage-error.ts";

export const fleet: Command = {
  name: "fleet",
  summary: "Say which gateways a worker trusts, and by which key it knows them",
  usage: `sallyport fleet key
       sallyport fleet trust [list]
       sallyport fleet trust add NAME KEY
       sallyport fleet trust remove NAME…`,
  options: {},
  help: { json: "print JSON" },
  examples: [
    "sallyport fleet key",
    "sallyport fleet trust add office ed25519:1h2Xc0vQ3mO9XH7yqfJ2Wj9bY2m4dQe5nTqRk8sLw0A",
    "sallyport fleet trust remove office",
  ],
  notes: `\`key\` prints the public key of this machine's gateway, which signs the approvals it sends to workers.
\`trust\` is for the worker's machine: an approval counts there only if a gateway on the list signed it.
Piped, \`trust list\` prints NAME, KEY, ADDED, BY with tabs between.`,
  run: (invocation) => {
    const [action, ...given] = [...invocation.positionals, ...(invocation.rest ?? [])];
    if (action === "key") return showKey(invocation, given);
    if (action === "trust") return trust(invocation, given);
    throw new UsageError(`\`fleet\` knows key and trust; received ${action ? `\`${action}\`` : "nothing"}`);
  },
};
