import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import { isToken } from '../../kinds/http-token.ts';
import { kindOfScheme, type Scheme } from '../../parts/authentication.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { listed } from '../names.ts';
import { error, type Rule } from '../rule.ts';

/** How a request chooses its version. */
export const selectionRules: readonly Rule[] = [
  error(
    'versioning/path-template',
    'The path by which a version is chosen has no `{version}` in it.',
    'Write `path: "/{version}"`.',
    ({ spec }) => {
      const select = statedValue(spec.versioning.select);
      if (select?.by !== 'path' || select.carrier.includes('{version}')) return [];
      return [{ message: `\`${select.carrier}\` is the same for every version.`, at: below(select.at, 'path') }];
    },
  ),
  error(
    'versioning/two-selections',
    'A version is chosen in two ways, and nothing says which one counts.',
    'Keep one of header, path and query.',
    ({ spec }) => {
      const { select } = spec.versioning;
      const written = isStated(select) ? valueAt(spec.document.tree, select.at) : undefined;
      const ways = ['header', 'path', 'query'].filter((word) => isMap(written) && Object.hasOwn(written, word));
      return ways.length < 2
        ? []
        : [{ message: `${listed(ways)} all choose the version.`, at: below(select.at, ways[1] as string), onKey: true }];
    },
  ),
  error(
    'versioning/pinned-without-keys',
    "A version is pinned by a key's first call, and no scheme has keys.",
    'State a scheme of type api_key, or another `default`.',
    ({ spec }) => {
      const select = statedValue(spec.versioning.select);
      const { schemes } = spec.authentication;
      const isKnown = isStated(schemes) || schemes.standing === 'none';
      if (select?.default !== 'pinned' || !isKnown || entriesOf(schemes).some(([, scheme]) => mayHaveKeys(scheme))) return [];
      return [{ message: 'There are no keys that a version could be pinned to.', at: below(select.at, 'default') }];
    },
  ),
  error(
    'versioning/header',
    'The header that chooses a version is no header name.',
    'Write letters, digits and hyphens: `Parcels-Version`.',
    ({ spec }) => {
      const select = statedValue(spec.versioning.select);
      if (select?.by !== 'header' || isToken(select.carrier)) return [];
      return [{ message: `\`${select.carrier}\` is no header name.`, at: below(select.at, 'header') }];
    },
  ),
];

/** Whether keys are given out for a scheme, as far as its kind is known. */
function mayHaveKeys(scheme: Scheme): boolean {
  const kind = kindOfScheme(scheme);
  return kind === undefined || kind.proof?.by === 'key';
}
