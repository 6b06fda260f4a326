import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Approval } from "../../../src/core/approval.ts";
import type { GatewayEvent } from "../../../src/core/gateway.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import type { CallContext, Tool, ToolAnswer, ToolsetName } from "../../../src/toolsets/tool.ts";
import { tools } from "../../../src/toolsets/tools.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: the fields of a result depend on its tool
export type Result = Record<string, any>;

/** One statement of a published contract: its section, a summary, and a check. */
export interface Statement {
  at: string;
  says: string;
  holds: (bench: Bench) => Promise<void>;
}

const HIGH_LIMITS = { limits: { sessions: 10_000, startsPerMinute: 1_000_000 } };

/** A toolset on a real gateway, with a record of events and approvals. */
export class Bench {
  readonly fixture = new GatewayFixture();
  readonly events: GatewayEvent[] = [];
  readonly asked: Approval[] = [];
  gateway!: Gateway;
  /** The approver's decision. */
  answer: "once" | "deny" | null = "once";
  #tools = new Map<string, Tool>();

  async open(toolset: ToolsetName, options: GatewayOptions = {}): Promise<this> {
    this.gateway = await this.fixture.open({
      policy: HIGH_LIMITS,
      onEvent: (event) => this.events.push(event),
      approve: async (approval) => {
        this.asked.push(approval);
        return this.answer === null ? null : { decision: this.answer, who: "tester" };
      },
      ...options,
    });
    for (const tool of tools(this.gateway, toolset)) this.#tools.set(tool.name, tool);
    return this;
  }

  tool(name: string): Tool {
    const tool = this.#tools.get(name);
    assert.ok(tool, `no tool is named ${name}`);
    return tool;
  }

  names(): string[] {
    return [...this.#tools.keys()];
  }

  /** Calls a tool, and verifies that the result matches its schema and that `isError` is set exactly for errors. */
  async answerOf(name: string, args: unknown, context?: CallContext): Promise<ToolAnswer> {
    const tool = this.tool(name);
    const answer = await tool.call(args, context);
    assert.deepEqual(tool.output.safeParse(answer.structured).error?.issues ?? [], []);
    assert.equal(answer.isError, "error" in answer.structured, answer.text);
    return answer;
  }

  async call(name: string, args: unknown, context?: CallContext): Promise<Result> {
    return (await this.answerOf(name, args, context)).structured;
  }

  async text(name: string, args: unknown, context?: CallContext): Promise<string> {
    return (await this.answerOf(name, args, context)).text;
  }

  /** Calls a tool that must fail, and returns the error type and the recovery actions. */
  async failure(name: string, args: unknown, context?: CallContext): Promise<{ type: string; actions: string[] }> {
    const { error } = await this.call(name, args, context);
    assert.ok(error, "the call returned no error");
    assert.ok(error.message.length > 0);
    return { type: error.type, actions: error.recovery.map((way: { action: string }) => way.action) };
  }
}

/** Defines one test per statement, in the order of the contract. */
export function conformance(
  toolset: ToolsetName,
  document: string,
  statements: Statement[],
  options: GatewayOptions = {},
): void {
  const bench = new Bench();
  before(() => bench.open(toolset, options));
  after(() => bench.fixture.close());
  for (const { at, says, holds } of statements) test(`${document}, ${at}: ${says}`, () => holds(bench));
}

export function property(tool: Tool, name: string): Result {
  const properties = tool.inputSchema.properties as Record<string, Result>;
  assert.ok(properties[name], `${tool.name} takes ${name}`);
  return properties[name];
}

export function required(tool: Tool): string[] {
  return (tool.inputSchema.required as string[] | undefined) ?? [];
}
