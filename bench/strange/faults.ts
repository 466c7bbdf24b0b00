/** Faults of a service that serves a drawn document: it serves another document than the one that it is held to. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap, mapAt } from '../../test/strange/layers.ts';
import { chanceOf } from '../drawn/chance.ts';
import { type Change, secondWaveFaults } from './second-wave-faults.ts';

/** One fault, and the document that a service with it serves. */
export interface StrangeFault {
  /** What goes wrong, and where: `the least of a number is not looked at: item.small`. */
  readonly id: string;
  readonly part: string;
  readonly served: JsonMap;
}

/** Every fault that a document has room for, in an order of the seed: one of each sort before a second of any. */
export function faultsIn(document: JsonMap, seed: number): StrangeFault[] {
  const all = Object.entries(byPart).flatMap(([part, changes]) =>
    changes(document).map(({ id, at, to }) => ({ id, part, served: changed(document, at, to) })),
  );
  const met = new Map<string, number>();
  const ranked = chanceOf(seed)
    .shuffled(all)
    .map((fault) => {
      const sort = sortOf(fault);
      const rank = met.get(sort) ?? 0;
      met.set(sort, rank + 1);
      return { fault, rank };
    });
  return ranked.sort((one, other) => one.rank - other.rank).map(({ fault }) => fault);
}

/** What goes wrong, wherever it does. */
export function sortOf({ id, part }: Pick<StrangeFault, 'id' | 'part'>): string {
  return `${part}: ${id.split(':')[0]?.replace(/ (by_\S+|rule \d+)/, '')}`;
}

function changed(value: JsonMap, [key = '', ...rest]: readonly string[], to: Json | undefined): JsonMap {
  const below = value[key];
  const kept = Object.entries(value);
  if (rest.length === 0) {
    if (to === undefined) return Object.fromEntries(kept.filter(([name]) => name !== key));
    return { ...value, [key]: to };
  }
  if (Array.isArray(below)) {
    const [at = '', ...further] = rest;
    const items = below.map((item, index): Json => {
      if (String(index) !== at) return item;
      return further.length === 0 ? (to ?? item) : changed(isMap(item) ? item : {}, further, to);
    });
    return { ...value, [key]: items };
  }
  return { ...value, [key]: changed(isMap(below) ? below : {}, rest, to) };
}

const byPart: Readonly<Record<string, (document: JsonMap) => Change[]>> = {
  resources: (document) =>
    namesOf(document).flatMap((name) =>
      Object.entries(mapAt(document, 'resources', name, 'fields')).flatMap(([field, stated]) =>
        isMap(stated) && !isAddress(document, name, field) && !isOwn(document, name, field)
          ? fieldFaults(name, field, stated)
          : [],
      ),
    ),
  states: (document) =>
    Object.entries(mapAt(document, 'states')).flatMap(([name, machine]) => (isMap(machine) ? machineFaults(name, machine) : [])),
  endpoints: (document) =>
    Object.entries(mapAt(document, 'endpoints')).flatMap(([route, stated]) =>
      isMap(stated) && route !== 'defaults' ? endpointFaults(route, stated) : [],
    ),
  authentication: (document) => permissionFaults(document),
  events: (document) => eventFaults(document),
  errors: (document) => errorFaults(document),
  limits: (document) => limitFaults(document),
  versioning: (document) => versionFaults(document),
  'second wave': secondWaveFaults,
};

/** The resources that have endpoints to be looked at by. */
function namesOf(document: JsonMap): string[] {
  const text = JSON.stringify(document.endpoints);
  return Object.keys(mapAt(document, 'resources')).filter((name) => text.includes(`"read ${name}"`));
}

/** What is no address of a subscriber is refused for that, whatever is stated of it. */
function isAddress(document: JsonMap, resource: string, field: string): boolean {
  const { resource: subscriber, url } = mapAt(document, 'events', 'delivery', 'webhook', 'subscribers');
  return resource === subscriber && field === url;
}

/** What the service gives by itself, and nobody may send, is there whatever else is stated of it. */
function isOwn(document: JsonMap, resource: string, field: string): boolean {
  const { field: identifier, generate } = mapAt(document, 'resources', resource, 'identifier');
  return field === identifier && generate !== 'client';
}

