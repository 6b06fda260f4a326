/** A real browser drives every page against a real service with real commands. */
import { after, before, describe } from "node:test";
import { WITHOUT_CHROMIUM } from "./browser.ts";
import { approvalFlows } from "./flows/approvals.ts";
import { looks } from "./flows/looks.ts";
import { nowFlows } from "./flows/now.ts";
import { otherFlows } from "./flows/others.ts";
import { sessionFlows } from "./flows/session.ts";
import { terminalFlows } from "./flows/terminal.ts";
import { type Stage, setStage } from "./stage.ts";

describe("the page", { skip: WITHOUT_CHROMIUM }, () => {
  let stage: Stage;
  before(async () => {
    stage = await setStage();
  });
  after(() => stage?.close());

  nowFlows(() => stage);
  sessionFlows(() => stage);
  terminalFlows(() => stage);
  approvalFlows(() => stage);
  otherFlows(() => stage);
  looks(() => stage);
});
