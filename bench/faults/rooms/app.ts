/** The service: Fastify with its hooks, in the order of refusals that the document has. */
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { acceptsJson, decode } from './bodies.ts';
import { bookingRoutes } from './bookings.ts';
import { identify } from './callers.ts';
import { errorReply } from './errors.ts';
import { guestRoutes } from './guests.ts';
import { type House, nobody, Refused } from './house.ts';
import { keyRoutes } from './keys.ts';
import { openPlaces } from './places.ts';
import { quotas, startRates } from './rates.ts';
import { noQuery, roomRoutes } from './rooms.ts';
import { compileSchemas } from './schemas.ts';
import type { Streams } from './stream.ts';
import { transitionRoutes } from './transitions.ts';
import { pathRead, versionHeaders } from './versions.ts';

const urlBytesMax = 1024;
const prefix = '/api';

export function buildApp(house: House, streams: Streams): FastifyInstance {
  const { faults } = house;
  const app = Fastify({
    bodyLimit: 1024 * 1024,
    requestTimeout: faults.has('slow-request-awaited') ? 60_000 : 3000,
    keepAliveTimeout: 20_000,
    connectionTimeout: 0,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1000, ignoreTrailingSlash: faults.has('slash-ignored') },
    http: { connectionsCheckingInterval: 250, headersTimeout: 3000 },
    clientErrorHandler: (error, socket) => {
      const { status, text } = errorReply(
        house,
        new Refused(error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'TIMED_OUT' : 'BODY_UNREADABLE'),
      );
      const head = `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
      if (socket.writable) socket.end(`${head}Connection: close\r\n\r\n${text}`);
      else socket.destroy();
    },
    rewriteUrl: (request) => pathRead(request.url ?? '/', prefix).url,
  });
  const rates = startRates(house);
  const schemas = compileSchemas(faults);
  const places = openPlaces(app);

  app.decorateRequest('version', 'v3');
  app.decorateRequest('caller');
  app.decorateRequest('bytes');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', async (request) => {
    const target = request.originalUrl;
    if (Buffer.byteLength(target) > urlBytesMax && !faults.has('any-address-length')) throw new Refused('TOO_LARGE');
    const { operation = '', users, scopes, isNew } = request.routeOptions.config;
    if (request.is404) return;
    request.version = pathRead(target, prefix).versionOf(faults);
    if (isNew && request.version !== 'v3' && !faults.has('new-endpoint-in-old-version')) throw new Refused('NOT_FOUND');
    rates.first(operation, request.ip);
    request.caller = users ? await identify(house, request) : nobody;
    rates.second(operation, request.caller);
    if (users && !mayCall(house, operation, users, scopes, request))
      throw new Refused('FORBIDDEN', [], scopeHeaders(users, scopes, request));
    if (operation !== 'stream events' && !acceptsJson(request.headers.accept)) throw new Refused('NOT_ACCEPTABLE');
  });
  app.addHook('preValidation', async (request) => decode(house, request));
  app.addHook('onSend', async (request, reply, payload) => {
    const headers = versionHeaders(house, request, prefix);
    const links = [reply.getHeader('Link'), headers.Link].filter((link) => link !== undefined);
    reply.headers({ ...headers, ...(links.length > 0 && { Link: links.join(', ') }) });
    return payload;
  });

  app.setErrorHandler((error: FastifyError | Refused, _request, reply) => refuse(house, reply, error));
  app.setNotFoundHandler((request, reply) => notFound(house, places, request, reply));

  app.register(
    async (api) => {
      const parts = { house, schemas, quota: quotas(house) };
      api.get('/house', { config: { operation: 'house' } }, async (request) => {
        noQuery(request);
        return { name: 'Meeting Rooms', floors: 33 };
      });
      roomRoutes(api, parts);
      bookingRoutes(api, parts);
      transitionRoutes(api, parts);
      guestRoutes(api, parts);
      keyRoutes(api, parts);
      streams.route(api, house);
      if (faults.has('metrics-left-open'))
        api.delete('/house', { config: { operation: 'metrics' } }, async () => ({ uptime: 1 }));
    },
    { prefix },
  );
  return app;
}

function mayCall(
  { faults }: House,
  operation: string,
  users: readonly string[],
  scopes: Partial<Record<string, string>> | undefined,
  { caller }: FastifyRequest,
): boolean {
  const scope = scopes?.[caller.user];
  if (scope !== undefined && !caller.scopes.includes(scope) && !faults.has('scope-not-asked')) return false;
  if (faults.has('members-suspended') && caller.user === 'member') return false;
  if (operation === 'delete key' && faults.has('member-deletes-key')) return true;
  if (operation === 'confirm booking' && faults.has('member-confirms')) return true;
  if (operation === 'finish booking' && faults.has('host-cannot-finish')) return false;
  return users.includes(caller.user);
}

function scopeHeaders(
  users: readonly string[],
  scopes: Partial<Record<string, string>> | undefined,
  { caller }: FastifyRequest,
): Record<string, string> {
  const scope = scopes?.[caller.user];
  if (scope === undefined || !users.includes(caller.user)) return {};
  return { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
}

function refuse(house: House, reply: FastifyReply, error: FastifyError | Refused): FastifyReply {
  const refused = error instanceof Refused ? error : new Refused(error.statusCode === 413 ? 'TOO_LARGE' : 'BROKEN');
  // Who goes away in the middle of a request is no failure of the service.
  if (refused.code === 'BROKEN' && error.code !== 'ECONNRESET') console.error(error);
  const { status, type, text } = errorReply(house, refused);
  return reply
    .code(status)
    .headers({ ...refused.headers })
    .type(type)
    .send(text);
}

/** A path that no route has, a method that its path does not take, or a version that there is not. */
function notFound(
  house: House,
  places: ReturnType<typeof openPlaces>,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { faults } = house;
  const read = pathRead(request.originalUrl, prefix);
  const methods = places.methodsOf(read.url);
  if (methods.length > 0) {
    const Allow = [...methods, 'OPTIONS'].join(', ');
    if (request.method === 'OPTIONS') return reply.code(204).headers({ Allow }).send();
    if (!faults.has('method-answered-501')) return refuse(house, reply, new Refused('METHOD', [], { Allow }));
    return reply
      .code(501)
      .headers({ Allow })
      .send(JSON.parse(errorReply(house, new Refused('METHOD')).text));
  }
  const elsewhere = places.methodsOf(read.withoutFirst);
  if (elsewhere.includes(request.method)) {
    request.version = 'v3';
    const path = { path: 'version', expected: 'one of v1, v2, v3' };
    return refuse(house, reply, new Refused(faults.has('unknown-version-not-told') ? 'NOT_FOUND' : 'NO_SUCH_VERSION', [path]));
  }
  return refuse(house, reply, new Refused('NOT_FOUND'));
}
