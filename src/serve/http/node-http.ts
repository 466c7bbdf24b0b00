import { createRequire } from 'node:module';

/**
 * `node:http`, without what an `import` of it brings along: that reads every export, and with them loads a client for `fetch` and
 * `WebSocket`, which takes 13 MiB and as long as a tenth of a start.
 */
// The name is that of the types.
export const { createServer, STATUS_CODES, validateHeaderName, validateHeaderValue } = createRequire(import.meta.url)(
  'node:http',
) as typeof import('node:http');
