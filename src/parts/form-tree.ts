import schema from '../../schema/ninefold.schema.json' with { type: 'json' };
import type { Json } from '../document/document.ts';
import { isOfType } from '../document/json-type.ts';
import { withKinds } from './kind-forms.ts';
import { isMap } from './source.ts';

/** The part of JSON Schema that the published schema is written in. */
export interface Form {
  readonly $ref?: string;
  readonly $comment?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Form[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly patternProperties?: Readonly<Record<string, Form>>;
  readonly additionalProperties?: boolean | Form;
  readonly items?: Form;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const definitions = withKinds((schema as unknown as { readonly $defs: Readonly<Record<string, Form>> }).$defs);

/** Follows a reference to `$defs`. */
export function resolve(form: Form): Form {
  let current = form;
  while (current.$ref !== undefined) current = definitions[current.$ref.slice('#/$defs/'.length)] ?? {};
  return current;
}

/** The forms that a form is a choice of, itself where it is none. */
export function choicesOf(form: Form): readonly Form[] {
  return (form.anyOf ?? [form]).map((one) => resolve(one));
}

/** The branches of a form, references and nested choices followed, that take a value of this JSON type. */
export function formsFor(form: Form, value: Json): Form[] {
  return branches(form).filter((branch) => takesType(branch, value));
}

/** The form of one key of a map: its own, or that of all the author's words. */
export function propertyForm(form: Form, key: string): Form | undefined {
  if (form.properties && Object.hasOwn(form.properties, key)) return form.properties[key];
  if (typeof form.additionalProperties === 'object') return form.additionalProperties;
  if (form.additionalProperties === true) return {};
  const patterns = Object.values(form.patternProperties ?? {});
  return patterns[0];
}

/** The map forms at a path of keys. */
export function formAt(form: Form, path: readonly string[]): Form[] {
  let current = branches(form);
  for (const key of path) current = current.flatMap((branch) => propertyForm(branch, key) ?? []).flatMap(branches);
  return current;
}

/** Whether a value is a standing in its JSON form, which is valid at any place and depth. */
export function isStanding(value: Json): boolean {
  return isMap(value) && ('$open' in value || '$none' in value || '$any' in value);
}

/** The forms that a form is a choice of, references and nested choices followed. */
export function branches(form: Form): Form[] {
  const resolved = resolve(form);
  return resolved.anyOf ? resolved.anyOf.flatMap(branches) : [resolved];
}

function takesType(form: Form, value: Json): boolean {
  if (form.const !== undefined) return form.const === value;
  if (form.enum) return form.enum.includes(value) || (typeof value !== 'object' && form.enum.length > 2);
  if (form.type === undefined) return true;
  const types = typeof form.type === 'string' ? [form.type] : form.type;
  return types.some((type) => isOfType(value, type));
}
