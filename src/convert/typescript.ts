import type { Spec } from '../parts/spec.ts';
import { TypeNames } from './spec/names.ts';
import { clientSection } from './typescript/client.ts';
import { harmless } from './typescript/doc.ts';
import { operationTypes } from './typescript/operation-types.ts';
import { callerPrelude, chosenPrelude, handlerPrelude } from './typescript/prelude.ts';
import { resourceTypes } from './typescript/resource-types.ts';
import {
  beforeTypes,
  callerTypes,
  errorCodes,
  eventTypes,
  handlerTypes,
  storedTypes,
  transitionTypes,
} from './typescript/service-types.ts';

/**
 * Writes a document as one TypeScript module that stands alone: the types of its resources and its operations, of what the
 * service's own code is given and answers, and a client. The same document gives the same text.
 */
export function toTypescript(spec: Spec): string {
  const names = new TypeNames();
  const types = resourceTypes(spec, names);
  const operations = operationTypes(types, names);
  const handlers = handlerTypes(operations, types, names);
  const before = beforeTypes(operations, types, names);
  const stored = storedTypes(types);
  const events = eventTypes(types);
  const client = clientSection(operations, types, names);
  const choosing = operations.some(({ chosen }) => chosen !== undefined);
  // Only now is it known which types of resources the rest speaks of.
  const resources = types.declarations();
  const sections: readonly (readonly [title: string, declarations: readonly string[]])[] = [
    ['Resources', resources],
    ['Operations', [...(choosing ? [chosenPrelude] : []), ...operations.flatMap(({ declarations }) => declarations)]],
    ['Caller, errors, events, states', [...callerTypes(spec), callerPrelude, errorCodes(spec), ...events, transitionTypes(spec)]],
    ['What is stored', stored],
    ["The service's own code", [handlerPrelude, ...handlers, ...before]],
    ['A client', client],
  ];
  const body = sections.flatMap(([title, declarations]) => (declarations.length === 0 ? [] : [`// ${title}`, ...declarations]));
  return `${[heading(spec), ...body].join('\n\n')}\n`;
}

/** How the module was made, and of what. */
function heading(spec: Spec): string {
  const [path = 'DOC'] = spec.document.sources.keys();
  const file = path.split(/[\\/]/).at(-1) ?? path;
  const title = oneLine(spec.title);
  return [
    `// The types and the client of ${title === '' ? 'a document without a title' : title}.`,
    `// Made by \`ninefold export ${oneLine(file)} --to typescript\`. Change the document and make them again.`,
  ].join('\n');
}

function oneLine(text: string): string {
  return harmless(text).replace(/\s+/g, ' ').trim();
}
