/** Tests of the console in a real browser, against a real service that runs real commands. */
import { after, before, describe } from "node:test";
import { WITHOUT_CHROMIUM } from "./browser.ts";
import { approvalFlows } from "./flows/approvals.ts";
import { looks } from "./flows/looks.ts";
import { otherFlows } from "./flows/others.ts";
import { sessionFlows } from "./flows/session.ts";
import { sessionListFlows } from "./flows/sessions.ts";
import { terminalFlows } from "./flows/terminal.ts";
import { type Stage, setStage } from "./stage.ts";

describe("console", { skip: WITHOUT_CHROMIUM }, () => {
  let stage: Stage;
  before(async () => {
    stage = await setStage();
  });
  after(() => stage?.close());

  sessionListFlows(() => stage);
  sessionFlows(() => stage);
  terminalFlows(() => stage);
  approvalFlows(() => stage);
  otherFlows(() => stage);
  looks(() => stage);
});
