import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import { pullOf } from '../../../parts/events.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { callableOperations, type Operation } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import { followsKey, originKey, ownKey, prefix, resourceKey, urlsOf } from '../own/stated-schema.ts';
import { pullOperation, webhooksOf } from './events.ts';
import { operationObject, tagOf } from './operations.ts';
import { errorPayload, type RefusalBody, refusalResponses } from './refusals.ts';
import { resourceSchema } from './resources.ts';
import { securityOf, securitySchemes } from './security.ts';
import { type Edition, type ExportWriting, present, startWriting, statedAt } from './writing.ts';

/** Writes a document as OpenAPI: all that OpenAPI can say in its own words, and the rest beside them. */
export function openApiDocument(spec: Spec, edition: Edition): JsonMap {
  const writing = startWriting(spec, edition);
  const payload = errorPayload(writing);
  const usual = securityOf({ name: '' }, spec);
  const paths = pathsOf(writing, payload, usual);
  const webhooks = webhooksOf(writing);
  const schemes = securitySchemes(writing);
  return withoutUnused(
    present({
      openapi: edition === '3.2' ? '3.2.0' : '3.1.1',
      info: infoOf(spec, writing),
      servers: serversOf(spec),
      security: usual,
      tags: tagsOf(writing, webhooks !== undefined),
      paths,
      webhooks,
      components: present({
        schemas: schemasOf(writing),
        ...writing.components.all(),
        securitySchemes: Object.keys(schemes).length > 0 ? schemes : undefined,
      }),
      [ownKey]: remainders(spec),
    }),
  );
}

function infoOf(spec: Spec, writing: ExportWriting): JsonMap {
  const current = entriesOf(spec.versioning.versions).find(([, version]) => version.current)?.[0];
  const purpose = statedValue(spec.purpose.purpose);
  const description = [...writing.prose(''), ...writing.prose('/purpose')].join('\n\n');
  const follows = [...(spec.title === '' ? ['title'] : []), 'version'];
  return present({
    title: spec.title === '' ? 'A service' : spec.title,
    summary: purpose === '' ? undefined : purpose,
    description: description === '' ? undefined : description,
    version: current ?? entriesOf(spec.versioning.versions).at(-1)?.[0] ?? 'unversioned',
    [followsKey]: follows,
  });
}

/** The base addresses; where the path chooses the version, each a second time with the version in it. */
function serversOf({ document, versioning }: Spec): readonly Json[] | undefined {
  const urls = urlsOf(statedAt(document.tree, 'purpose', 'base_url'));
  if (!urls) return undefined;
  const select = statedValue(versioning.select);
  const versions = entriesOf(versioning.versions);
  const current = versions.find(([, { current: isCurrent }]) => isCurrent)?.[0] ?? versions.at(-1)?.[0];
  if (select?.by !== 'path' || current === undefined) return urls.map((url) => ({ url }));
  const variables = { version: { default: current, enum: versions.map(([name]) => name) } };
  const chosen = urls.map((url) => ({
    url: `${url.replace(/\/$/, '')}${select.carrier}`,
    description: 'The version that the path names.',
    variables,
    [followsKey]: true,
  }));
  return [...urls.map((url) => ({ url })), ...chosen];
}

/** A tag for each group of operations, in the order in which they come, with what the document says of the resource. */
function tagsOf(writing: ExportWriting, hasWebhooks: boolean): readonly Json[] {
  const { spec } = writing;
  const tags = new Map<string, Json>();
  for (const { endpoint, resource, name } of callableOperations(spec)) {
    if (!endpoint && name !== pullOf(spec.events)?.operation.name) continue;
    const tag = endpoint ? tagOf(endpoint, spec) : 'Events';
    if (tags.has(tag)) continue;
    const at = resource === undefined ? undefined : entryOf(spec.resources.all, resource)?.at;
    const description = at === undefined ? '' : writing.prose(at).join('\n\n');
    tags.set(tag, present({ name: tag, description: description === '' ? undefined : description }));
  }
  const events = writing.prose('/events').join('\n\n');
  if (hasWebhooks || tags.has('Events'))
    tags.set('Events', present({ name: 'Events', description: events === '' ? undefined : events }));
  return [...tags.values()];
}

