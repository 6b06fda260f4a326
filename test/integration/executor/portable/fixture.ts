import type { Gateway } from "../../../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../../../src/gateway/options.ts";
import { GatewayFixture } from "../../../fixtures/gateway.ts";

/** A fixture whose gateways use the given executor, regardless of SALLYPORT_EXECUTOR. */
export class ExecutorFixture extends GatewayFixture {
  async openWith(kind: "native" | "portable", options: GatewayOptions = {}): Promise<Gateway> {
    const before = process.env.SALLYPORT_EXECUTOR;
    process.env.SALLYPORT_EXECUTOR = kind;
    try {
      return await this.open(options);
    } finally {
      if (before === undefined) delete process.env.SALLYPORT_EXECUTOR;
      else process.env.SALLYPORT_EXECUTOR = before;
    }
  }
}
