"""Drives a server of the Model Context Protocol with the official Python client.

    client.py [--legacy] [--mute] stdio COMMAND [ARGUMENT...]
    client.py [--legacy] [--mute] http URL [TOKEN]

Reads one step a line from stdin and writes one JSON object a line to stdout: what came of the step, and what the server sent
meanwhile. With --legacy it begins with `initialize`, as clients did before 2026-07-28; with --mute it can't be asked anything.

    {"do": "list"}                                           {"tools": [...], "pages": 1}
    {"do": "call", "tool": "x", "arguments": {...}}          {"progress": [1, 2, "half"]}, {"log": [...]}, {"result": {...}}
    {"do": "call", ..., "answers": [{"action": "accept", "content": {...}}]}
                                                             {"asked": {"message": ..., "form": {...}}}, {"result": {...}}
    {"do": "cancel", "tool": "x", "arguments": {...}}        {"progress": ...}, {"cancelled": "x"}: cancelled at its first progress
    {"do": "watch"}                                          {"watching": true}, and from then on {"changed": "tools"}

What the server or the client refuses is {"failed": "why"}. The end of stdin ends it.
"""

import json
import sys
from contextlib import AsyncExitStack

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

# Long enough for a busy machine, short enough that a server which never answers fails the test that waits for it.
PATIENCE = 60


def say(**event):
    print(json.dumps(event), flush=True)


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Driver:
    def __init__(self, arguments):
        self.legacy = "--legacy" in arguments
        self.mute = "--mute" in arguments
        transport, *self.rest = [word for word in arguments if word not in ("--legacy", "--mute")]
        self.http = {"http": True, "stdio": False}[transport]
        self.answers = []

    def server(self):
        if not self.http:
            command, *arguments = self.rest
            return StdioServerParameters(command=command, args=arguments)
        url, *token = self.rest
        headers = {"Authorization": f"Bearer {token[0]}"} if token else {}
        return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=PATIENCE))

    async def run(self):
        client = Client(
            self.server(),
            mode="legacy" if self.legacy else "auto",
            read_timeout_seconds=PATIENCE,
            elicitation_callback=None if self.mute else self.asked,
            logging_callback=self.logged,
            message_handler=self.came,
        )
        async with client, AsyncExitStack() as watching:
            server = plain(client.server_info) if client.server_info else None
            capabilities = plain(client.server_capabilities)
            say(connected={"server": server, "protocol": client.protocol_version, "capabilities": capabilities})
            steps = {"list": self.list, "call": self.call, "cancel": self.cancel, "watch": self.watch}
            async with anyio.create_task_group() as tasks:
                async for line in anyio.wrap_file(sys.stdin):
                    step = json.loads(line)
                    try:
                        await steps[step["do"]](client, step, watching, tasks)
                    except Exception as why:  # whatever it is: the test that waits for the step is to see it
                        say(failed=f"{type(why).__name__}: {why}")
                tasks.cancel_scope.cancel()

    async def list(self, client, _step, _watching, _tasks):
        tools, pages, cursor = [], 0, None
        while pages == 0 or cursor:
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            tools += [plain(tool) for tool in page.tools]
            pages, cursor = pages + 1, page.next_cursor
        say(tools=tools, pages=pages)

    async def call(self, client, step, _watching, _tasks):
        self.answers = step.get("answers", [])
        result = await client.call_tool(step["tool"], step.get("arguments"), progress_callback=self.progressed)
        say(result=plain(result))

    async def cancel(self, client, step, _watching, _tasks):
        with anyio.CancelScope() as scope:

            async def progressed(*signs):
                await self.progressed(*signs)
                scope.cancel()

            await client.call_tool(step["tool"], step.get("arguments"), progress_callback=progressed)
        say(cancelled=step["tool"] if scope.cancelled_caught else None)

    async def watch(self, client, _step, watching, tasks):
        # Before 2026-07-28 a server sends what changed without being asked, and `came` sees it.
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            changes = await watching.enter_async_context(client.listen(tools_list_changed=True))
            tasks.start_soon(self.follow, changes)
        say(watching=True)

    async def follow(self, changes):
        async for _ in changes:
            say(changed="tools")

    async def asked(self, _context, question):
        say(asked={"message": question.message, "form": question.requested_schema})
        return ElicitResult(**(self.answers.pop(0) if self.answers else {"action": "cancel"}))

    async def progressed(self, done, total, message):
        say(progress=[done, total, message])

    async def logged(self, line):
        say(log=[line.level, line.data])

    async def came(self, message):
        if self.legacy and getattr(message, "method", None) == "notifications/tools/list_changed":
            say(changed="tools")


anyio.run(Driver(sys.argv[1:]).run)
