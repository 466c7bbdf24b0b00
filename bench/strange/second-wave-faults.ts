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
const ofResources = { created: 'nothing follows', rules: 'a rule is not kept', deleted: 'nothing is kept of what is deleted' };
const ofFields = { within: 'all are counted together', null: 'null takes it away', taken_by: 'changes take no children' };
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
  return [...resources, ...endpoints, ...logged];
}

function fieldFaults(document: JsonMap, at: readonly string[]): Change[] {
  const { derive, children, order } = mapAt(document, ...at);
  const name = `${at[1]}.${at[3]}`;
  return [
    ...withoutWords(document, at, ofFields),
    ...(typeof derive === 'string'
      ? [{ id: `what is derived is reckoned otherwise: ${name}`, at: [...at, 'derive'], to: `${derive} + 1` }]
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
