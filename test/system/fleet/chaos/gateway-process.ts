/**
 * A gateway in its own process, so that it can be killed. Reads one JSON request per line on stdin and answers each.
 */
import { createInterface } from "node:readline";
import { openGateway } from "../../../../src/gateway/open.ts";

interface Order {
  n: number;
  call: "start" | "run" | "sessions" | "output" | "callbacks" | "live";
  request?: unknown;
  id?: string;
}

const MOST = 1_000_000;
const gateway = await openGateway(JSON.parse(process.env.GATEWAY_OPTIONS ?? "{}"));

async function obey({ call, request, id = "" }: Order): Promise<unknown> {
  switch (call) {
    case "start":
      return (await gateway.start(request as never)).id;
    case "run":
      return (await gateway.run(request as never)).id;
    case "live":
      return (await gateway.list({ live: true, limit: 10_000 })).length;
    case "sessions":
      return (await gateway.list({ limit: 10_000 })).map((info) => {
        const { id, command, status, exitCode, background, host, error } = info;
        return { id, command, status, exitCode, background, host, why: error?.message ?? null };
      });
    case "output":
      return (await gateway.session(id).logs({ stream: "stdout" })).text;
    case "callbacks":
      return gateway.work.list({ limit: MOST }).map(({ key }) => key);
  }
}

const say = (answer: object) => void process.stdout.write(`${JSON.stringify(answer)}\n`);
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  obey(order).then(
    (value) => say({ n: order.n, value: value ?? null }),
    (error: Error) => say({ n: order.n, error: { ...error, message: error.message } }),
  );
}
await gateway.close();
process.exit(0);
