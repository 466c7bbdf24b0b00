import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { pointerOf } from '../../../document/pointer.ts';
import { valueAt } from '../../../document/source.ts';
import { isMap, isSame, newMap, type OpenMap } from '../../../document/values.ts';
import { schemeKinds } from '../../../kinds/schemes/all.ts';
import type { SchemeKind } from '../../../kinds/schemes/kind.ts';
import { openApiFlows, statedFlows } from '../../../kinds/schemes/oauth2.ts';
import { methodOf, type OperationReading, readKinds, readOwnEndpoints } from './endpoints.ts';
import { inOrder, readResource, readWrittenForms, withWrittenForms } from './resources.ts';
import {
  carriedWord,
  errorPayloadKey,
  followingWords,
  isFollowing,
  originKey,
  ownKey,
  readStated,
  resourceKey,
  statedKey,
  urlsOf,
} from './stated-schema.ts';
import { raised } from './version-3-0.ts';

/** A document that was read back from our own export. */
export interface ReadBack {
  readonly title: string;
  readonly tree: JsonMap;
  /** Where each place of the tree is read from: a pointer into the export by a pointer into the tree. */
  readonly from: ReadonlyMap<Pointer, Pointer>;
  /** What is said in prose: of a place of the tree, by the description of a place of the export. */
  readonly prose: readonly { readonly at: Pointer; readonly from: Pointer; readonly text: string }[];
}

/**
 * Reads an export of ours back as the document that it was made of. OpenAPI's own words count first; `x-ninefold` and the
 * `x-ninefold-…` beside them say the rest.
 */
export function readOwnExport(given: JsonMap): ReadBack {
  const source = raised(given);
  const carried = isMap(source[ownKey]) ? source[ownKey] : newMap();
  const { written, order, ...parts } = carried;
  const places = new Map<Pointer, Pointer>();
  const reading = readingOf(source);
  const tree: OpenMap = Object.assign(newMap(), parts);
  const note = (at: readonly string[], from: readonly string[]) => places.set(pointerOf(at), pointerOf(from));
  for (const part of Object.keys(parts)) note([part], [ownKey, part]);
  takePurpose(source, tree, note);
  takeResources(source, tree, reading, note);
  takeEndpoints(source, tree, reading, note);
  takeSchemes(source, tree, note);
  takeEvents(source, tree, reading, note);
  takeErrorPayload(source, tree, reading, note);
  const info = isMap(source.info) ? source.info : newMap();
  const title = typeof info.title === 'string' && !followingWords(info).includes('title') ? info.title : '';
  return {
    title,
    tree: inOrder(withWrittenForms(tree, readWrittenForms(written)), order),
    from: places,
    prose: proseIn(source, places),
  };
}

type Note = (at: readonly string[], from: readonly string[]) => void;

/** A part as a map to be filled, where it is one or something is to be put there. */
function partOf(tree: OpenMap, part: string): OpenMap {
  const known = tree[part];
  const map: OpenMap = Object.assign(newMap(), isMap(known) ? known : {});
  tree[part] = map;
  return map;
}

function takePurpose(source: JsonMap, tree: OpenMap, note: Note): void {
  const info = isMap(source.info) ? source.info : newMap();
  const own = newMap();
  if (typeof info.summary === 'string' && info.summary !== '') {
    own.purpose = info.summary;
    note(['purpose', 'purpose'], ['info', 'summary']);
  }
  const servers = Array.isArray(source.servers) ? (source.servers as readonly Json[]) : [];
  const stated = servers.flatMap((server) =>
    isMap(server) && !isFollowing(server) && server.url !== undefined ? [server.url] : [],
  );
  const urls = urlsOf(stated);
  if (urls) {
    own.base_url = urls.length === 1 ? (urls[0] ?? '') : urls;
    note(['purpose', 'base_url'], ['servers']);
  }
  if (Object.keys(own).length > 0) tree.purpose = { ...own, ...partOf(tree, 'purpose'), ...own };
}

function schemasOf(source: JsonMap): JsonMap {
  const components = isMap(source.components) ? source.components : newMap();
  return isMap(components.schemas) ? components.schemas : newMap();
}

function readingOf(source: JsonMap): OperationReading {
  const prefix = '#/components/schemas/';
  const resources = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemasOf(source))) {
    const resource = isMap(schema) ? (schema[resourceKey] ?? schema[originKey]) : undefined;
    if (typeof resource === 'string') resources.set(prefix + name, resource);
  }
  const components = isMap(source.components) ? source.components : newMap();
  return {
    resourceOf: (ref) => resources.get(ref),
    resolve(value) {
      const ref = isMap(value) ? value.$ref : undefined;
      const [, kind = '', name = ''] = (typeof ref === 'string' && /^#\/components\/([^/]+)\/([^/]+)$/.exec(ref)) || [];
      const group = components[kind];
      return isMap(group) ? (group[name] ?? value) : value;
    },
  };
}

function takeResources(source: JsonMap, tree: OpenMap, reading: OperationReading, note: Note): void {
  for (const [name, schema] of Object.entries(schemasOf(source))) {
    const resource = isMap(schema) ? schema[resourceKey] : undefined;
    if (!isMap(schema) || typeof resource !== 'string') continue;
    const { stated, states } = readResource(schema, reading);
    const from = ['components', 'schemas', name];
    partOf(tree, 'resources')[resource] = stated;
    note(['resources', resource], from);
    for (const field of Object.keys(isMap(schema.properties) ? schema.properties : {}))
      note(['resources', resource, 'fields', field], [...from, 'properties', field]);
    if (states === undefined) continue;
    partOf(tree, 'states')[resource] = states;
    note(['states', resource], from);
  }
}

