import { isToken } from '../http-token.ts';
import { challengeOf, isInAuthorization, type SchemeKind } from './kind.ts';

/**
 * A key that was given out. HTTP registers no challenge for one: in `Authorization` it is named by its own prefix, elsewhere
 * `ApiKey realm="…", in="header", name="X-API-Key"` says where it stands.
 */
export const apiKey: SchemeKind = {
  type: 'api_key',
  meaning: 'A key that was given out, in a header, query parameter or cookie.',
  proof: 'key',
  challenge(asked) {
    const error = asked.isBad ? [['error', 'invalid_key'] as const] : [];
    if (isInAuthorization(asked) && asked.prefix !== undefined && isToken(asked.prefix)) {
      return challengeOf(asked.prefix, [['realm', asked.realm], ...error]);
    }
    return challengeOf('ApiKey', [['realm', asked.realm], ['in', asked.in], ['name', asked.name], ...error]);
  },
};
