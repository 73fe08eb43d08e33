// A stand-in for a model's endpoint, on loopback: it calls the tools that a script names, one after the other, and then says "done".
// It speaks what the programs of this folder speak: Anthropic's messages, OpenAI's responses and chat completions, and Gemini's
// generateContent. There is no model behind it.
//
//     model.mjs SCRIPT LOG
//
// SCRIPT is JSON: [{"tool": "read_file", "arguments": {...}}, ...]. A tool is called by the name under which the client offers it, which ends
// with this one. LOG gets a line of JSON for each request: the API, the names of the offered tools, and the results of tools that the
// client forwarded, as it forwarded them. The address is the first line on stdout.

import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const [scriptFile, logFile] = process.argv.slice(2);
const script = JSON.parse(readFileSync(scriptFile, "utf8"));

/** The offered tools: [{name, namespace}] . */
const offered = {
  messages: (body) => (body.tools ?? []).map((tool) => ({ name: tool.name })),
  chat: (body) => (body.tools ?? []).map((tool) => ({ name: tool.function.name })),
  responses: (body) =>
    (body.tools ?? []).flatMap((tool) =>
      tool.type === "namespace"
        ? tool.tools.map((inner) => ({ name: inner.name, namespace: tool.name }))
        : [{ name: tool.name ?? tool.type }],
    ),
  gemini: (body) =>
    (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map((one) => ({ name: one.name }))),
};

/** What the client says that tools returned, in order. */
const results = {
  messages: (body) =>
    body.messages.flatMap((message) =>
      Array.isArray(message.content) ? message.content.filter((block) => block.type === "tool_result") : [],
    ),
  chat: (body) => body.messages.filter((message) => message.role === "tool"),
  responses: (body) =>
    (Array.isArray(body.input) ? body.input : []).filter((item) => item.type === "function_call_output"),
  gemini: (body) =>
    body.contents.flatMap((content) => (content.parts ?? []).filter((part) => part.functionResponse)),
};

function next(api, body) {
  const tools = offered[api](body);
  const done = results[api](body);
  appendFileSync(logFile, JSON.stringify({ api, tools: tools.map(({ name, namespace }) => [namespace, name].filter(Boolean).join("/")), results: done }) + "\n");
  const step = script[done.length];
  if (!step) return null;
  const found = tools.find(({ name, namespace }) =>
    namespace ? namespace.includes("hermes") && name === step.tool : name.includes("hermes") && name.endsWith(step.tool),
  );
  return found && { ...found, arguments: step.arguments, id: `call_${done.length + 1}` };
}

const event = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const data = (value) => `data: ${JSON.stringify(value)}\n\n`;

const answer = {
  messages(body, call) {
    const block = call ? { type: "tool_use", id: call.id, name: call.name, input: call.arguments } : { type: "text", text: "done" };
    const stop_reason = call ? "tool_use" : "end_turn";
    const message = { id: "msg_1", type: "message", role: "assistant", model: body.model, stop_sequence: null };
    const usage = { input_tokens: 1, output_tokens: 1 };
    if (!body.stream) return ["application/json", JSON.stringify({ ...message, content: [block], stop_reason, usage })];
    const start = call ? { ...block, input: {} } : { ...block, text: "" };
    const delta = call
      ? { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) }
      : { type: "text_delta", text: "done" };
    return [
      "text/event-stream",
      event("message_start", { message: { ...message, content: [], stop_reason: null, usage } }) +
        event("content_block_start", { index: 0, content_block: start }) +
        event("content_block_delta", { index: 0, delta }) +
        event("content_block_stop", { index: 0 }) +
        event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage }) +
        event("message_stop", {}),
    ];
  },
  responses(_body, call) {
    const item = call
      ? { type: "function_call", id: "fc_1", call_id: call.id, name: call.name, namespace: call.namespace, arguments: JSON.stringify(call.arguments) }
      : { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "done", annotations: [] }] };
    const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
    return [
      "text/event-stream",
      event("response.created", { response: { id: "resp_1" } }) +
        event("response.output_item.done", { output_index: 0, item }) +
        event("response.completed", { response: { id: "resp_1", output: [item], usage } }),
    ];
  },
  chat(body, call) {
    const calls = call && [{ index: 0, id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } }];
    const message = { role: "assistant", content: call ? null : "done", ...(call && { tool_calls: calls }) };
    const finish_reason = call ? "tool_calls" : "stop";
    const head = { id: "chat_1", created: 1, model: body.model };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!body.stream) {
      const choices = [{ index: 0, message, finish_reason }];
      return ["application/json", JSON.stringify({ ...head, object: "chat.completion", choices, usage })];
    }
    const chunk = (delta, finish) => data({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
    return ["text/event-stream", chunk(message, null) + chunk({}, finish_reason) + data({ ...head, object: "chat.completion.chunk", choices: [], usage }) + "data: [DONE]\n\n"];
  },
  gemini(body, call, path) {
    const part = call ? { functionCall: { id: call.id, name: call.name, args: call.arguments } } : { text: "done" };
    const whole = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: "stand-in",
    };
    return path.includes(":streamGenerateContent") ? ["text/event-stream", data(whole)] : ["application/json", JSON.stringify(whole)];
  },
};

function api(path) {
  if (path.endsWith("/messages")) return "messages";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/chat/completions")) return "chat";
  return path.includes("enerateContent") ? "gemini" : null;
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url.split("?")[0];
  const kind = api(path);
  if (!kind) {
    appendFileSync(logFile, JSON.stringify({ other: `${request.method} ${request.url}` }) + "\n");
    const body = path.endsWith("/count_tokens") ? { input_tokens: 1 } : { object: "list", data: [{ id: "stand-in", object: "model" }], models: [] };
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify(body));
  }
  const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const [type, text] = answer[kind](body, next(kind, body), path);
  response.writeHead(200, { "content-type": type });
  response.end(text);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
