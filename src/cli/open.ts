import type { Gateway } from "../gateway/gateway.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import type { Invocation } from "./command.ts";
import { textOption } from "./options.ts";
import { stateFolder } from "./state.ts";

/**
 * Opens the gateway the command line asks for, and closes it whatever happens. Its code is loaded only here, after the
 * command line was found to be right: help and mistakes are answered at once.
 */
export async function withGateway<T>(
  { values }: Pick<Invocation, "values">,
  use: (gateway: Gateway) => Promise<T>,
  options: Pick<GatewayOptions, "onEvent" | "approve"> = {},
): Promise<T> {
  const { openGateway } = await import("../gateway/open.ts");
  const agent = textOption(values, "agent");
  const state = stateFolder(textOption(values, "state"));
  const gateway = await openGateway({
    state,
    workspace: process.cwd(),
    attach: false,
    channel: "cli",
    ...(agent ? { agent } : {}),
    ...options,
  });
  try {
    return await use(gateway);
  } finally {
    await gateway.close();
  }
}
