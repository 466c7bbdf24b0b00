import schema from '../../schema/ninefold.schema.json' with { type: 'json' };
import type { Document, Finding, Json, JsonMap, Pointer } from '../document/document.ts';
import { nearest } from '../document/nearest.ts';
import { below } from '../document/pointer.ts';
import { placeOf } from '../document/source.ts';
import { isOfType } from '../document/values.ts';
import { keyMeant } from './key-words.ts';
import { withKinds } from './kind-forms.ts';
import { isPlainMap } from './source.ts';

/** Whether `word` is a key that the language itself has at this place; the reader of Markdown asks before it takes a table for facts. */
export function isKey(path: readonly string[], word: string): boolean {
  return formAt(schema as FormSchema, path).some((form) => form.properties !== undefined && Object.hasOwn(form.properties, word));
}

/** The keys that the language itself has at this place. */
export function keysAt(path: readonly string[]): string[] {
  return formAt(schema as FormSchema, path).flatMap((form) => Object.keys(form.properties ?? {}));
}

/** Holds a document's tree to the published schema: unknown keys with the nearest known one, values of the wrong form, stray nulls. */
export function checkForm(document: Document): Finding[] {
  const findings: Finding[] = [];
  const walk = { document, findings };
  for (const [key, value] of Object.entries(document.tree)) {
    const form = propertyForm(resolve(schema as FormSchema), key);
    if (form) checkValue(walk, value, form, below('', key));
  }
  return findings;
}

interface Walk {
  readonly document: Document;
  readonly findings: Finding[];
}

function checkValue(walk: Walk, value: Json, form: FormSchema, at: Pointer): void {
  const resolved = resolve(form);
  if (Object.keys(resolved).every((key) => key === 'description')) return;
  if (isStanding(value)) return;
  if (value === null) {
    report(
      walk,
      'form/null',
      'A null is no value here.',
      at,
      'Leave the key out, or write `none`, `any` or `!open "the question"`.',
    );
    return;
  }
  const forms = formsFor(resolved, value);
  if (forms.length === 0) {
    report(walk, 'form/wrong-value', `${describeValue(value)} does not fit here.`, at, expectation(resolved, value));
    return;
  }
  let best: Misfit | undefined;
  for (const candidate of forms) {
    const found = misfits(walk, value, candidate, at);
    if (found.length === 0) return;
    const misfit = { strangers: strangersIn(value, candidate), found };
    if (!best || isCloser(misfit, best)) best = misfit;
  }
  walk.findings.push(...(best?.found ?? []));
}

/** What is wrong with a value under one form. */
interface Misfit {
  /** How many of its own keys the form does not know. */
  readonly strangers: number;
  readonly found: readonly Finding[];
}

/** Whose keys are known is what was meant, however much is wrong inside; then what has least wrong. */
function isCloser(one: Misfit, other: Misfit): boolean {
  return one.strangers === other.strangers ? one.found.length < other.found.length : one.strangers < other.strangers;
}

function strangersIn(value: Json, form: FormSchema): number {
  return isPlainMap(value) ? Object.keys(value).filter((key) => propertyForm(form, key) === undefined).length : 0;
}

/** What is wrong with a value under one form of its own JSON type. */
function misfits(walk: Walk, value: Json, form: FormSchema, at: Pointer): Finding[] {
  const inner: Walk = { document: walk.document, findings: [] };
  if (Array.isArray(value)) checkList(inner, value, form, at);
  else if (isPlainMap(value)) checkMap(inner, value, form, at);
  else checkScalar(inner, value, form, at);
  return inner.findings;
}

function checkList(walk: Walk, list: readonly Json[], form: FormSchema, at: Pointer): void {
  if (form.minItems !== undefined && list.length < form.minItems) {
    report(walk, 'form/wrong-value', `This list needs ${form.minItems} or more items.`, at, `Write ${form.minItems} or more.`);
  }
  if (form.maxItems !== undefined && list.length > form.maxItems) {
    report(
      walk,
      'form/wrong-value',
      `This list takes ${form.maxItems} ${form.maxItems === 1 ? 'item' : 'items'} at the most.`,
      at,
      form.maxItems === 1 && typeof list[0] === 'string' ? `Write \`[${list[0]}]\`.` : `Write ${form.maxItems} or fewer.`,
    );
  }
  if (form.items) for (const [index, item] of list.entries()) checkValue(walk, item, form.items, below(at, index));
}