function fieldFaults(resource: string, field: string, stated: JsonMap): Change[] {
  const at = ['resources', resource, 'fields', field];
  const change = (what: string, word: string, to: Json | undefined): Change => ({
    id: `${what}: ${resource}.${field}`,
    at: [...at, word],
    to,
  });
  const faults: Change[] = [];
  const isSent = stated.readOnly !== true && stated.stored !== false && !('derive' in stated);
  if (!isSent && stated.readOnly !== true && !('derive' in stated)) return [];
  const looser = [
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
    'pattern',
    'multipleOf',
    'exclusiveMinimum',
    'maxItems',
    'minItems',
    'uniqueItems',
    'format',
  ];
  if (isSent && !('visible' in stated) && !('writable' in stated))
    for (const word of looser)
      if (word in stated && stated.format !== 'idn-hostname') faults.push(change(`${word} is not looked at`, word, undefined));
  const least = stated.minimum;
  if (isSent && typeof least === 'number' && stated.type === 'integer')
    faults.push(change('the least is one off', 'minimum', least + 1));
  if (isSent && Array.isArray(stated.enum) && stated.enum.length > 1 && !('default' in stated))
    faults.push(change('a value of the list is refused', 'enum', stated.enum.slice(1)));
  if (stated.immutable === true) faults.push(change('what is fixed can be changed', 'immutable', undefined));
  if (stated.writeOnly === true) faults.push(change('what is written only is shown', 'writeOnly', undefined));
  if (stated.visible === 'none') faults.push(change('what is hidden is shown', 'visible', undefined));
  if ('default' in stated && typeof stated.default === 'boolean')
    faults.push(change('another default', 'default', !stated.default));
  if (isMap(stated.set) && 'update' in stated.set)
    faults.push(change('an update forgets to set it', 'set', omitted(stated.set, 'update')));
  if (isMap(stated.set) && stated.set.create === 'now')
    faults.push(change('it is set to long ago', 'set', { ...stated.set, create: "timestamp('2001-01-01T00:00:00Z')" }));
  if (stated.required === true && isSent && !('default' in stated))
    faults.push(change('what is required may be left out', 'required', false));
  if (stated.ignore_case === true) faults.push(change('case is told apart', 'ignore_case', undefined));
  return faults;
}

function omitted(map: JsonMap, key: string): JsonMap {
  return Object.fromEntries(Object.entries(map).filter(([name]) => name !== key));
}

function machineFaults(resource: string, machine: JsonMap): Change[] {
  const states = Array.isArray(machine.states) ? machine.states.map(String) : [];
  return Object.entries(mapAt(machine, 'transitions')).flatMap(([name, stated]): Change[] => {
    const at = ['states', resource, 'transitions', name];
    if (typeof stated === 'string') {
      const [from = '', to = ''] = stated.split(' -> ');
      const other = states.find((state) => state !== from && state !== to);
      return [
        { id: `a transition starts anywhere: ${name} ${resource}`, at, to: { from: '*', to } },
        ...(other === undefined
          ? []
          : [{ id: `a transition leads elsewhere: ${name} ${resource}`, at, to: { from, to: other } }]),
      ];
    }
    if (!isMap(stated) || typeof stated.after !== 'string') return [];
    return [{ id: `the clock is late: ${name} ${resource}`, at: [...at, 'after'], to: '9d' }];
  });
}

function endpointFaults(route: string, stated: JsonMap): Change[] {
  const at = ['endpoints', route];
  const change = (what: string, path: readonly string[], to: Json | undefined): Change => ({
    id: `${what}: ${route}`,
    at: [...at, ...path],
    to,
  });
  const faults: Change[] = [];
  for (const [parameter, words] of Object.entries(mapAt(stated, 'parameters'))) {
    if (!isMap(words)) continue;
    if (words.op === '=') faults.push(change(`the filter ${parameter} turns round`, ['parameters', parameter, 'op'], '!='));
    if (words.op === '<') faults.push(change(`the filter ${parameter} takes its edge`, ['parameters', parameter, 'op'], '<='));
    if (words.op === '>=')
      faults.push(change(`the filter ${parameter} leaves out its edge`, ['parameters', parameter, 'op'], '>'));
  }
  if (typeof stated.order === 'string')
    faults.push(
      change('the order is turned', ['order'], stated.order.startsWith('-') ? stated.order.slice(1) : `-${stated.order}`),
    );
  const pages = stated.pagination;
  if (isMap(pages) && typeof pages.max === 'number') {
    faults.push(change('pages may be larger', ['pagination', 'max'], pages.max + 1));
    if (typeof pages.default === 'number' && pages.default > 1)
      faults.push(change('pages are smaller by themselves', ['pagination', 'default'], pages.default - 1));
    if (pages.items === 'rows' && !('response' in stated)) {
      faults.push(change('the rows stand elsewhere', ['pagination', 'items'], 'lines'));
      faults.push(change('it is not said whether there is more', ['pagination', 'has_more'], undefined));
    }
  }
  if (stated.if_match === 'required') faults.push(change('a tag is not asked for', ['if_match'], 'accepted'));
  if (stated.if_match === 'required' || stated.if_match === 'accepted')
    faults.push(change('tags are not looked at', ['if_match'], 'none'));
  if (stated.etag === 'strong' && !('if_match' in stated)) faults.push(change('tags are weak', ['etag'], 'weak'));
  if ('idempotency' in stated) faults.push(change('a key is forgotten', ['idempotency'], undefined));
  if ('in' in stated) faults.push(change('it is possible in every state', ['in'], undefined));
  if (typeof stated.cache === 'string') faults.push(change('what may be kept is not said', ['cache'], undefined));
  faults.push(...answerFaults(route, stated), { id: `it is not there: ${route}`, at, to: undefined });
  return faults;
}

