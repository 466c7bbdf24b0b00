import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { endpointOf, type InferenceContext, type InferenceRule } from './context.ts';
import { wholeParameter } from './paths.ts';
import { documentFields } from './rows.ts';

/** `409: The list with this name already exists.` */
export const namedConflicts: InferenceRule = {
  name: 'named-conflicts',
  says: 'Where making a thing may be refused with 409, in whose words a field that such a thing has is taken already (`` the same `import_id` already exists ``, `name conflicts with an existing object`), no two have that value; a field that is not marked as one only where nothing is said of the place in which it is taken.',
  infer(context) {
    for (const operation of context.operations) {
      const { does } = endpointOf(context, operation);
      const effect = typeof does === 'string' ? readEffect(does) : undefined;
      if (effect?.verb !== 'create') continue;
      const entry = context.resources[effect.resource];
      const field = fieldTaken(context, operation, effect.resource);
      if (
        field === undefined ||
        !isMap(entry) ||
        !isMap(entry.identifier) ||
        entry.identifier.field === field ||
        entry.unique !== undefined
      )
        continue;
      made(entry).unique = [[field]];
      const at = below(below('/resources', effect.resource), 'unique');
      context.trail.infer(at, namedConflicts.name, operation.map.at, 0.6);
    }
  },
};

function fieldTaken(context: InferenceContext, { responses, path }: SourceOperation, resource: string): string | undefined {
  const description = responses.find(({ status }) => status === '409')?.map.value.description;
  if (typeof description !== 'string' || !isTaken.test(description)) return undefined;
  const fields = documentFields(context.resources, resource);
  const isText = (name: string | undefined): name is string =>
    name !== undefined &&
    Object.hasOwn(fields, name) &&
    ['string', 'integer'].includes(context.written.typeOf(fields[name]) ?? '');
  const marked = [...description.matchAll(/[`"']([A-Za-z_][\w-]*)[`"']/g)].map(([, word]) => word).filter(isText);
  if (marked.length > 0) return marked.length === 1 ? marked[0] : undefined;
  // Below another thing, and in a place that the words name, the same is taken there alone.
  if (inSomePlace.test(description) || path.split('/').some((segment) => wholeParameter(segment) !== undefined)) return undefined;
  const [, after, before] = plainly.exec(description) ?? [];
  const named = (after ?? before)?.toLowerCase();
  return isText(named) ? named : undefined;
}

const isTaken = /\balready\b|\bconflicts? with an? existing\b|\b(?:is|was) (?:taken|in use)\b|\bduplicate\b/i;
const inSomePlace = /\b(?:in|within|on|under|inside|of|for) (?:the|this|that|a|an|the same|its)\b/i;
const names = 'name|slug|key|e-?mail|username|login|handle|alias|code|title|identifier';
const plainly = new RegExp(
  `\\b(?:same|given|this|that|such|duplicate) (${names})\\b|\\b(${names}) (?:is |was )?(?:already|conflicts|taken|in use)\\b`,
  'i',
);
