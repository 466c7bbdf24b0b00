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

/** `create parcel` and `create_parcel` are `CreateParcel`; what begins with a digit gets a line before it. */
export function writtenTypeName(text: string): string {
  const words = text.normalize('NFC').match(/[\p{ID_Start}\p{Nd}]+/gu) ?? [];
  const name = words.map((piece) => capital(piece)).join('');
  if (name === '') return 'Unnamed';
  return /^\p{Nd}/u.test(name) ? `_${name}` : name;
}

function capital(piece: string): string {
  const [first = '', ...rest] = piece;
  const upper = first.toUpperCase();
  return (/^\p{L}+$/u.test(upper) ? upper : first) + rest.join('');
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
