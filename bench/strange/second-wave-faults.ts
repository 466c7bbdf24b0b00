/** Faults of what follows, is derived, taken along, found and kept. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap, mapAt } from '../../test/strange/layers.ts';

/** Where a fault is put, and what stands there then; nothing there is left out. */
export interface Change {
  readonly id: string;
  readonly at: readonly string[];
  readonly to: Json | undefined;
}

/** Words of resources and of fields, each with what goes wrong where it is not there, or otherwise. */
const ofResources = {
  created: 'nothing follows',
  rules: 'a rule is not kept',
  deleted: 'nothing is kept of what is deleted',
  rows: 'nothing is there from the start',
  one_of: 'both may be there, or none',
};
const ofFields = { within: 'all are counted together', null: 'null takes it away' };
const ofEndpoints = {
  exists: 'what is there is refused',
  moved: 'what has moved is missing',
  ties: 'ties go the other way',
  empty: 'what is empty is kept',
  expand: 'nothing is shown whole',
};

/** The faults that a document has room for. */
export function secondWaveFaults(document: JsonMap): Change[] {
  const resources = Object.keys(mapAt(document, 'resources')).flatMap((name) => {
    const at = ['resources', name];
    const fields = Object.keys(mapAt(document, ...at, 'fields')).flatMap((field) =>
      fieldFaults(document, [...at, 'fields', field]),
    );
    return [...withoutWords(document, at, ofResources), ...fields];
  });
  const endpoints = Object.keys(mapAt(document, 'endpoints')).flatMap((route) =>
    withoutWords(document, ['endpoints', route], ofEndpoints),
  );
  const { log } = mapAt(document, 'events');
  const logged = log === undefined ? [] : [{ id: 'nothing is logged', at: ['events', 'log'], to: undefined }];
  return [...resources, ...endpoints, ...logged, ...kept(document), ...signed(document), ...ordered(document)];
}

/** What is made or moved is kept, and nobody is told of its error. */
function kept(document: JsonMap): Change[] {
  const isAnswered = (to: Json | undefined): to is JsonMap[] =>
    Array.isArray(to) && to.some((one) => isMap(one) && 'answer' in one);
  const told = (what: string, at: readonly string[], to: Json | undefined): Change[] => {
    if (!isAnswered(to)) return [];
    const unanswered = to.map(({ answer: _answer, ...rest }): Json => rest);
    return [{ id: `${what} and not refused: ${at.slice(1).join('.')}`, at, to: unanswered }];
  };
  return Object.keys(mapAt(document, 'states')).flatMap((name) => {
    const at = ['states', name];
    const moves = Object.entries(mapAt(document, ...at, 'transitions')).flatMap(([move, stated]) =>
      isMap(stated) ? told('it is moved', [...at, 'transitions', move, 'to'], stated.to) : [],
    );
    return [...told('it is made', [...at, 'initial'], mapAt(document, ...at).initial), ...moves];
  });
}

/** What is not looked at of a signed request. */
function signed(document: JsonMap): Change[] {
  return Object.entries(mapAt(document, 'authentication', 'schemes')).flatMap(([name, scheme]): Change[] => {
    if (!isMap(scheme) || (scheme.type !== 'hmac' && scheme.type !== 'http_signature')) return [];
    const at = ['authentication', 'schemes', name];
    return [
      { id: `a signature holds longer: ${name}`, at: [...at, 'tolerance'], to: '50m' },
      ...('replay' in scheme ? [{ id: `a request is taken twice: ${name}`, at: [...at, 'replay'], to: undefined }] : []),
      ...(Array.isArray(scheme.covers)
        ? [{ id: `a signature covers less: ${name}`, at: [...at, 'covers'], to: scheme.covers.slice(0, 1) }]
        : []),
    ];
  });
}

/** The order in which refusals come, turned round. */
function ordered(document: JsonMap): Change[] {
  const { order } = mapAt(document, 'errors');
  if (!Array.isArray(order)) return [];
  return [{ id: `refusals come in another order: ${order}`, at: ['errors', 'order'], to: [...order].reverse() }];
}

function fieldFaults(document: JsonMap, at: readonly string[]): Change[] {
  const { derive, children, order, taken_by } = mapAt(document, ...at);
  const name = `${at[1]}.${at[3]}`;
  return [
    ...withoutWords(document, at, ofFields),
    ...(typeof derive === 'string'
      ? [{ id: `what is derived is reckoned otherwise: ${name}`, at: [...at, 'derive'], to: `${derive} + 1` }]
      : []),
    ...(Array.isArray(taken_by) && taken_by.length > 1
      ? [{ id: `changes take no children: ${name}`, at: [...at, 'taken_by'], to: ['create'] }]
      : []),
    ...(children !== undefined && typeof order === 'string'
      ? [{ id: `children are turned round: ${name}`, at: [...at, 'order'], to: `-${order}` }]
      : []),
  ];
}

function withoutWords(document: JsonMap, at: readonly string[], words: Readonly<Record<string, string>>): Change[] {
  const stated = mapAt(document, ...at);
  return Object.entries(words).flatMap(([word, what]) =>
    isMap(stated) && word in stated ? [{ id: `${what}: ${at.slice(1).join('.')}`, at: [...at, word], to: undefined }] : [],
  );
}
