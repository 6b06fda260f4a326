import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Connected, ERAS, type Era, McpFixture } from "../../fixtures/mcp.ts";
import { until } from "../../fixtures/until.ts";

const fixture = new McpFixture();
after(() => fixture.close());

type Structured = Record<string, unknown>;
let server: Promise<{ url: string; token: string; other: string }> | null = null;

async function http(era: Era, who: "token" | "other" = "token"): Promise<Connected> {
  server ??= (async () => ({
    url: (await fixture.http()).url,
    token: await fixture.token("default", "mine"),
    other: await fixture.token("other", "theirs"),
  }))();
  const given = await server;
  return fixture.httpClient(given.url, given[who], { era });
}

const WAYS: Record<string, (era: Era) => Promise<Connected>> = {
  stdio: (era) => fixture.stdio([], { era }),
  HTTP: (era) => http(era),
};

async function start({ client }: Connected, command: string): Promise<string> {
  const call = { name: "Bash", arguments: { command, description: "x", run_in_background: true } };
  return ((await client.callTool(call)).structuredContent as { shell_id: string }).shell_id;
}

async function run({ client }: Connected, command: string): Promise<string> {
  const { structuredContent } = await client.callTool({ name: "Bash", arguments: { command, description: "x" } });
  return (structuredContent as { shell_id: string }).shell_id;
}

async function read({ client }: Connected, uri: string): Promise<{ text: string; meta: Structured }> {
  const { contents } = await client.readResource({ uri });
  const [only] = contents as { text: string; _meta?: Structured }[];
  assert.ok(only);
  return { text: only.text, meta: only._meta ?? {} };
}

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    test(`lists and reads sessions and their output (${way}, ${era})`, async () => {
      const client = await connect(era);
      const id = await run(client, "echo out; echo err >&2; exit 4");
      const { resources } = await client.client.listResources();
      const uris = resources.map(({ uri }) => uri);
      assert.ok(uris.includes(`sallyport://session/${id}`));
      assert.ok(uris.includes(`sallyport://session/${id}/output`));
      const info = JSON.parse((await read(client, `sallyport://session/${id}`)).text) as Structured;
      assert.equal(info.exitCode, 4);
      assert.equal((await read(client, `sallyport://session/${id}/output`)).text, "out\nerr\n");
      const { resourceTemplates } = await client.client.listResourceTemplates();
      assert.ok(
        resourceTemplates.some(({ uriTemplate }) => uriTemplate === "sallyport://session/{id}/stdout{?offset,limit}"),
      );
      await client.close();
    });

    test(`notifies a subscriber of output and of the end of a session (${way}, ${era})`, async () => {
      const client = await connect(era);
      const busy = await start(client, "while sleep 0.2; do echo more; done");
      const silent = await start(client, "sleep 600");
      const uris = [`sallyport://session/${busy}/output`, `sallyport://session/${silent}`];
      const told: string[] = [];
      client.client.setNotificationHandler(
        "notifications/resources/updated",
        ({ params }) => void told.push(params.uri),
      );
      if (era === "2025") for (const uri of uris) await client.client.subscribeResource({ uri });
      else await client.client.listen({ resourceSubscriptions: uris });
      const count = (uri: string | undefined) => told.filter((each) => each === uri).length;
      await until("output is reported twice", () => count(uris[0]) > 1);
      const before = count(uris[1]);
      await client.client.callTool({ name: "KillShell", arguments: { shell_id: silent } });
      await until("the end is reported", () => count(uris[1]) > before);
      assert.deepEqual(
        told.filter((uri) => !uris.includes(uri)),
        [],
        "a resource without a subscription was reported",
      );
      await client.client.callTool({ name: "KillShell", arguments: { shell_id: busy } });
      await client.close();
    });
  }
}

test("reads both ends of a long log, and slices without gaps", async () => {
  const client = await fixture.stdio();
  const id = await run(client, "seq 1 100000");
  const uri = `sallyport://session/${id}/output`;
  const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join("");
  const { text, meta } = await read(client, uri);
  assert.ok(Buffer.byteLength(text) <= 64 << 10);
  assert.ok(text.startsWith("1\n2\n") && text.endsWith("\n100000\n"));
  assert.match(text, /left out; read them with sallyport:/);
  assert.equal(meta["sallyport/totalBytes"], whole.length);
  let seen = "";
  for (let offset = 0; offset < whole.length; ) {
    const slice = await read(client, `${uri}?offset=${offset}&limit=${10 << 20}`);
    assert.ok(slice.text.length <= 64 << 10, "the slice is too large");
    seen += slice.text;
    offset = Number(slice.meta["sallyport/nextOffset"]);
  }
  assert.equal(seen, whole);
  await client.close();
});