function checkMap(walk: Walk, map: JsonMap, form: FormSchema, at: Pointer): void {
  for (const [key, value] of Object.entries(map)) {
    const property = propertyForm(form, key);
    const place = below(at, key);
    if (property) checkValue(walk, value, property, place);
    else reportUnknown(walk, key, Object.keys(form.properties ?? {}), place, map.type);
  }
}

function reportUnknown(walk: Walk, key: string, known: readonly string[], at: Pointer, type: Json | undefined): void {
  const meant = keyMeant(key, known, type);
  const close = nearest(key, known);
  const elsewhere = close ? undefined : homeOf(key, at);
  const here = `Known here: ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`;
  const remedy = meant ?? (close ? `Write \`${close}\`.` : elsewhere ? `It stands under \`${elsewhere}\`.` : here);
  const place = walk.document.places.get(`${at}#`) ?? placeOf(walk.document, at);
  walk.findings.push({
    code: 'form/unknown-key',
    severity: 'error',
    message: `\`${key}\` is no key of this place.`,
    remedy,
    at,
    place,
  });
}

/** The one other part of a document that has a key of that name at its top. */
function homeOf(key: string, at: Pointer): string | undefined {
  const own = at.split('/')[1];
  const parts = Object.keys((schema as FormSchema).properties ?? {});
  const homes = parts.filter((part) => part !== own && keysAt([part]).includes(key));
  return homes.length === 1 ? homes[0] : undefined;
}

function checkScalar(walk: Walk, value: Json, form: FormSchema, at: Pointer): void {
  const problem = scalarProblem(value, form);
  if (problem) report(walk, 'form/wrong-value', problem, at, expectation(form, value));
}

function scalarProblem(value: Json, form: FormSchema): string | undefined {
  if (form.const !== undefined && form.const !== value) return `${describeValue(value)} does not fit here.`;
  if (form.enum && !form.enum.includes(value)) return `${describeValue(value)} is none of the words of this place.`;
  if (typeof value === 'number') {
    if (form.minimum !== undefined && value < form.minimum) return `${value} is below ${form.minimum}.`;
    if (form.maximum !== undefined && value > form.maximum) return `${value} is above ${form.maximum}.`;
  }
  return undefined;
}

/** What to write instead, in words. */
function expectation(form: FormSchema, value: Json): string {
  const words = wordsOf(form);
  if (typeof value === 'string') {
    const close = nearest(value, words);
    if (close) return `Write \`${close}\`.`;
  }
  const kinds = new Map(branches(form).flatMap((branch) => kindOf(branch).map((kind) => [kind, exampleOf(branch)])));
  const told = [...kinds].map(([kind, example]) => (example === undefined ? kind : `${kind} such as \`${written(example)}\``));
  return `Write ${[...told, ...(words.length > 0 ? [`one of ${words.join(', ')}`] : [])].join(', or ')}.`;
}

/** A value of a form, where it or that of its items has one. */
function exampleOf({ examples, items }: FormSchema): Json | undefined {
  if (examples !== undefined || items === undefined) return examples?.[0];
  const [item] = branches(items).flatMap((branch) => branch.examples ?? []);
  return item === undefined ? undefined : [item];
}

/** An example on one line, as YAML and as the documents here have it. */
function written(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (!isPlainMap(value)) return String(value);
  const entries = Object.entries(value).map(([key, inner]) => `${key}: ${written(inner)}`);
  return `{ ${entries.join(', ')} }`;
}

function wordsOf(form: FormSchema): string[] {
  const values = branches(form).flatMap((branch) => [
    ...(branch.enum ?? []),
    ...(branch.const !== undefined ? [branch.const] : []),
  ]);
  return values.filter((word): word is string => typeof word === 'string');
}

