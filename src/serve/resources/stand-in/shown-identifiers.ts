import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Resource } from '../../../parts/resources.ts';

/** The field by which rows of a resource are told apart where they are shown: of an identifier that is a whole place, and that nobody sees, the name in that place. */
export function shownIdentifier(resource: Resource): string | undefined {
  const own = statedValue(resource.identifier)?.field;
  if (own === undefined || entryOf(resource.fields, own)?.visible?.length !== 0) return own;
  const named = entriesOf(resource.fields).find(
    ([, { visible, set }]) => visible?.length !== 0 && /^params\.\w+$/.test(set.create?.source ?? ''),
  );
  return named?.[0] ?? own;
}
