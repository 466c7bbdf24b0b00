import { statedValue } from '../../parts/fact.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Deprecation, Selection } from '../../parts/versioning.ts';
import type { History } from '../../parts/versions/history.ts';
import type { Call, Reply } from '../call.ts';
import { deprecationHeaders } from '../deprecation.ts';
import type { Exchange, Plan } from '../exchange.ts';
import { type DeprecatedWords, deprecatedWords } from './deprecated-fields.ts';
import { pathReader } from './selection.ts';
import { pathOf } from './versions.ts';

type Headers = Readonly<Record<string, string>>;

/** What answers tell of the version that they are in, and of what is deprecated. */
export interface ToldVersion {
  /** Of a call that reached no endpoint. */
  unrouted(version: string | undefined): Headers | undefined;
  of(exchange: Exchange, reply: Reply): Headers | undefined;
}

/** What never differs between the answers of one endpoint in one view. */
interface Standing {
  /** Of every answer, whatever its status. */
  readonly always: readonly Deprecation[];
  readonly words: DeprecatedWords;
  readonly usual: Told;
  /** Of an answer that shows something. */
  readonly shown: Told;
}

/** Header fields that are made once, but for links to where the same request is answered in another version. */
interface Told {
  readonly headers: Headers;
  readonly successors: readonly string[];
}

/** Compiles it. A version that is chosen by a header is named by the same header, which the answer varies with. */
export function compileToldVersion(
  spec: Spec,
  history: History | undefined,
  selection: Selection | undefined,
  basePath: string,
): ToldVersion {
  const header = selection?.by === 'header' ? selection.carrier.toLowerCase() : undefined;
  const naming = (version: string | undefined): Record<string, string> =>
    header === undefined || version === undefined ? {} : { [header]: version, vary: (selection as Selection).carrier };
  const standings = new Map<Plan, Standing[]>();
  const versions = new Map(history?.versions.map((version) => [version.name, version]));

  function standingOf({ plan, view }: Exchange): Standing {
    const ofViews = standings.get(plan) ?? [];
    const known = ofViews[view.index];
    if (known) return known;
    const version = versions.get(view.version ?? '');
    const own = version && statedValue(version.deprecation);
    const always = [...(plan.endpoint.deprecated ? [plan.endpoint.deprecated] : []), ...(own ? [own] : [])];
    const words = deprecatedWords(spec, plan.endpoint, view.user);
    const made: Standing = {
      always,
      words,
      usual: tell(view.version, always),
      shown: tell(view.version, [...always, ...words.shown]),
    };
    ofViews[view.index] = made;
    standings.set(plan, ofViews);
    return made;
  }

  function tell(version: string | undefined, stated: readonly Deprecation[]): Told {
    const successors =
      selection && selection.by !== 'pin'
        ? stated.flatMap(({ alternative = '' }) => (versions.has(alternative) ? [alternative] : []))
        : [];
    return { headers: { ...naming(version), ...deprecationHeaders(stated) }, successors: [...new Set(successors)] };
  }

  /** Where a request is answered in another version: by a path or query, at another address; by a header, at its own. */
  function addressIn({ path, query }: Call, version: string): string {
    const more = query === '' ? '' : `?${query}`;
    if (selection?.by === 'path') {
      const found = pathReader(selection.carrier, basePath)(path);
      const rest = found && versions.has(found.name) ? found.path : path;
      return `${basePath}${pathOf(selection.carrier, version)}${rest.slice(basePath.length)}${more}`;
    }
    if (selection?.by !== 'query') return path + more;
    const parameters = new URLSearchParams(query);
    parameters.set(selection.carrier, version);
    return `${path}?${parameters}`;
  }

  return {
    unrouted: (version) => (header === undefined ? undefined : naming(version)),
    of(exchange, reply) {
      const { always, words, usual, shown } = standingOf(exchange);
      const isShown = reply.status < 300 && reply.body !== undefined;
      const used = words.used?.(exchange) ?? [];
      const { headers, successors } =
        used.length > 0
          ? tell(exchange.view.version, [...always, ...(isShown ? words.shown : []), ...used])
          : isShown
            ? shown
            : usual;
      if (successors.length === 0) return headers;
      let { link } = headers;
      for (const version of successors) {
        const own = `<${quoted(addressIn(exchange.call, version))}>; rel="successor-version"`;
        link = link === undefined ? own : `${link}, ${own}`;
      }
      return link === undefined ? headers : { ...headers, link };
    },
  };
}

/** An address as it may stand in a `Link` header, whatever was sent. */
function quoted(address: string): string {
  return /[<>"\s]/.test(address) ? address.replace(/[<>"\s]/g, encodeURIComponent) : address;
}