function kindOf(form: FormSchema): string[] {
  if (form.const !== undefined || form.enum || form.$comment === 'standing') return [];
  const choices = choicesOf(form);
  if (choices[0] !== form) return choices.flatMap(kindOf);
  const article: Readonly<Record<string, string>> = {
    object: 'a map',
    array: 'a list',
    string: 'a text',
    number: 'a number',
    integer: 'a whole number',
    boolean: 'true or false',
  };
  const types = typeof form.type === 'string' ? [form.type] : (form.type ?? []);
  if (types[0] === 'object' && isOfStanding(form)) return [];
  return types.map((type) => article[type] ?? type);
}

function describeValue(value: Json): string {
  if (Array.isArray(value)) return 'A list';
  if (isPlainMap(value)) return 'A map';
  return `\`${String(value).slice(0, 60)}\``;
}

function report(walk: Walk, code: string, message: string, at: Pointer, remedy: string): void {
  walk.findings.push({ code, severity: 'error', message, remedy, at, place: placeOf(walk.document, at) });
}

/** The part of JSON Schema that the published schema is written in. */
interface FormSchema {
  readonly $ref?: string;
  readonly $comment?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly FormSchema[];
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly patternProperties?: Readonly<Record<string, FormSchema>>;
  readonly additionalProperties?: boolean | FormSchema;
  readonly items?: FormSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly Json[];
}

const definitions = withKinds((schema as unknown as { readonly $defs: Readonly<Record<string, FormSchema>> }).$defs);

/** Follows a reference to `$defs`. */
function resolve(form: FormSchema): FormSchema {
  let current = form;
  while (current.$ref !== undefined) current = definitions[current.$ref.slice('#/$defs/'.length)] ?? {};
  return current;
}

/** The forms that a form is a choice of, itself where it is none. */
function choicesOf(form: FormSchema): readonly FormSchema[] {
  return (form.anyOf ?? [form]).map((one) => resolve(one));
}

/** The branches of a form, references and nested choices followed, that take a value of this JSON type; none of them is a standing's, nor is the value. */
function formsFor(form: FormSchema, value: Json): FormSchema[] {
  return branches(form).filter((branch) => takesType(branch, value) && !isOfStanding(branch));
}

function isOfStanding({ properties = {} }: FormSchema): boolean {
  return '$open' in properties || '$none' in properties || '$any' in properties;
}

/** The form of one key of a map: its own, or that of all the author's words. */
function propertyForm(form: FormSchema, key: string): FormSchema | undefined {
  if (form.properties && Object.hasOwn(form.properties, key)) return form.properties[key];
  if (typeof form.additionalProperties === 'object') return form.additionalProperties;
  if (form.additionalProperties === true) return {};
  const patterns = Object.values(form.patternProperties ?? {});
  return patterns[0];
}

/** The map forms at a path of keys. */
function formAt(form: FormSchema, path: readonly string[]): FormSchema[] {
  let current = branches(form);
  for (const key of path) current = current.flatMap((branch) => propertyForm(branch, key) ?? []).flatMap(branches);
  return current;
}

/** Whether a value is a standing in its JSON form, which is valid at any place and depth. */
function isStanding(value: Json): boolean {
  return isPlainMap(value) && ('$open' in value || '$none' in value || '$any' in value);
}

/** The forms that a form is a choice of, references and nested choices followed. */
function branches(form: FormSchema): FormSchema[] {
  const resolved = resolve(form);
  return resolved.anyOf ? resolved.anyOf.flatMap(branches) : [resolved];
}

function takesType(form: FormSchema, value: Json): boolean {
  if (form.const !== undefined) return form.const === value;
  if (form.enum) return form.enum.includes(value) || (typeof value !== 'object' && form.enum.length > 2);
  if (form.type === undefined) return true;
  const types = typeof form.type === 'string' ? [form.type] : form.type;
  return types.some((type) => isOfType(value, type));
}
