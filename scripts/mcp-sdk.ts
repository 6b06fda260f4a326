/** What scripts/bundle.ts bundles as the file of the MCP SDK. */
export * from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
