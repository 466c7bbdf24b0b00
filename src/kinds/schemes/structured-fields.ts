import { token } from '../http-token.ts';

/** A bare item of structured fields (RFC 9651 section 3.3), as far as signatures have them. */
export type BareItem = string | number | boolean | Uint8Array | { readonly token: string };

export type Parameters = ReadonlyMap<string, BareItem>;

/** An item, or an inner list of items, with its parameters, and the text that it was read from. */
export interface StructuredMember {
  readonly value: BareItem | readonly { readonly value: BareItem; readonly parameters: Parameters; readonly text: string }[];
  readonly parameters: Parameters;
  readonly text: string;
}

/** The longest field that is read, and the most members and parameters of one. */
const lengthMost = 16_384;
const countMost = 64;

/** Reads a dictionary (RFC 9651 section 3.2); nothing where a text is none, or too long. The last of two members of a name counts. */
export function readDictionary(text: string): ReadonlyMap<string, StructuredMember> | undefined {
  if (text.length > lengthMost) return undefined;
  try {
    const reader = new Reader(text);
    const members = new Map<string, StructuredMember>();
    reader.skip(/ */y);
    while (!reader.isAtEnd) {
      if (members.size >= countMost) return undefined;
      const name = reader.take(keyForm);
      const from = reader.at + 1;
      const member = reader.skip(/=/y) ? reader.member() : { value: true, parameters: reader.parameters(), text: '' };
      // Where a name stands alone, its text is that of its parameters.
      members.delete(name);
      members.set(name, { ...member, text: text.slice(from, reader.at) });
      reader.skip(/[ \t]*/y);
      if (reader.isAtEnd) return members;
      reader.take(/,[ \t]*/y);
      if (reader.isAtEnd) return undefined;
    }
    return members;
  } catch (error) {
    if (error instanceof Unread) return undefined;
    throw error;
  }
}

/** A string as structured fields write it (RFC 9651 section 4.1.6). */
export function writeString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Bytes as structured fields write them (RFC 9651 section 4.1.8). */
export function writeBytes(bytes: Uint8Array): string {
  return `:${Buffer.from(bytes).toString('base64')}:`;
}

/** A token, which may have colons and slashes in it (RFC 9651 section 3.3.4). */
const tokenForm = new RegExp(`(?=[A-Za-z*])${token.replace('[', '[:/')}`, 'y');
const keyForm = /[a-z*][a-z0-9_.*-]*/y;

class Unread extends Error {}

class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** Goes past what stands there; whether there was anything. */
  skip(form: RegExp): boolean {
    form.lastIndex = this.at;
    const found = form.exec(this.#text);
    if (found) this.at = form.lastIndex;
    return found !== null;
  }

  take(form: RegExp): string {
    const from = this.at;
    if (!this.skip(form)) throw new Unread();
    return this.#text.slice(from, this.at);
  }

  member(): StructuredMember {
    const from = this.at;
    const value = this.skip(/\(/y) ? this.#innerList() : this.#bare();
    const parameters = this.parameters();
    return { value, parameters, text: this.#text.slice(from, this.at) };
  }

  #innerList() {
    const items: { value: BareItem; parameters: Parameters; text: string }[] = [];
    for (;;) {
      this.skip(/ */y);
      if (this.skip(/\)/y)) return items;
      if (items.length >= countMost) throw new Unread();
      const from = this.at;
      const value = this.#bare();
      const parameters = this.parameters();
      items.push({ value, parameters, text: this.#text.slice(from, this.at) });
      const next = this.#text[this.at];
      if (next !== ' ' && next !== ')') throw new Unread();
    }
  }

  parameters(): Parameters {
    const parameters = new Map<string, BareItem>();
    while (this.skip(/; */y)) {
      if (parameters.size >= countMost) throw new Unread();
      const name = this.take(keyForm);
      // Two of one name: which of them was meant, nobody knows.
      if (parameters.has(name)) throw new Unread();
      parameters.set(name, this.skip(/=/y) ? this.#bare() : true);
    }
    return parameters;
  }

  #bare(): BareItem {
    const first = this.#text[this.at] ?? '';
    if (first === '"') {
      const quoted = this.take(/"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y);
      return quoted.slice(1, -1).replace(/\\(.)/g, '$1');
    }
    if (first === ':') {
      const inside = this.take(/:[A-Za-z0-9+/=]*:/y).slice(1, -1);
      const bytes = Buffer.from(inside, 'base64');
      if (bytes.toString('base64').replace(/=+$/, '') !== inside.replace(/=+$/, '')) throw new Unread();
      return bytes;
    }
    if (first === '?') return this.take(/\?[01]/y) === '?1';
    if (/[-0-9]/.test(first)) return Number(this.take(/-?\d{1,15}(?:\.\d{1,3})?/y));
    return { token: this.take(tokenForm) };
  }
}
