import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { displayWidth } from "../../../src/present/width.ts";
import { Sandbox } from "./sallyport.ts";

const box = new Sandbox();
after(async () => {
  await box.run(["kill", "-s", "KILL", "first"]);
  box.remove();
});

before(async () => {
  await box.run(["run", "-d", "--name", "first", "-c", `sleep 300 # ${"漢字 and more ".repeat(20)}`]);
  await box.run(["run", "--name", "second", "-c", "printf '\\e[31m' >/dev/null\n\texit 3"]);
});

test("ps is a table that fits the window", async () => {
  for (const columns of [80, 160]) {
    const { stdout } = await box.terminal(["ps", "-a"], { columns, env: { NO_COLOR: "1" } });
    const [title, second, first] = stdout.trimEnd().split("\n");
    assert.match(
      title ?? "",
      columns < 100 ? /^ID +NAME +STATUS +EXIT +AGE +COMMAND$/ : /^ID +NAME +STATUS +EXIT +AGE +TOOK +COMMAND$/,
    );
    assert.match(second ?? "", /^[0-9a-f]{8}-[0-9a-f]{4} +second +completed +3 .* printf '\\e\[31m'/);
    assert.match(first ?? "", /^[0-9a-f]{8}-[0-9a-f]{4} +first +running +- .*…$/);
    for (const line of stdout.trimEnd().split("\n")) assert.ok(displayWidth(line) <= columns, line);
  }
});

test("colour on a terminal, none with NO_COLOR or in a pipe", async () => {
  assert.ok((await box.terminal(["ps"])).stdout.includes("\x1b[32mrunning"));
  assert.ok(!(await box.terminal(["ps"], { env: { NO_COLOR: "1" } })).stdout.includes("\x1b"));
  assert.ok(!(await box.run(["ps"])).stdout.includes("\x1b"));
});

test("an empty list says what else there is", async () => {
  const { stdout } = await box.terminal(["--state", `${box.folder}/other`, "ps"]);
  assert.equal(stdout, "Nothing is running. `sallyport ps -a` shows finished sessions too.\n");
});

test("inspect lays out pairs and cuts nothing", async () => {
  const { stdout } = await box.terminal(["inspect", "first"]);
  assert.match(stdout, /^status +running$/m);
  assert.match(stdout, /^command +sleep 300 # 漢字/m);
  assert.equal(stdout.match(/漢字/g)?.length, 20);
});

test("JSON is indented for a person", async () => {
  const { stdout } = await box.terminal(["inspect", "--json", "second"]);
  assert.match(stdout, /^\{\n {2}"id": "/);
});

test("stats redraws in place until everything has ended", async () => {
  await box.run(["run", "-d", "--name", "brief", "--", "sleep", "2"]);
  const { stdout, code } = await box.terminal(["stats", "brief"]);
  assert.equal(code, 0);
  assert.match(stdout, /^NAME +STATUS +CPU +TIME +MEMORY +PROCS +READ +WRITTEN\n/);
  assert.ok(stdout.includes("\x1b[2A\x1b[J"));
});