/** Every definition by its name: each resource's whole statement with what is made of it for requests, then the rest. */
function schemasOf(writing: ExportWriting): JsonMap {
  const { spec, schemas, reading } = writing;
  const wholes = new Map(
    entriesOf(spec.resources.all).map(([name, resource]) => [
      String(schemas.resource(name, 'answer').$ref),
      resourceSchema(resource, writing),
    ]),
  );
  const groups = new Map<string, OpenMap>(entriesOf(spec.resources.all).map(([name]) => [name, newMap()]));
  const others = newMap();
  for (const [name, schema] of Object.entries(schemas.definitions())) {
    const ref = `#/components/schemas/${name}`;
    const resource = reading.resourceOf(ref);
    const group = resource === undefined ? undefined : groups.get(resource);
    if (group)
      group[name] = wholes.get(ref) ?? { ...(isPlainMap(schema) ? schema : {}), [originKey]: resource ?? '', [followsKey]: true };
    else others[name] = schema;
  }
  return Object.assign(newMap(), ...groups.values(), others);
}

/** Leaves out definitions that nothing speaks of; a resource's own speaks for itself. */
function withoutUnused(document: JsonMap): JsonMap {
  const { components, ...rest } = document;
  const { schemas, ...shared } = isPlainMap(components) ? components : {};
  if (!isPlainMap(schemas)) return document;
  const roots = Object.values(schemas).filter((schema) => isPlainMap(schema) && schema[resourceKey] !== undefined);
  const waiting = [JSON.stringify([rest, shared, roots])];
  const used = new Set<string>();
  for (const text of waiting) {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      waiting.push(JSON.stringify(schemas[name] ?? null));
    }
  }
  const kept = newMap();
  for (const [name, schema] of Object.entries(schemas)) {
    if (used.has(name) || (isPlainMap(schema) && schema[resourceKey] !== undefined)) kept[name] = schema;
  }
  return { ...document, components: { ...(Object.keys(kept).length > 0 && { schemas: kept }), ...shared } };
}

/**
 * What the parts state that belongs to no single operation or schema: of each part that the document has, whatever no other
 * place of the export says.
 */
function remainders(spec: Spec): JsonMap {
  const { tree } = spec.document;
  const out = newMap();
  for (const [part, stated] of Object.entries(tree)) out[part] = remainderOf(part, stated, spec);
  return out;
}

function remainderOf(part: string, stated: Json, spec: Spec): Json {
  if (!isMap(stated) || isStanding(stated)) return stated;
  const said = Object.hasOwn(saidElsewhere, part) ? saidElsewhere[part]?.(stated, spec) : undefined;
  if (!said) return stated;
  const rest = newMap();
  for (const [word, value] of Object.entries(stated)) {
    const inner = said(word, value);
    if (inner !== undefined) rest[word] = inner;
  }
  return rest;
}

/** What is left of a word; undefined where another place says all of it. */
type Left = (word: string, value: Json) => Json | undefined;

const saidElsewhere: Readonly<Record<string, (stated: JsonMap, spec: Spec) => Left>> = {
  purpose: () => (word, value) => {
    if (word === 'purpose') return typeof value === 'string' && value !== '' ? undefined : value;
    return word === 'base_url' && urlsOf(value) ? undefined : value;
  },
  resources: () => unless((word) => word !== 'others'),
  states: (_, { resources }) => {
    const known = new Set(entriesOf(resources.all).map(([name]) => name));
    return unless((word) => known.has(word));
  },
  endpoints: () => unless((word) => word !== 'others' && word !== 'defaults'),
  authentication: (_, { authentication }) =>
    unless((word) => word === 'schemes' && isStated(authentication.schemes) && entriesOf(authentication.schemes).length > 0),
  events:
    (_, { events }) =>
    (word, value) => {
      const isSent = statedValue(events.delivery)?.push !== undefined && entriesOf(events.kinds).length > 0;
      if (word !== 'kinds' || !isSent || !isMap(value)) return value;
      return value.others === undefined ? undefined : { others: value.others };
    },
  errors:
    (_, { errors }) =>
    (word, value) => {
      const payload = statedValue(errors.payload);
      if (word !== 'payload' || !isMap(value) || payload === undefined || payload === 'problem' || !isStated(payload.shape))
        return value;
      const { shape: _shape, ...rest } = value;
      return rest;
    },
};

