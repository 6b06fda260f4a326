import { LIBRARY_WORDING, type Wording } from "../core/next-step.ts";

/** The sentences for programs that use the HTTP API, and for people who use the console. */
export const HTTP_WORDING: Wording = {
  ...LIBRARY_WORDING,
  "list-sessions": () => "List all sessions with `GET /v1/sessions`, or in the console.",
  "show-session": () => "Read its status and exit code with `GET /v1/sessions/{id}`, or in the console.",
  "remove-session": () => "Or remove the old session with `DELETE /v1/sessions/{id}`, or in the console.",
  "stop-session": () => "Stop it first with `POST /v1/sessions/{id}/signal`, or in the console.",
  "stop-some-sessions": () =>
    "Stop sessions that are not needed, with `POST /v1/sessions/{id}/signal` or in the console.",
  "read-output": () => "Read the output up to that point with `GET /v1/sessions/{id}/logs`, or in the console.",
  "write-instead": () => 'Or start the command with `stdin: "open"`, and send input to it.',
  "use-background": () => "Or start the command as a background session, which requires no timeout.",
  "show-approval": () => "Read the approval request with `GET /v1/approvals/{id}`, or in the console.",
  "decide-approval": () => "A person must decide: in the console, or on a terminal of the machine. The agent cannot.",
};
