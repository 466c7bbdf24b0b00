import { pathOf } from '../../document/pointer.ts';
import { isSame } from '../../document/values.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { mergeJson } from '../../parts/versions/json-merge.ts';
import { changedField, unknownField } from '../acts/wrong-fields.ts';
import type { Compilation } from '../compilation.ts';
import type { Exchange, Fields } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import type { Violation } from '../wire/violation.ts';
import { uncarried } from './raised-body.ts';

/** A merge patch of an older version on a row: what would be stored, or what is wrong with it in that version's words. */
export type OlderUpdate = (
  exchange: Exchange,
  before: Fields,
) => { readonly next: Fields } | { readonly violations: readonly Violation[] } | undefined;

/** Compiles it; nothing where the resource is the same in both versions. */
export function compileOlderUpdate(model: RowModel, { version }: Compilation): OlderUpdate | undefined {
  const carry = version?.carries.resource(model.name);
  const resource = version && entryOf(version.spec.resources.all, model.name);
  if (!version || !carry || !resource) return undefined;
  const validate = version.validate({ resource: model.name }, 'stored');
  const fields = statedValue(resource.fields) ?? {};
  return (exchange, before) => {
    const patch = exchange.older?.body;
    if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return undefined;
    // An object, by the test above.
    const sent = patch as Fields;
    const unknown = resource.additionalProperties ? [] : Object.keys(sent).filter((name) => !Object.hasOwn(fields, name));
    if (unknown.length > 0) return { violations: unknown.map((name) => unknownField(name, sent[name], model.name)) };
    const wrong = validate(mergeJson(carry.down(before), sent)).filter(({ path }) => touches(sent, path));
    if (wrong.length > 0) return { violations: wrong };
    try {
      const next = carry.merge(before, sent);
      const changed = model.immutable.filter((name) => {
        const older = carry.newer(name)?.older;
        return older !== undefined && sent[older] !== undefined && !isSame(next[name], before[name]);
      });
      if (changed.length === 0) return { next };
      const names = changed.map((name) => carry.newer(name)?.older ?? name);
      return { violations: names.map((name) => changedField(name, sent[name])) };
    } catch (failure) {
      return { violations: [uncarried(failure, sent)] };
    }
  };
}

/** Whether what is wrong lies in what was sent; a row that was right before is not held against its next patch. */
function touches(sent: Fields, path: string): boolean {
  const [field] = pathOf(path);
  return field === undefined || Object.hasOwn(sent, field);
}