function unless(isSaid: (word: string) => boolean): Left {
  return (word, value) => (isSaid(word) ? undefined : value);
}

/** The methods that OpenAPI has a word for. */
const methods: ReadonlySet<string> = new Set('get put post delete options head patch trace'.split(' '));

/** Every endpoint under its path, in the order of the document, and the stream of events. */
function pathsOf(writing: ExportWriting, payload: RefusalBody, usual: Json | undefined): JsonMap {
  const paths: Record<string, OpenMap> = newMap() as Record<string, OpenMap>;
  const templates = new Map<string, string>();
  for (const operation of callableOperations(writing.spec)) {
    const { endpoint } = operation;
    if (!endpoint) continue;
    const path = endpoint.path.startsWith('/') ? endpoint.path : `/${endpoint.path}`;
    // Two templates that differ in the names of their parameters alone are one path of OpenAPI.
    const key = templates.get(path.replace(/\{[^{}]*\}/g, '{}')) ?? path;
    templates.set(path.replace(/\{[^{}]*\}/g, '{}'), key);
    const written = operationObject(operation, endpoint, writing, payload, usual);
    place(paths, key, endpoint.method, key === endpoint.path ? written : renamed(written, endpoint.path, key), writing);
  }
  const pull = pullOf(writing.spec.events);
  if (pull?.path.startsWith('/')) {
    const written = withRefusals(pull.operation, pullOperation(pull, writing), writing, payload, usual);
    place(paths, pull.path, pull.method, written, writing);
  }
  return paths;
}

function place(
  paths: Record<string, OpenMap>,
  path: string,
  method: string,
  operation: JsonMap,
  { edition }: ExportWriting,
): void {
  const item = paths[path] ?? newMap();
  paths[path] = item;
  const word = method.toLowerCase();
  if (methods.has(word) || (edition === '3.2' && word === 'query')) item[word] = operation;
  else {
    const key = edition === '3.2' ? 'additionalOperations' : `${prefix}operations`;
    item[key] = { ...(isPlainMap(item[key]) ? item[key] : {}), [method]: operation };
  }
}

/** An operation whose path stands under another template: its parameters bear that template's names. */
function renamed(operation: JsonMap, path: string, key: string): JsonMap {
  const own = pathParameters(path);
  const there = pathParameters(key);
  const parameters = Array.isArray(operation.parameters) ? (operation.parameters as readonly Json[]) : [];
  return {
    ...operation,
    parameters: parameters.map((one) => {
      const at = isPlainMap(one) && one.in === 'path' ? own.indexOf(String(one.name)) : -1;
      return isPlainMap(one) && at >= 0 && there[at] !== own[at]
        ? { ...one, name: there[at] ?? '', [`${prefix}name`]: own[at] ?? '' }
        : one;
    }),
    [`${prefix}path`]: path,
  };
}

function withRefusals(
  operation: Operation,
  written: JsonMap,
  writing: ExportWriting,
  payload: RefusalBody,
  usual: Json | undefined,
): JsonMap {
  const security = securityOf(operation, writing.spec);
  return present({
    ...written,
    responses: {
      ...(isPlainMap(written.responses) ? written.responses : {}),
      ...Object.fromEntries(refusalResponses(operation, writing, payload)),
    },
    security: security === undefined || JSON.stringify(security) === JSON.stringify(usual) ? undefined : security,
    [followsKey]: true,
  });
}
