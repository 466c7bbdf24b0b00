import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Spec } from '../../../parts/spec.ts';

/** Whether branches exclude each other for sure: by their types, or as resources by a constant of theirs. */
export function areApart(branches: readonly Json[], spec: Spec): boolean {
  const types = branches.map((branch) => (isMap(branch) ? (branch.resource === undefined ? branch.type : 'object') : undefined));
  if (types.every((type) => typeof type === 'string') && new Set(types).size === types.length) return true;
  const constants = branches.map((branch) => constantsOf(branch, spec));
  return [...(constants[0]?.keys() ?? [])].some((name) => {
    const values = constants.map((own) => own.get(name));
    return values.every((value) => value !== undefined) && new Set(values).size === values.length;
  });
}

/** The constants that every row of a resource has, by field, as text. */
function constantsOf(branch: Json, { resources }: Spec): ReadonlyMap<string, string> {
  const resource = isMap(branch) && typeof branch.resource === 'string' ? entryOf(resources.all, branch.resource) : undefined;
  const fields = resource ? entriesOf(resource.fields) : [];
  return new Map(
    fields.flatMap(([name, field]) => {
      const constant = statedValue(field.required) === true ? statedValue(field.shape)?.const : undefined;
      return constant === undefined ? [] : [[name, JSON.stringify(constant)] as const];
    }),
  );
}
