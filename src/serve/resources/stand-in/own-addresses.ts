import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { basePath } from '../../../parts/purpose.ts';
import type { Field } from '../../../parts/resources.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Fields } from '../../exchange/exchange.ts';
import type { RowModel } from '../model.ts';
import type { Likeness } from './likeness.ts';

/** Fields in which a thing says at which path it is: `id: /subscriptions/{subscriptionId}/…/clusters/{clusterName}`, `href: /v1/things/7`. */

/** The paths that a row says of itself, by field. */
type AddressesOf = (row: Fields) => Readonly<Record<string, string>>;

/** Compiles them for a resource: of each text whose example is a path of the thing, or whose description has the form of one. */
export function compileOwnAddresses(spec: Spec, model: RowModel, samples: Samples, likeness: Likeness): AddressesOf {
  const templates = pathsOf(spec, model.name);
  const base = segmentsOf(basePath(spec.purpose));
  const example = likeness.exampleOf(model.name) ?? {};
  const own = [...model.fields].flatMap(([name, field]) => {
    if (name === model.identifier.field || field.ref !== undefined || field.visible?.length === 0) return [];
    const { type, enum: listed, description, example: shown } = samples.whole(statedValue(field.shape) ?? {});
    if (type !== 'string' || listed !== undefined) return [];
    for (const template of templates)
      for (const whole of base.length === 0 ? [template] : [template, [...base, ...template]]) {
        const isShown = [example[name], shown].some((one) => typeof one === 'string' && isPathOf(one, whole));
        if (isShown || isFormOf(description, whole) || (name === 'id' && isNamedByPath(model))) return [{ name, field, whole }];
      }
    return [];
  });
  if (own.length === 0) return () => none;
  const inPlace = placedFields(spec, model);
  return (row) => Object.fromEntries(own.flatMap((one) => addressIn(row, one, model, samples, inPlace)));
}

/** The fields whose values are whole places, of which a path has the last part: an identifier that nobody sees, and references to such. */
function placedFields(spec: Spec, { identifier, fields }: RowModel): ReadonlySet<string> {
  const isPlace = (resource: string): boolean => {
    const of = entryOf(spec.resources.all, resource);
    const field = of && statedValue(of.identifier)?.field;
    return field !== undefined && of !== undefined && entryOf(of.fields, field)?.visible?.length === 0;
  };
  const own = fields.get(identifier.field)?.visible?.length === 0 ? [identifier.field] : [];
  return new Set([...own, ...[...fields].flatMap(([name, { ref }]) => (ref !== undefined && isPlace(ref) ? [name] : []))]);
}

/** Whether `id`, `name` and `type` are the service's own, and the path has the name: `id` is the whole path then. */
function isNamedByPath({ identifier, fields }: RowModel): boolean {
  const isName = identifier.field === 'name' || fields.get(identifier.field)?.visible?.length === 0;
  return isName && ['id', 'name', 'type'].every((name) => fields.get(name)?.readOnly === true);
}

const none = {};

interface OwnAddress {
  readonly name: string;
  readonly field: Field;
  readonly whole: readonly string[];
}

function addressIn(
  row: Fields,
  { name, field, whole }: OwnAddress,
  { identifier }: RowModel,
  samples: Samples,
  inPlace: ReadonlySet<string>,
): [string, string][] {
  const filled = whole.map((segment, at) => {
    const parameter = parameterIn(segment);
    if (parameter === undefined) return segment;
    const field = at === whole.length - 1 ? identifier.field : parameter;
    const value = inPlace.has(field) ? String(row[field] ?? '').replace(/^.*\//, '') : row[field];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  });
  const text = `/${filled.join('/')}`;
  return filled.includes(undefined) || !samples.of(statedValue(field.shape) ?? {}, name).fits(text) ? [] : [[name, text]];
}

/** The paths at which one thing of a resource is: those that end with what it is told from others by. */
function pathsOf(spec: Spec, resource: string): readonly (readonly string[])[] {
  const all = entriesOf(spec.endpoints.all).flatMap(([, { does, path }]) => {
    const effect = statedValue(does);
    const isOfOne = effect && 'resource' in effect && effect.resource === resource && ofOne.has(effect.verb);
    const segments = segmentsOf(path.replace(/[?#].*$/, ''));
    return isOfOne && parameterIn(segments.at(-1) ?? '') !== undefined ? [segments] : [];
  });
  return entryOf(spec.resources.all, resource) ? [...new Map(all.map((one) => [one.join('/'), one])).values()] : [];
}

const ofOne: ReadonlySet<string> = new Set(['read', 'upsert', 'update', 'replace', 'delete']);

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function parameterIn(segment: string): string | undefined {
  return /^\{([^{}]+)\}$/.exec(segment)?.[1];
}

/** Whether a text is a path of that form, whatever it has in the place of parameters. */
function isPathOf(text: string, template: readonly string[]): boolean {
  const segments = text.startsWith('/') ? segmentsOf(text) : [];
  return (
    segments.length === template.length &&
    template.some((segment) => parameterIn(segment) === undefined) &&
    template.every((segment, at) => parameterIn(segment) !== undefined || isSameWord(segment, segments[at]))
  );
}

/** Whether a description has a path with places of parameters that begins where the template does. */
function isFormOf(description: unknown, template: readonly string[]): boolean {
  if (typeof description !== 'string') return false;
  const [form = ''] = /(?:\/(?:[\w.-]+|\{\w+\})){3,20}/.exec(description.slice(0, readMost)) ?? [];
  const segments = segmentsOf(form);
  const [first = ''] = segments;
  return segments.filter((segment) => parameterIn(segment) !== undefined).length > 1 && isSameWord(first, template[0]);
}

const readMost = 400;

function isSameWord(one: string, other: string | undefined): boolean {
  return parameterIn(one) === undefined && one.toLowerCase() === other?.toLowerCase();
}
