import type { JsonMap } from '../../../document/document.ts';
import { newMap, type OpenMap } from '../../../document/values.ts';
import { acceptedSets } from '../../../parts/accepted.ts';
import { kindOfScheme, placed } from '../../../parts/authentication.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';
import { DefinitionNames } from '../../json-schema/write/view.ts';
import type { ProseAt } from '../../spec/prose.ts';

/** The security schemes of a service, and which of them a caller may show. */
export interface Security {
  readonly schemes: JsonMap;
  /** References to those that are accepted, each alone. */
  readonly accepted: readonly JsonMap[];
}

export function writeSecurity(spec: Spec, prose: ProseAt): Security {
  const names = new DefinitionNames();
  const schemes: OpenMap = newMap();
  const accepted: JsonMap[] = [];
  const sets = acceptedSets(spec.authentication);
  for (const [name, scheme] of entriesOf(spec.authentication.schemes)) {
    const written = kindOfScheme(scheme)?.toAsyncApi(placed(scheme));
    // One that has no word there, or of which too much is open.
    if (!written) continue;
    const key = names.claim(name);
    const description = prose(scheme.at).join('\n\n');
    schemes[key] = { ...written, ...(description !== '' && { description }), ...(key !== name && { 'x-ninefold-name': name }) };
    // Several at once are not said there.
    if (sets.some((set) => set.length === 1 && set[0] === name)) accepted.push({ $ref: `#/components/securitySchemes/${key}` });
  }
  return { schemes, accepted };
}
