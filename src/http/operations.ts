import * as z from "zod";
import type { Live } from "./live/open.ts";
import { openApi } from "./openapi.ts";
import { type Operation, operation } from "./operation.ts";
import { approvalOperations } from "./routes/approvals.ts";
import { auditOperations } from "./routes/audit.ts";
import { logOperations } from "./routes/logs.ts";
import { overviewOperations } from "./routes/overview.ts";
import { ruleOperations } from "./routes/rules.ts";
import { sessionOperations } from "./routes/sessions.ts";
import { signInOperations } from "./routes/sign-in.ts";
import { steeringOperations } from "./routes/steering.ts";
import { terminalOperations } from "./routes/terminal.ts";
import { tokenOperations } from "./routes/tokens.ts";

/** Everything the service can be asked. */
export function operations(live: Pick<Live, "operations">): Operation[] {
  const all: Operation[] = [
    ...signInOperations,
    ...sessionOperations,
    ...logOperations,
    ...steeringOperations,
    ...terminalOperations,
    ...approvalOperations,
    ...ruleOperations,
    ...auditOperations,
    ...overviewOperations,
    ...tokenOperations,
    ...live.operations,
  ];
  let description: object | null = null;
  all.push(
    operation({
      method: "GET",
      path: "/openapi.json",
      id: "describe",
      summary: "This description",
      roles: "anyone",
      answer: z.looseObject({}),
      // Made when first asked for: most starts never are.
      handle: ({ service }) => {
        description ??= openApi(all, service.version);
        return description;
      },
    }),
  );
  return all;
}
