// Drives a server of the Model Context Protocol with the official TypeScript client, which begins with `initialize`. Steps, answers and
// arguments are those of python/client.py.

import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

// Long enough for a busy machine, short enough that a server which never answers fails the test that waits for it.
const timeout = 60_000;

const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

const words = process.argv.slice(2);
const mute = words.includes("--mute");
const [kind, ...rest] = words.filter((word) => word !== "--mute" && word !== "--legacy");

function transport() {
  if (kind === "stdio") {
    const [command, ...args] = rest;
    return new StdioClientTransport({ command, args });
  }
  const [url, token] = rest;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

let answers = [];
let watching = false;
const client = new Client(
  { name: "hermes-host-tests", version: "1.0.0" },
  { capabilities: mute ? {} : { elicitation: {} } },
);
if (!mute) {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    say({ asked: { message: params.message, form: params.requestedSchema } });
    return answers.shift() ?? { action: "cancel" };
  });
}
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => say({ log: [params.level, params.data] }));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
  if (watching) say({ changed: "tools" });
});

const progressed = ({ progress, total, message }) => say({ progress: [progress, total ?? null, message ?? null] });

const steps = {
  async list() {
    const tools = [];
    let pages = 0;
    let cursor;
    do {
      const page = await client.listTools({ cursor }, { timeout });
      tools.push(...page.tools);
      pages += 1;
      cursor = page.nextCursor;
    } while (cursor);
    say({ tools, pages });
  },

  async call(step) {
    answers = step.answers ?? [];
    const call = { name: step.tool, arguments: step.arguments };
    say({ result: await client.callTool(call, CallToolResultSchema, { timeout, onprogress: progressed }) });
  },

  async cancel(step) {
    const cancelling = new AbortController();
    const onprogress = (sign) => {
      progressed(sign);
      cancelling.abort("the test wants it so");
    };
    const call = { name: step.tool, arguments: step.arguments };
    try {
      await client.callTool(call, CallToolResultSchema, { timeout, onprogress, signal: cancelling.signal });
    } catch (why) {
      if (!cancelling.signal.aborted) throw why;
    }
    say({ cancelled: cancelling.signal.aborted ? step.tool : null });
  },

  // Servers of this client's time send what changed without being asked.
  async watch() {
    watching = true;
    say({ watching });
  },
};

// The client tells its transport which version was agreed on, and nobody else.
const connection = transport();
const told = connection.setProtocolVersion?.bind(connection);
let protocol;
connection.setProtocolVersion = (version) => {
  protocol = version;
  told?.(version);
};
await client.connect(connection, { timeout });
say({ connected: { server: client.getServerVersion(), protocol, capabilities: client.getServerCapabilities() } });
for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line);
  try {
    await steps[step.do](step);
  } catch (why) {
    say({ failed: String(why) });
  }
}
await client.close();
