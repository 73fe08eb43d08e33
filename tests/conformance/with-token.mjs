// The suite has no option for a token. This stands between it and the host, adds the token to every request, and changes nothing else.
//
//   HERMES_HOST_TOKEN=… with-token.mjs URL       prints the URL to give to the suite

import http from "node:http";

const url = new URL(process.argv[2]);
const authorization = ["Authorization", `Bearer ${process.env.HERMES_HOST_TOKEN}`];

const server = http.createServer((given, answer) => {
  const headers = [...given.rawHeaders, ...authorization];
  const options = { host: url.hostname, port: url.port, method: given.method, path: given.url, headers };
  const request = http.request(options, (reply) => {
    answer.writeHead(reply.statusCode, reply.rawHeaders);
    answer.flushHeaders();
    reply.pipe(answer);
  });
  given.pipe(request);
  answer.on("close", () => request.destroy());
  request.on("error", () => answer.destroy());
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}${url.pathname}`));