function answerFaults(route: string, stated: JsonMap): Change[] {
  return Object.entries(mapAt(stated, 'response')).flatMap(([status, answer]): Change[] => {
    const at = ['endpoints', route, 'response'];
    const others = isMap(answer)
      ? [{ id: `another status: ${route}`, at, to: { [status === '200' ? '202' : '200']: answer } }]
      : [];
    if (!isMap(answer) || !isMap(answer.data)) return others;
    const [first = ''] = Object.keys(answer.data);
    const bare = isMap(answer.shape) ? { ...answer, shape: { type: 'object' }, data: omitted(answer.data, first) } : answer;
    return [...others, { id: `${first} is left out of the answer: ${route}`, at: [...at, status], to: bare }];
  });
}

function permissionFaults(document: JsonMap): Change[] {
  const { permissions, public: open } = mapAt(document, 'authentication');
  if (!Array.isArray(permissions)) return [];
  const isOpen = (name: Json): boolean => Array.isArray(open) && open.includes(name);
  return permissions.flatMap((rule, index): Change[] => {
    // Of what is open to anyone no rule says who may.
    if (!isMap(rule) || (Array.isArray(rule.allow) && rule.allow.every(isOpen))) return [];
    const at = ['authentication', 'permissions', String(index)];
    const what = `rule ${index + 1}`;
    return [
      ...('if' in rule ? [{ id: `rows of others are open: ${what}`, at: [...at, 'if'], to: undefined }] : []),
      ...(rule.to === 'writer' ? [{ id: `every user may: ${what}`, at: [...at, 'to'], to: ['reader', 'writer'] }] : []),
      ...(Array.isArray(rule.to)
        ? [
            { id: `one user may not: ${what}`, at: [...at, 'to'], to: 'writer' },
            { id: `anyone may: ${what}`, at: [...at, 'to'], to: 'anyone' },
          ]
        : []),
    ];
  });
}

function eventFaults(document: JsonMap): Change[] {
  const kinds = Object.entries(mapAt(document, 'events', 'kinds'));
  const delivery = mapAt(document, 'events', 'delivery');
  if (!('webhook' in delivery) && !('stream' in delivery)) return [];
  const changes = kinds.flatMap(([kind, stated]): Change[] => {
    if (!isMap(stated)) return [];
    const at = ['events', 'kinds', kind];
    return [
      { id: `it is never sent: ${kind}`, at: [...at, 'if'], to: 'false' },
      ...('if' in stated ? [{ id: `it is sent at all times: ${kind}`, at: [...at, 'if'], to: undefined }] : []),
      ...('to' in stated ? [{ id: `others hear of it: ${kind}`, at: [...at, 'to'], to: undefined }] : []),
    ];
  });
  const signature = mapAt(delivery, 'webhook').signature;
  if (isMap(signature))
    changes.push({
      id: 'another signature',
      at: ['events', 'delivery', 'webhook', 'signature', 'signs'],
      to: '{timestamp}:{body}',
    });
  if (isMap(delivery.envelope))
    changes.push({ id: 'another envelope', at: ['events', 'delivery', 'envelope', 'kind'], to: "'thing'" });
  return changes;
}

function errorFaults(document: JsonMap): Change[] {
  return Object.entries(mapAt(document, 'errors', 'codes')).flatMap(([code, rule]): Change[] => {
    if (!isMap(rule) || typeof rule.status !== 'number') return [];
    const at = ['errors', 'codes', code];
    const isOwn = typeof rule.if === 'string';
    return [
      { id: `another status: ${code}`, at: [...at, 'status'], to: otherStatus(rule.status) },
      ...(isOwn ? [{ id: `it never arises: ${code}`, at: [...at, 'if'], to: 'false' }] : []),
    ];
  });
}

/** One of another redirect for a redirect. */
function otherStatus(status: number): number {
  if (status < 400) return status === 307 ? 308 : 307;
  return status === 400 ? 422 : 400;
}

function limitFaults(document: JsonMap): Change[] {
  const { rate, size, quota } = mapAt(document, 'limits');
  const changes: Change[] = [];
  const [first] = Array.isArray(rate) ? rate : [];
  if (isMap(first) && typeof first.limit === 'number')
    changes.push({ id: 'the rate is twice as much', at: ['limits', 'rate', '0', 'limit'], to: first.limit * 2 });
  if (isMap(size))
    for (const what of Object.keys(size))
      changes.push({ id: `there is no size: ${what}`, at: ['limits', 'size', what], to: '900KiB' });
  const [some] = Array.isArray(quota) ? quota : [];
  if (isMap(some) && typeof some.limit === 'number')
    changes.push({ id: 'the quota is larger', at: ['limits', 'quota', '0', 'limit'], to: some.limit + 5 });
  return changes;
}

function versionFaults(document: JsonMap): Change[] {
  const versioning = mapAt(document, 'versioning');
  const { '2': changes } = mapAt(versioning, 'changes');
  if (!Array.isArray(changes)) return [];
  const old = mapAt(versioning, 'versions')['1'];
  return [
    { id: 'an older version is told nothing else', at: ['versioning', 'changes', '2'], to: 'none' },
    ...(isMap(old) && 'deprecated' in old
      ? [{ id: 'nobody is told that it ends', at: ['versioning', 'versions', '1'], to: {} }]
      : []),
  ];
}
