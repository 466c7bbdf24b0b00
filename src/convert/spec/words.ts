import type { Pointer } from '../../document/document.ts';
import { entriesOf, entryOf, statedValue, type Unstated } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';

/** Names that the module itself has or leans on; no document's thing takes them. */
const reserved = [
  'Date',
  'Exclude',
  'Promise',
  'Uint8Array',
  'Answer',
  'BeforeContext',
  'BeforeHandlers',
  'Body',
  'Caller',
  'CallerScope',
  'CallerUser',
  'CallOptions',
  'Carrier',
  'Client',
  'ClientOptions',
  'Credential',
  'CreatedRows',
  'ErrorBody',
  'ErrorCode',
  'EventKind',
  'EventPayloads',
  'Filled',
  'ChosenFields',
  'SomeOf',
  'HandlerContext',
  'HandlerStore',
  'Handlers',
  'Input',
  'NewRow',
  'NewRows',
  'Operation',
  'Outgoing',
  'Refusal',
  'RowPatch',
  'RowPatches',
  'StoreReader',
  'StoredRows',
  'Transitions',
  'Unexpected',
];

/** Gives every type its own name; who asks first keeps the plain one. */
export class TypeNames {
  readonly #taken = new Set<string>(reserved);

  /** The name that a word of the document makes with an ending; where it is taken, `otherwise` is added, then a number. */
  claim(text: string, ending = '', otherwise = ''): string {
    const plain = writtenTypeName(text);
    const candidates = [`${plain}${ending}`, `${plain}${otherwise}${ending}`];
    let name = candidates.find((candidate) => !this.#taken.has(candidate));
    for (let number = 2; name === undefined; number++) {
      const numbered = `${candidates[0]}${number}`;
      if (!this.#taken.has(numbered)) name = numbered;
    }
    this.#taken.add(name);
    return name;
  }
}

/**
 * The letters of a type's name: those of the scripts in wide use that every compiler knows. Each tool has the Unicode of its own year;
 * a letter that this Node takes for one may be a lexing error elsewhere.
 */
const letters =
  /[[A-Za-z\u00aa-\u0527\u0531-\u0586\u05d0-\u05ea\u0620-\u06d3\u0904-\u0939\u0985-\u09b9\u0a05-\u0a39\u0a85-\u0ab9\u0b05-\u0b39\u0b83-\u0bb9\u0c05-\u0c39\u0c85-\u0cb9\u0d05-\u0d39\u0d85-\u0dc6\u0e01-\u0e46\u0f40-\u0f6c\u1000-\u102a\u10d0-\u10f0\u1200-\u135a\u1780-\u17b3\u1e00-\u1fff\u3041-\u3096\u30a1-\u30fa\u3105-\u312c\u3400-\u4db5\u4e00-\u9fa5\uac00-\ud7a3]&&\p{ID_Start}]/v
    .source;
const word = new RegExp(`(?:${letters}|[0-9])+`, 'gv');
const lettersOnly = new RegExp(`^${letters}+$`, 'v');

/** `create parcel` and `create_parcel` are `CreateParcel`; what begins with a digit gets a line before it. */
export function writtenTypeName(text: string): string {
  const words = text.normalize('NFC').match(word) ?? [];
  const name = words.map((piece) => capital(piece)).join('');
  if (name === '') return 'Unnamed';
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

function capital(piece: string): string {
  const [first = '', ...rest] = piece;
  const upper = first.toUpperCase();
  return (lettersOnly.test(upper) ? upper : first) + rest.join('');
}

/** A property's name as it stands in a type: bare where it may. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** A string literal, in the quotes that need fewer escapes. */
export function literal(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replace(invisible, escapeUnit);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

// Line separators, marks that turn the direction of writing, and what no editor shows.
const invisible = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** `create parcel` is `createParcel`; `GET /parcels/{id}` is `getParcelsId`. */
export function operationIdOf(operation: string): string {
  const isKey = /^[A-Za-z]+ \//.test(operation);
  const name = writtenTypeName(isKey ? operation.replace(/^\S+/, (method) => method.toLowerCase()) : operation).replace(/^_/, '');
  return name.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase());
}

/** Words of a document as the name of a component: `parcel_create` is `ParcelCreate`. */
export function componentName(text: string): string {
  return writtenTypeName(text).replace(/^_/, '');
}

/** `create parcel` as a title: `Create parcel`. */
export function titleOf(text: string): string {
  const spaced = text.replaceAll('_', ' ').trim();
  return spaced.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** Gives each thing a name that no other has. */
export class UniqueNames {
  readonly #taken = new Set<string>();

  claim(wish: string): string {
    let name = wish;
    for (let number = 2; this.#taken.has(name); number++) name = `${wish}${number}`;
    this.#taken.add(name);
    return name;
  }
}

/** What a document says in prose under a place, paragraph by paragraph. */
export type ProseAt = (at: Pointer) => readonly string[];

/** Finds the prose that stands right under a heading. */
export function proseOf(spec: Spec): ProseAt {
  const byPointer = Map.groupBy(spec.prose, (entry) => entry.at);
  return (at) => (byPointer.get(at) ?? []).map((entry) => entry.text);
}

/** A line of its own that names a fact which the document does not settle, with its question. */
export function unsettledLine(what: string, fact: Unstated): string {
  if (fact.standing === 'none') return `None: ${what}.`;
  if (fact.standing === 'any') return `Left to the implementation: ${what}.`;
  return fact.question === undefined ? `Open: ${what}.` : `Open: ${what}: ${fact.question}`;
}

/** Which references some endpoint shows whole when a caller asks for it (`expand`), as deep as it may ask. */
export function expandableFields(spec: Spec): (resource: string) => boolean {
  // How many more steps may be followed from a resource.
  const depths = new Map<string, number>();
  const queue: [resource: string, depth: number][] = entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const resource = resourceOfEffect(statedValue(endpoint.does));
    return resource !== undefined && endpoint.expand ? [[resource, endpoint.expand.depth]] : [];
  });
  for (const [name, depth] of queue) {
    if (depth <= (depths.get(name) ?? 0)) continue;
    depths.set(name, depth);
    const resource = entryOf(spec.resources.all, name);
    const fields = resource ? entriesOf(resource.fields) : [];
    for (const [, { ref }] of fields) if (ref !== undefined) queue.push([ref, depth - 1]);
  }
  return (resource) => (depths.get(resource) ?? 0) > 0;
}
