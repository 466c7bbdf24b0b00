import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { generators } from '../../../kinds/generators/all.ts';
import type { Generator } from '../../../kinds/generators/kind.ts';
import { readEffect } from '../../../parts/effects.ts';
import { conjunctionOf } from '../../../parts/shapes/branches.ts';
import { fitsSchema, isPattern } from '../read/keywords.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { type AboutResource, endpointOf, endpointsByResource, type InferenceContext, type InferenceRule } from './context.ts';
import { pathParts, singular, wholeParameter } from './paths.ts';
import { documentFields, identifierOf } from './rows.ts';

/** What a path's last parameter names is the identifier of the things below that path. */
export const identifier: InferenceRule = {
  name: 'identifier',
  says: 'The identifier is the field named as the last parameter of its path is, or one of the two that it names (`id_or_slug`), `id` first, or `name` where `id`, `name` and `type` are read-only texts, or `id`, or the last word of that name, in any case of letters; else the thing and `id`.',
  infer({ collections, resources, written, trail, byPath }) {
    const shortest = [...collections.values()].sort((a, b) => a.path.length - b.path.length);
    for (const { resource: name, parameter, path, field: meant } of shortest) {
      const resource = resources[name];
      if (!isMap(resource) || isMap(resource.identifier)) continue;
      const properties = isMap(resource.fields) ? written.propertiesOf(name) : undefined;
      const asked = byPath.get(`${path}/{}`)?.[0]?.parameters.find((one) => one.in === 'path' && one.name === parameter);
      const type = asked && isMap(asked.schema.value) ? asked.schema.value.type : undefined;
      const called = typeof type === 'string' ? type : undefined;
      const field =
        properties &&
        ((meant !== undefined && Object.hasOwn(properties.all, meant) ? meant : undefined) ??
          identifierOf(written, properties, parameter, called) ??
          identifierOf(written, properties, `${singular(pathParts(path).segments.at(-1) ?? '')}_id`));
      if (field === undefined) {
        collections.delete(path);
        continue;
      }
      resources[name] = { identifier: { field }, ...resource };
      const at = below('/resources', name);
      const from = trail.origin(below(below(at, 'fields'), field)) ?? trail.origin(at) ?? '';
      trail.infer(below(at, 'identifier'), identifier.name, from, field === 'id' || field === parameter ? 0.95 : 0.8);
    }
  },
};

/** How identifiers are made is only sometimes plain: a required one is the client's, a UUID says so itself, a pattern has a prefix. */
export const generatedIdentifier: InferenceRule = {
  name: 'generated-identifier',
  says: 'The client makes an identifier that a creation requires; else a UUID, a number, which is a whole one, and a pattern with a prefix say how they are made.',
  infer(context) {
    const { resources, trail } = context;
    const byResource = endpointsByResource(context);
    for (const [name, resource] of Object.entries(resources)) {
      if (!isMap(resource) || !isMap(resource.identifier) || resource.identifier.generate !== undefined) continue;
      const field = String(resource.identifier.field);
      const made = howMade(
        context,
        byResource.get(name) ?? [],
        field,
        shapeAsNamed(context, name, documentFields(resources, name)[field]),
      );
      if (made === undefined) continue;
      resources[name] = { ...resource, identifier: { field, generate: made.generate } };
      const at = below(below('/resources', name), 'identifier');
      trail.infer(below(at, 'generate'), generatedIdentifier.name, trail.origin(at) ?? '', made.confidence);
    }
  },
};

/** The shape of an identifier; where it is any text, that of the parameter by which paths tell such things apart, if that has a format. */
function shapeAsNamed(context: InferenceContext, name: string, shape: Json | undefined): Json | undefined {
  const { type, format, pattern, example } = context.written.expand(shape);
  if (type !== 'string' || format !== undefined || pattern !== undefined || example !== undefined) return shape;
  for (const { path, parameter, resource } of context.collections.values()) {
    if (resource !== name) continue;
    const operation = (context.byPath.get(`${path}/{}`) ?? [])[0];
    const schema = operation?.parameters.find((one) => one.in === 'path' && one.name === parameter)?.schema.value;
    if (isMap(schema) && schema.type === 'string' && schema.format !== undefined) return schema as Json;
  }
  return shape;
}

interface Made {
  readonly generate: string;
  readonly confidence: number;
}

function howMade(
  context: InferenceContext,
  about: readonly AboutResource[],
  field: string,
  shape: Json | undefined,
): Made | undefined {
  const creations = about.filter(({ verb }) => verb === 'create');
  const sent = creations.flatMap(({ endpoint }) => context.written.propertiesOf(endpoint.request) ?? []);
  if (sent.some(({ required }) => required.includes(field))) return { generate: 'client', confidence: 0.8 };
  const type = context.written.typeOf(shape);
  // A number that tells things apart is a whole one.
  if (type === 'number') return { generate: 'integer', confidence: 0.5 };
  if (sent.some(({ all }) => Object.hasOwn(all, field))) return undefined;
  if (type === 'integer') return { generate: 'integer', confidence: 0.6 };
  const { format, pattern, maxLength } = keywordsOf(context, shape);
  if (type !== 'string') return undefined;
  const fit = (sample: string) =>
    isPattern(String(pattern)) &&
    fitsSchema({ type: 'string', pattern: String(pattern), ...(typeof maxLength === 'number' && { maxLength }) }, sample);
  for (const { recognise } of generators as readonly Generator[]) {
    const recognised = recognise?.({ format, pattern });
    if (recognised === undefined) continue;
    const { template, sample, confidence } = recognised;
    return sample === undefined || fit(sample) ? { generate: template, confidence } : undefined;
  }
  return undefined;
}

/** The keywords of a shape and of the parts that it is made of. */
function keywordsOf(context: InferenceContext, shape: Json | undefined, steps = 0): Readonly<Record<string, Json>> {
  const own = context.written.expand(shape);
  const parts = steps < 8 ? conjunctionOf(own) : [];
  return Object.assign({}, ...parts.map((part) => keywordsOf(context, part, steps + 1)), own);
}

/** What no path leads to is a value, not a thing of its own. */
export const valueWithoutIdentifier: InferenceRule = {
  name: 'value-without-identifier',
  says: 'A schema whose things no path tells apart is a value without an identifier.',
  infer({ resources, trail }) {
    for (const [name, resource] of Object.entries(resources)) {
      if (!isMap(resource) || resource.identifier !== undefined || resource.fields === undefined) continue;
      const at = below('/resources', name);
      resources[name] = { identifier: 'none', ...resource };
      trail.infer(below(at, 'identifier'), valueWithoutIdentifier.name, trail.origin(at) ?? '', 0.7);
    }
  },
};

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
