import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Deprecation, Version } from '../../parts/versioning.ts';
import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import { deprecationFlaw, saysDeprecated } from './deprecation-fields.ts';

/** An answer names its version by the header that chooses one, and varies with it. */
export function nameJudgement(model: Model, version: string, seen: Exchange): Judgement {
  const select = statedValue(model.spec.versioning.select);
  if (select?.by !== 'header' || !isDone(seen)) return moot('no header names it, or it was refused');
  const named = seen.headers[select.carrier.toLowerCase()];
  return named === version
    ? undefined
    : { promised: `an answer names its version: ${select.carrier}: ${version}`, seen: named ?? `no ${select.carrier}` };
}

/** A version that is deprecated says so in its answers, and one that is not does not. */
export function toldJudgement(model: Model, endpoint: Endpoint, version: Version, seen: Exchange): Judgement {
  if (!isDone(seen)) return moot('it was refused');
  const stated = statedValue(version.deprecation);
  if (stated) {
    const flaw = deprecationFlaw([stated, ...(endpoint.deprecated ? [endpoint.deprecated] : [])], seen.headers);
    return flaw === undefined
      ? undefined
      : { promised: `${version.name} tells of its deprecation: ${described(stated)}`, seen: flaw };
  }
  // Something else about the answer may be deprecated.
  if (version.deprecation.standing !== 'none' || /"deprecated"/.test(JSON.stringify(model.spec.document.tree.resources ?? {})))
    return moot('it is not stated');
  if (endpoint.deprecated || JSON.stringify(endpoint.parameters).includes('"deprecated"')) return moot('its endpoint is');
  return saysDeprecated(seen.headers)
    ? {
        promised: `${version.name} is not deprecated`,
        seen: `Deprecation: ${seen.headers.deprecation ?? 'none'}, Sunset: ${seen.headers.sunset ?? 'none'}`,
      }
    : undefined;
}

function described({ deprecated, sunset, link }: Deprecation): string {
  return Object.entries({ deprecated, sunset, link })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
    .join(', ');
}
