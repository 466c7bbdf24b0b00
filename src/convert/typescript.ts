import type { Spec } from '../parts/spec.ts';
import { TypeNames } from './spec/words.ts';
import { clientSection } from './typescript/client.ts';
import { operationTypes } from './typescript/operation-types.ts';
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
import { harmless } from './typescript/syntax.ts';

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

/** Who asks, in every module alike; the users and scopes are the document's own. */
const callerPrelude = `/** Who is asking. */
export type Caller = {
  readonly id: string;
  readonly user: CallerUser;
  readonly scopes: readonly CallerScope[];
  /** What a token says, as it came. */
  readonly claims?: { readonly [claim: string]: unknown };
  /** The API key that was shown, by its own identifier. */
  readonly key?: string;
};`;

/** What is shown of a row of which its caller chose the fields. */
const chosenPrelude = `/** A row of which the caller chose what is shown: whatever it did not name is not there, but for the identifier. */
export type ChosenFields<Row, Always extends keyof Row> = Pick<Row, Always> & SomeOf<Row>;

/** Some of a value, as deep as it goes. */
export type SomeOf<T> = T extends readonly (infer Item)[] ? SomeOf<Item>[] : T extends object ? { [P in keyof T]?: SomeOf<T[P]> } : T;`;

/** What every handler is given, whatever the document: it stands on the types that the document makes. */
const handlerPrelude = `/** A value in which some properties are always there: their defaults are filled in. */
export type Filled<T, K extends keyof T> = T & { [P in K]-?: T[P] };

/** The fields of a new row: what is needed, and whatever else its own code may set. */
export type NewRow<Row, Needed extends keyof Row, Fixed extends PropertyKey> = { [P in Needed]: Row[P] } & {
  [P in keyof Row as Exclude<P, Fixed>]?: Row[P];
};

/** A change of a row (RFC 7396): null removes what need not be there. */
export type RowPatch<Row, Fixed extends PropertyKey> = {
  -readonly [P in keyof Row as Exclude<P, Fixed>]?: object extends { [Q in P]: Row[Q] } ? Row[P] | null : Row[P];
};

/** What is stored, as the service's own code reads it. */
export type StoreReader = {
  get<R extends keyof StoredRows>(resource: R, id: string): Promise<StoredRows[R] | undefined>;
  /** Rows whose fields equal what is given, in the order of their creation, 100 unless \`most\` says otherwise. */
  list<R extends keyof StoredRows>(
    resource: R,
    where?: { readonly [P in keyof StoredRows[R]]?: StoredRows[R][P] },
    options?: { readonly most?: number },
  ): Promise<StoredRows[R][]>;
};

/** What a handler may do with stored things. It sees its own writes; nothing is stored before it has answered. */
export type HandlerStore = StoreReader & {
  create<R extends keyof StoredRows>(resource: R, fields: NewRows[R]): Promise<CreatedRows[R]>;
  update<R extends keyof StoredRows>(resource: R, id: string, patch: RowPatches[R]): Promise<StoredRows[R]>;
  delete(resource: keyof StoredRows, id: string): Promise<void>;
};

/** What a handler is given. */
export type HandlerContext<Request, Params, By extends Caller | undefined> = {
  /** The body, once it is right. */
  readonly request: Request;
  readonly params: Params;
  readonly caller: By;
  readonly now: Date;
  readonly store: HandlerStore;
  /** Records an event, with everything else that this handler does. */
  emit<K extends EventKind>(kind: K, data: EventPayloads[K]): void;
  /** Refuses with one of the document's own codes; nothing is stored. Write \`return fail(…)\`, so that the checker knows. */
  fail(code: ErrorCode, message?: string): never;
  /** Fires a transition on a row, with everything else that this handler does. */
  fire<R extends keyof Transitions>(resource: R, id: string, transition: Transitions[R]): void;
};

/** What stands before a stated operation is given. It reads, it fails, or it changes what would be stored; it writes nothing itself. */
export type BeforeContext<Request, Params, By extends Caller | undefined, Before, Next> = {
  /** The body, as it was sent. */
  readonly request: Request;
  readonly params: Params;
  readonly caller: By;
  readonly now: Date;
  readonly store: StoreReader;
  /** Refuses with one of the document's own codes; nothing is stored. Write \`return fail(…)\`, so that the checker knows. */
  fail(code: ErrorCode, message?: string): never;
  /** The row as it is stored. */
  readonly resource: Before;
  /** What would be stored; it may be changed. */
  readonly next: Next;
};`;
