import type { Json, JsonMap } from '../../src/document/document.ts';
import type { CheckReport, ServeOptions } from '../../src/index.ts';

/** The header in which a request of a story says who sends it. */
export const callerHeader = 'story-caller';

type Identify = NonNullable<ServeOptions['identify']>;

/**
 * Who calls in a story: `as: courier`, or `as: { user: courier, id: c7, scopes: [], attributes: { firm: north } }`, of a request or of the whole story;
 * else the first stated user. An id that is not said is `local`, and scopes that are not said are all that rules ask for.
 * `nobody` is a caller that shows nothing.
 */
export function callersOf({ spec }: CheckReport, as: Json | undefined): Identify {
  const { authentication, purpose } = spec;
  const rules = 'value' in authentication.permissions ? authentication.permissions.value : [];
  const scopes = [...new Set(rules.flatMap((rule) => rule.scopes))];
  const users = 'value' in purpose.users ? Object.keys(purpose.users.value) : [];
  return ({ headers }) => {
    const sent = headers[callerHeader];
    const said = sent === undefined ? as : (JSON.parse(String(sent)) as Json);
    if (said === 'nobody') return undefined;
    const who: JsonMap = typeof said === 'object' && said !== null ? (said as JsonMap) : { user: said ?? users[0] ?? '' };
    return {
      id: String(who.id ?? 'local'),
      user: String(who.user ?? users[0] ?? ''),
      scopes: Array.isArray(who.scopes) ? who.scopes.map(String) : scopes,
      ...(who.attributes !== undefined && { attributes: who.attributes as Readonly<Record<string, string>> }),
    };
  };
}
