import { randomUUID } from 'node:crypto';
import { CODES, Refusal, refuse } from '../keeping/errors.js';
import { broken } from '../keeping/faults.js';
import { plugin } from '../keeping/plugin.js';
import { CURRENT, lacks, OLD, VERSIONS } from '../keeping/versions.js';

const MAX_URL = 2 * 1024;
const MAX_HEADERS = 16 * 1024;

/** What stands before every route: sizes, the route and its method, the version; and how a refusal is told. */
export const edge = plugin(async (app) => {
  const { clock } = app.deps;

  app.decorateRequest('version', CURRENT);

  const paths = new Map();
  app.addHook('onRoute', ({ method, url }) => {
    const path = `^${url.replaceAll(/:\w+/g, '[^/]+')}$`;
    paths.set(path, [...(paths.get(path) ?? []), method].flat());
  });
  const methodsOf = (path) => [...paths].filter(([pattern]) => new RegExp(pattern).test(path)).flatMap(([, methods]) => methods);

  app.addHook('onRequest', async (request, reply) => {
    const url = request.raw.url;
    if (!broken('li-url') && Buffer.byteLength(url) > MAX_URL) refuse('too_large');
    const { rawHeaders } = request.raw;
    if (rawHeaders.reduce((size, text) => size + text.length + 2, 0) > MAX_HEADERS && !broken('li-headers')) refuse('too_large');
    if (!broken('ve-vary')) reply.header('vary', 'Apiary-Version, X-Apiary-Key, Authorization');

    if (request.is404) {
      const path = url.split('?')[0];
      const allowed = methodsOf(path);
      if (allowed.length > 0 && !broken('en-method-missing'))
        refuse('no_such_method', { headers: { allow: allowed.join(', ') } });
      refuse('no_such_path');
    }
    const asked = request.headers[broken('ve-header-name') ? 'x-apiary-version' : 'apiary-version'];
    const version = asked ?? (broken('ve-default-old') ? OLD : CURRENT);
    if (!Object.hasOwn(VERSIONS, version)) {
      if (broken('ve-unknown-current')) request.version = CURRENT;
      else refuse('unknown_version');
    } else request.version = version;
    const { deprecated, sunset, link } = VERSIONS[request.version];
    if (deprecated !== undefined) {
      if (!broken('ve-deprecation')) reply.header('deprecation', `@${deprecated / 1000}`);
      if (!broken('ve-sunset-header')) reply.header('sunset', new Date(sunset).toUTCString());
      if (!broken('ve-link')) reply.header('link', `<${link}>; rel="deprecation", <${link}>; rel="sunset"`);
      if (clock.now() >= sunset && !broken('ve-sunset-served')) refuse('version_gone');
    }
    if (lacks(request.version, request.routeOptions.config.op)) refuse('no_such_path');
  });

  app.setNotFoundHandler(() => refuse('no_such_path'));

  app.setErrorHandler((error, request, reply) => {
    let refusal = error;
    if (!(error instanceof Refusal)) {
      if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') refusal = new Refusal('too_large');
      else if (error.code?.startsWith('FST_ERR_CTP')) refusal = new Refusal('unsupported_type');
      else if (error.code === 'FST_ERR_BAD_URL') refusal = new Refusal('no_such_path');
      else {
        if (process.env.APIARY_LOUD) console.error(error);
        request.log.error(error);
        refusal = new Refusal('broken');
      }
    }
    return reply.code(refusal.statusCode).headers(refusal.headers).type('application/json').send(refusal.body(request.id));
  });
});

/** How a request that never became one is told. */
export function clientError(error, socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
  const code = { ERR_HTTP_REQUEST_TIMEOUT: 'too_slow', HPE_HEADER_OVERFLOW: 'too_large' }[error.code] ?? 'malformed';
  const refusal = new Refusal(code);
  const body = JSON.stringify(refusal.body(randomUUID()));
  const [status] = CODES[code];
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