function takeEndpoints(source: JsonMap, tree: OpenMap, reading: OperationReading, note: Note): void {
  for (const { key, stated, from } of readOwnEndpoints(source.paths, reading)) {
    partOf(tree, 'endpoints')[key] = stated;
    note(['endpoints', key], from);
  }
}

function takeSchemes(source: JsonMap, tree: OpenMap, note: Note): void {
  const components = isMap(source.components) ? source.components : newMap();
  const schemes = newMap();
  for (const [key, scheme] of Object.entries(isMap(components.securitySchemes) ? components.securitySchemes : {})) {
    if (!isMap(scheme)) continue;
    const name = typeof scheme['x-ninefold-name'] === 'string' ? scheme['x-ninefold-name'] : key;
    schemes[name] = readScheme(scheme);
    note(['authentication', 'schemes', name], ['components', 'securitySchemes', key]);
  }
  if (Object.keys(schemes).length > 0) tree.authentication = { schemes, ...partOf(tree, 'authentication') };
}

function takeEvents(source: JsonMap, tree: OpenMap, reading: OperationReading, note: Note): void {
  const hooks = source.webhooks ?? source['x-webhooks'];
  const kinds = readKinds(hooks, reading);
  if (!kinds) return;
  const events = partOf(tree, 'events');
  events.kinds = { ...kinds, ...(isMap(events.kinds) ? events.kinds : {}) };
  for (const name of Object.keys(kinds))
    note(['events', 'kinds', name], ['webhooks', name, isMap(hooks) ? methodOf(hooks[name]) : '']);
}

/** The stated shape of refusals is the component that says so of itself. */
function takeErrorPayload(source: JsonMap, tree: OpenMap, reading: OperationReading, note: Note): void {
  for (const [name, schema] of Object.entries(schemasOf(source))) {
    if (!isMap(schema) || schema[errorPayloadKey] === undefined) continue;
    const { [errorPayloadKey]: _mark, ...shape } = schema;
    const errors = partOf(tree, 'errors');
    errors.payload = { ...(isMap(errors.payload) ? errors.payload : {}), shape: readStated(shape, reading) };
    note(['errors', 'payload', 'shape'], ['components', 'schemas', name]);
  }
}

/** Descriptions are prose wherever this language has no word for one: of the whole, of groups, and of what says that it follows. */
function proseIn(source: JsonMap, places: ReadonlyMap<Pointer, Pointer>): ReadBack['prose'] {
  const found = [...places].flatMap(([at, from]) => {
    const place = valueAt(source, from);
    const isStated = /^\/resources\/[^/]+\/fields\//.test(at) && isMap(place) && !followingWords(place).includes('description');
    const isProse = /^\/(?:resources|endpoints)\/|^\/authentication\/schemes\/|^\/events\/kinds\//.test(at);
    const text = isMap(place) && isProse && !isStated ? place.description : undefined;
    return typeof text === 'string' ? [{ at, from, text }] : [];
  });
  const info = isMap(source.info) ? source.info.description : undefined;
  const tags = Array.isArray(source.tags) ? (source.tags as readonly Json[]) : [];
  const events = tags.findIndex((tag) => isMap(tag) && tag.name === 'Events' && typeof tag.description === 'string');
  const said = events >= 0 ? valueAt(source, `/tags/${events}/description`) : undefined;
  return [
    ...(typeof info === 'string' ? [{ at: '', from: '/info', text: info }] : []),
    ...found,
    ...(typeof said === 'string' ? [{ at: '/events', from: `/tags/${events}`, text: said }] : []),
  ];
}

const kinds: readonly SchemeKind[] = schemeKinds;

/** Reads a security scheme back. */
function readScheme(scheme: JsonMap): Json {
  const whole = scheme[statedKey];
  if (whole !== undefined) return whole;
  const out = newMap();
  const told = kinds.find((kind) => kind.isInOpenApi(scheme))?.word;
  if (told !== undefined) out.type = told;
  for (const [key, value] of Object.entries(scheme)) {
    const word = carriedWord(key);
    if (word !== undefined && word !== 'name') out[word] = value;
  }
  if (scheme.type === 'apiKey') takeCarrier(scheme, told, out);
  if (isMap(scheme.flows)) takeFlows(scheme.flows, out);
  return out;
}

/** Where the credential stands; what is open of it is carried, and a place that was never stated stays so. */
function takeCarrier({ in: place, name }: JsonMap, told: string | undefined, out: OpenMap): void {
  if (typeof place !== 'string' || typeof name !== 'string' || out[place] !== undefined) return;
  const usual = kinds.find(({ word }) => word === out.type)?.usualHeader ?? 'Authorization';
  if (out.type !== told && name === usual) return;
  for (const other of ['header', 'query', 'cookie']) delete out[other];
  out[place] = name;
}

function takeFlows(flows: JsonMap, out: OpenMap): void {
  const carried = isMap(out.flows) ? openApiFlows(out.flows, isMap(out.scopes) ? out.scopes : {}) : undefined;
  if (carried && isSame(carried, flows)) return;
  const read = statedFlows(flows);
  out.flows = read.flows;
  if (Object.keys(read.scopes).length > 0) out.scopes = read.scopes;
}
