/** Ways of writing a document otherwise that leave what it says as it is. */
import type { Document, Json, JsonMap } from '../../src/document/document.ts';
import { isMap, mapAt, merged } from './layers.ts';

/** One way; nothing comes of it where a document has no room for it. */
export interface Rewriting {
  readonly name: string;
  rewrite(document: JsonMap): JsonMap;
}

/** The tree of a document as plain maps, which can be written as JSON. */
export function plainTree({ tree, title }: Document): JsonMap {
  // The cast holds: a tree is what can be written as JSON.
  return { title, ...(JSON.parse(JSON.stringify(tree)) as JsonMap) };
}

export const rewritings: readonly Rewriting[] = [
  { name: 'as JSON', rewrite: (document) => document },
  { name: 'in another order', rewrite: turned },
  { name: 'in long forms', rewrite: lengthened },
  { name: 'in short forms', rewrite: shortened },
  { name: 'with requests stated', rewrite: (document) => withEndpoints(document, statedRequest) },
  { name: 'with responses stated', rewrite: (document) => withEndpoints(document, statedResponse) },
];

/** Maps whose order says nothing, turned round. What errors and versions say depends on theirs. */
function turned(document: JsonMap): JsonMap {
  const turn = (value: Json): Json => (isMap(value) ? Object.fromEntries(Object.entries(value).reverse()) : value);
  const turnedBelow = (value: Json): Json =>
    isMap(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, turn(inner)])) : value;
  const parts = Object.entries(document).map(([part, value]): [string, Json] => {
    if (['resources', 'endpoints', 'states'].includes(part)) return [part, turnedBelow(value)];
    return [part, ['purpose', 'authentication', 'limits'].includes(part) ? turn(value) : value];
  });
  return Object.fromEntries(parts.reverse());
}

function lengthened(document: JsonMap): JsonMap {
  const resources = mapBelow(mapAt(document, 'resources'), (resource) =>
    'fields' in resource ? { ...resource, fields: eachValue(resource.fields, longField) } : resource,
  );
  const states = mapBelow(mapAt(document, 'states'), (machine) =>
    'transitions' in machine ? { ...machine, transitions: eachValue(machine.transitions, longTransition) } : machine,
  );
  return { ...document, ...(isMap(document.resources) && { resources }), ...(isMap(document.states) && { states }) };
}

function longField(field: Json): Json {
  if (typeof field !== 'string' || field.endsWith('?')) return field;
  return { type: field };
}

function longTransition(transition: Json): Json {
  const [from, to] = typeof transition === 'string' ? transition.split(' -> ') : [];
  if (from === undefined || to === undefined) return transition;
  return { from: from.split(', '), to };
}

function shortened(document: JsonMap): JsonMap {
  const single = (value: Json): Json =>
    Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value;
  const permissions = mapAt(document, 'authentication').permissions;
  const kinds = mapBelow(mapAt(document, 'events', 'kinds'), (kind) =>
    'on' in kind ? { ...kind, on: single(kind.on ?? []) } : kind,
  );
  return merged(document, {
    ...(Array.isArray(permissions) && {
      authentication: {
        permissions: permissions.map((rule) =>
          isMap(rule) && 'allow' in rule ? { ...rule, allow: single(rule.allow ?? []) } : rule,
        ),
      },
    }),
    ...(Object.keys(kinds).length > 0 && { events: { kinds } }),
  });
}

function eachValue(map: Json | undefined, change: (value: Json) => Json): Json {
  return isMap(map) ? Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)])) : (map ?? null);
}

function mapBelow(map: JsonMap, change: (value: JsonMap) => JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, isMap(value) ? change(value) : value]));
}

type Stating = (endpoint: JsonMap, verb: string, resource: string, document: JsonMap) => JsonMap;

function withEndpoints(document: JsonMap, state: Stating): JsonMap {
  const resources = mapAt(document, 'resources');
  const endpoints = mapBelow(mapAt(document, 'endpoints'), (endpoint) => {
    const [verb = '', ...rest] = typeof endpoint.does === 'string' ? endpoint.does.split(' ') : [];
    const name = rest.join(' ');
    return name in resources ? { ...state(endpoint, verb, name, document), ...endpoint } : endpoint;
  });
  return isMap(document.endpoints) ? { ...document, endpoints } : document;
}

/** The words of a field that are no words of a shape. */
const fieldWords = new Set(
  'required readOnly writeOnly immutable default set generate reveal visible writable stored ignore_case extensible onDelete show deprecated'.split(
    ' ',
  ),
);

/** What follows by rule for what makes a row whole, said. */
function statedRequest(endpoint: JsonMap, verb: string, resource: string, document: JsonMap): JsonMap {
  const stated = mapAt(document, 'resources', resource);
  const fields = mapAt(stated, 'fields');
  const bound = new Set(
    Object.keys(fields).filter((field) =>
      Object.entries(mapAt(document, 'endpoints')).some(([route, one]) => one === endpoint && route.includes(`{${field}}`)),
    ),
  );
  const machine = mapAt(document, 'states', resource);
  const identifier = mapAt(stated, 'identifier');
  const isSent = ([name, field]: [string, Json]): boolean =>
    !bound.has(name) &&
    name !== machine.field &&
    !(name === identifier.field && identifier.generate !== 'client') &&
    !(
      isMap(field) &&
      (field.readOnly === true ||
        'generate' in field ||
        'set' in field ||
        'writable' in field ||
        'visible' in field ||
        'show' in field)
    );
  if (verb !== 'create' || !isMap(stated.fields) || endpoint.consumes !== undefined || stated.additionalProperties === true)
    return {};
  if (
    !Object.entries(fields).every(
      ([, field]) => !isMap(field) || !('writable' in field || ('set' in field && field.readOnly !== true)),
    )
  )
    return {};
  const sent = Object.entries(fields).filter(isSent);
  const listed = Array.isArray(stated.required) ? stated.required.map(String) : undefined;
  const isRequired = (name: string, field: Json): boolean =>
    listed ? listed.includes(name) : isMap(field) && field.required === true;
  return {
    request: {
      type: 'object',
      properties: Object.fromEntries(
        sent.map(([name, field]): [string, Json] => [name, isMap(field) ? wordsOfShape(field) : field]),
      ),
      required: sent
        .filter(([name, field]) => isRequired(name, field) && !(isMap(field) && 'default' in field))
        .map(([name]) => name),
      additionalProperties: false,
    },
  };
}

function wordsOfShape(field: JsonMap): Json {
  return Object.fromEntries(
    Object.entries(field).filter(([word, value]) => !fieldWords.has(word) || (word === 'required' && Array.isArray(value))),
  );
}

/** What follows by rule for one row that is read or changed, said. */
function statedResponse(_endpoint: JsonMap, verb: string, resource: string): JsonMap {
  return ['read', 'update', 'replace'].includes(verb) ? { response: { 200: { shape: resource } } } : {};
}
