import { byKey, byToken } from '../keeping/callers.js';
import { refuse } from '../keeping/errors.js';
import { broken } from '../keeping/faults.js';
import { plugin } from '../keeping/plugin.js';

const unknown = () => refuse('who_are_you', { headers: { 'www-authenticate': 'Bearer realm="apiary"' } });

/** Who calls: a key, a token, or both if they are of one caller. */
export const callers = plugin(async (app) => {
  const { clock } = app.deps;
  app.decorateRequest('caller', null);

  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.public && !broken('au-public')) return;
    const key = request.headers['x-apiary-key'];
    const authorization = request.headers.authorization;
    const shown = [];
    if (key !== undefined) shown.push(byKey(key));
    if (authorization !== undefined && !(key !== undefined && broken('au-both'))) {
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      shown.push(token === undefined ? undefined : byToken(token, clock.now()));
    }
    if (shown.length === 0 || shown.includes(undefined)) unknown();
    if (broken('pu-users') && shown[0].users.includes('grocer')) unknown();
    const [first, second] = shown;
    if (second && (second.id !== first.id || second.users.join() !== first.users.join())) unknown();
    request.caller = { ...first, scopes: [...new Set(shown.flatMap(({ scopes }) => scopes))] };
  });
});
