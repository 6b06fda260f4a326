import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { ToolsetName } from "../../../src/toolsets/tool.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { answers } from "./answers.ts";
import { pages, samples } from "./pages.ts";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open({ policy: { toolsets: { exec: true } } });
});
after(async () => {
  for (const { id } of gateway.list({ live: true })) await gateway.session(id).kill({ graceMs: 0 });
  await fixture.close();
});

/** Matches `> NAME {INPUT}` and the response below it, in which a JSON object may span several lines. */
const CALL = /^> (\S+) (\{.*\})\n([\s\S]*)$/;

for (const { path, text: page } of pages()) {
  const [, toolset] = /^docs\/toolset-(\w+)\.md$/.exec(path) ?? [];
  if (!toolset) continue;
  const shown = samples({ path, text: page }).filter(({ language }) => language === "text");
  test(`the ${shown.length} tool calls on ${path} return the responses shown`, async () => {
    assert.ok(shown.length > 0);
    for (const { line, text } of shown) {
      const [, name = "", input = "", expected = ""] = CALL.exec(text) ?? [];
      const tool = tools(gateway, toolset as ToolsetName).find((each) => each.name === name);
      assert.ok(tool, `${path}:${line}: ${name}`);
      const answer = await tool.call(JSON.parse(input));
      assert.ok(answers(answer.text, expected.replaceAll("\n ", "")), `${path}:${line}:\n${answer.text}`);
    }
  });
}