test("a session on a terminal has a screen, one on pipes has none", async () => {
  const client = await fixture.stdio(["--tools", "shell"]);
  const call = { name: "exec", arguments: { command: "printf 'left\\rR'; sleep 600", pty: true, background: true } };
  const { session_id } = (await client.client.callTool(call)).structuredContent as { session_id: string };
  const uri = `sallyport://session/${session_id}/screen`;
  await until("the screen is drawn", async () => (await read(client, uri)).text.startsWith("Reft\n"));
  assert.ok((await client.client.listResources()).resources.some((resource) => resource.uri === uri));
  await client.client.callTool({ name: "process", arguments: { action: "kill", session_id } });
  const plain = (await client.client.callTool({ name: "exec", arguments: { command: "true" } })).structuredContent;
  const { session_id: piped } = plain as { session_id: string };
  await assert.rejects(client.client.readResource({ uri: `sallyport://session/${piped}/screen` }), /Unknown resource/);
  await client.close();
});

test("rejects a URI that does not name a session or a part of it exactly", async () => {
  const client = await fixture.stdio();
  const id = await run(client, "echo hello");
  const session = `sallyport://session/${id}`;
  assert.equal((await read(client, `${session}/stdout?offset=1&limit=3`)).text, "ell");
  for (const uri of [
    "sallyport://session/",
    `sallyport://session/${id.slice(0, 8)}`,
    `sallyport://session/${id.toUpperCase()}`,
    `${session}/`,
    `${session}/exit`,
    `${session}/../${id}`,
    `${session}?offset=1`,
    `${session}/stdout?offset=-1`,
    `${session}/stdout?offset=1e3`,
    `${session}/stdout?offset=`,
    `${session}/stdout?since=1`,
    `${session}/stdout#offset`,
    `${session}/stdout\n`,
  ]) {
    await assert.rejects(client.client.readResource({ uri }), /Unknown resource/, JSON.stringify(uri));
  }
  await client.close();
});

test("slices do not split characters", async () => {
  const client = await fixture.stdio();
  const id = await run(client, "printf 'aé漢😀'");
  const slice = await read(client, `sallyport://session/${id}/output?offset=0&limit=4`);
  assert.equal(slice.text, "aé");
  assert.equal(slice.meta["sallyport/nextOffset"], 3);
  await client.close();
});

test("a session resource stays small even if its command is long", async () => {
  const client = await fixture.stdio(["--answer-within", "200ms"]);
  const id = await run(client, `true ${"x".repeat(100_000)}`);
  const { text } = await read(client, `sallyport://session/${id}`);
  assert.ok(text.length < 64 << 10);
  const { command } = JSON.parse(text) as { command: string };
  assert.match(command, /left out/);
  await client.close();
});

test("lists resources in pages", async () => {
  const client = await fixture.stdio(["--agent", "many"]);
  const ids = new Set<string>();
  for (let n = 0; n < 60; n++) ids.add(await run(client, `echo ${n}`));
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const { resources, nextCursor } = await client.client.listResources(cursor === undefined ? {} : { cursor });
    for (const { uri } of resources) if (!uri.endsWith("/output")) seen.add(uri.slice("sallyport://session/".length));
    cursor = nextCursor;
    pages++;
  } while (cursor !== undefined);
  assert.equal(pages >= 1, true);
  assert.deepEqual(seen, ids);
  await client.close();
});

for (const era of ERAS) {
  test(`sessions of other agents look nonexistent (${era})`, async () => {
    const mine = await http(era);
    const id = await start(mine, "echo secret; sleep 600");
    const theirs = await http(era, "other");
    const uri = `sallyport://session/${id}`;
    const unknown = uri.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const refusal = async (address: string) =>
      theirs.client.readResource({ uri: address }).then(
        () => assert.fail("the resource was readable"),
        (error: Error) => error.message.replaceAll(address, "URI"),
      );
    assert.equal(await refusal(uri), await refusal(unknown));
    assert.ok((await theirs.client.listResources()).resources.every((resource) => !resource.uri.includes(id)));
    const told = async (shell_id: string, name: string) => {
      const { structuredContent, isError } = await theirs.client.callTool({ name, arguments: { shell_id } });
      assert.equal(isError, true);
      return JSON.stringify(structuredContent).replaceAll(shell_id, "ID");
    };
    for (const name of ["BashOutput", "KillShell"]) {
      assert.equal(await told(id, name), await told(unknown.slice(-36), name), name);
    }
    if (era === "2025") await assert.rejects(theirs.client.subscribeResource({ uri }));
    await mine.client.callTool({ name: "KillShell", arguments: { shell_id: id } });
    await mine.close();
    await theirs.close();
  });
}
