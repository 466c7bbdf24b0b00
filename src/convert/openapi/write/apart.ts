import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';

/** Whether branches exclude each other for sure: by their types, or as resources by a constant of theirs. */
export function areApart(branches: readonly Json[], spec: Spec): boolean {
  const constants = branches.map((branch) => {
    const resource =
      isMap(branch) && typeof branch.resource === 'string' ? entryOf(spec.resources.all, branch.resource) : undefined;
    const fields = resource ? entriesOf(resource.fields) : [];
    return fields.flatMap(([name, field]) => {
      const constant = statedValue(field.required) === true ? statedValue(field.shape)?.const : undefined;
      return constant === undefined ? [] : [`${name} ${JSON.stringify(constant)}`];
    });
  });
  const types = branches.map((branch) => (isMap(branch) ? (branch.resource === undefined ? branch.type : 'object') : undefined));
  if (types.every((type) => typeof type === 'string') && new Set(types).size === types.length) return true;
  const names = constants.map((list) => list.map((text) => text.slice(0, text.indexOf(' '))));
  const shared = names[0]?.filter((name) => names.every((list) => list.includes(name))) ?? [];
  return shared.some((name) => {
    const values = constants.map((list) => list.find((text) => text.startsWith(`${name} `)));
    return new Set(values).size === values.length;
  });
}
