import { isUtf8 } from 'node:buffer';
import type { Json } from '../../document/document.ts';
import { asText } from './as-text.ts';
import type { TrialCaller } from './callers.ts';
import type { Outgoing, RequestPlan } from './plan.ts';
import { Captured, Fresh, isList, type Symbolic } from './symbol.ts';

/** How a script names what it cannot write as text. */
export interface ShellNames {
  /** The variable of an earlier answer's value: `id_1`. */
  captured(value: Captured): string;
  /** What the value was in the run that the script tells of, for its type. */
  valueOf(value: Captured | Fresh): Json;
  /** The variable of a caller's credential: `MERCHANT`. */
  credential(caller: TrialCaller): string;
  /** The request with a mark in place of every value that has a variable. */
  written(plan: RequestPlan): Outgoing;
}

/** One curl command. Credentials and earlier values are variables; the last header line of an answer is shown with `-i`. */
export function curlOf(plan: RequestPlan, names: ShellNames): string[] {
  const { marks, marked } = markedOf(plan, names);
  const headers = Object.entries(marked.headers).map(([name, value]) => ` \\\n  -H ${marks.quoted(`${name}: ${value}`)}`);
  const text = marked.body === undefined ? undefined : new TextDecoder().decode(marked.body);
  const isText = marked.body === undefined || isUtf8(marked.body);
  const body = text === undefined ? '' : ` \\\n  --data-binary ${isText ? marks.quoted(text) : printed(marked.body)}`;
  // Without a media type curl sends that of a form, and it tidies paths up and reads brackets as many addresses.
  const bare = text !== undefined && marked.headers['content-type'] === undefined ? ` \\\n  -H Content-Type:` : '';
  const chunked = marked.isChunked ? ` \\\n  -H 'Transfer-Encoding: chunked'` : '';
  const asItIs = /\/\.\.?(?:\/|\?|$)/.test(marked.target) ? ' --path-as-is' : '';
  const unread = /[[\]{}]/.test(marked.target) ? ' -g' : '';
  const method = marked.method === 'HEAD' ? '-I' : `-X ${marked.method}`;
  return [
    `curl -s -i${unread}${asItIs} ${method} "$URL"${marks.quoted(marked.target)}${headers.join('')}${bare}${chunked}${body}`,
  ];
}

/**
 * A command that writes the head of a request on a connection of its own, and so much of a body, and prints what comes and when the
 * connection is closed: what curl cannot be made to do.
 */
export function rawOf(
  plan: RequestPlan,
  names: ShellNames,
  more: { readonly length?: number; readonly body: string; readonly ms: number },
): string[] {
  const { marks, marked } = markedOf(plan, names);
  const headers = { ...marked.headers, ...(more.length !== undefined && { 'content-length': asText(more.length) }) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  const head = `${marked.method} ${marked.target} HTTP/1.1\n${lines.join('')}`;
  return [
    `node -e '`,
    'const [address, head, body, ms] = process.argv.slice(1), url = new URL(address), from = Date.now();',
    'const isSecure = url.protocol === "https:", port = Number(url.port || (isSecure ? 443 : 80));',
    'const socket = require(isSecure ? "tls" : "net").connect({ host: url.hostname, port, servername: url.hostname });',
    'socket.write((head + "host: " + url.host + "\\n\\n").replaceAll("\\n", "\\r\\n") + body);',
    'socket.on("data", (piece) => process.stdout.write(piece)).on("error", () => {});',
    'const timer = setTimeout(() => { console.log("still open after " + ms + " ms"); process.exit(); }, Number(ms));',
    'socket.on("close", () => { clearTimeout(timer); console.log("closed after " + (Date.now() - from) + " ms"); });',
    `' "$URL" ${marks.quoted(head)} ${singleQuoted(more.body)} ${more.ms}`,
  ];
}

/** A request with a mark in place of every value that has a variable. */
function markedOf(plan: RequestPlan, names: ShellNames): { readonly marks: Marks; readonly marked: Outgoing } {
  const marks = new Marks(names);
  const marked = names.written({
    ...plan,
    path: marks.mark(plan.path) as RequestPlan['path'],
    query: marks.mark(plan.query) as RequestPlan['query'],
    headers: marks.mark(plan.headers) as RequestPlan['headers'],
    ...(plan.body && 'value' in plan.body && { body: { ...plan.body, value: marks.mark(plan.body.value) } }),
    ...(plan.caller && { caller: withVariable(plan.caller, marks, names) }),
  });
  return { marks, marked };
}

/** Each value that has a variable is written as a mark that survives JSON and percent-encoding, and found again afterwards. */
class Marks {
  readonly #names: ShellNames;
  readonly #variables: { readonly variable: string; readonly isText: boolean }[] = [];

  constructor(names: ShellNames) {
    this.#names = names;
  }

  mark(value: Symbolic): Symbolic {
    if (value instanceof Captured) {
      const mark = this.add(`$${this.#names.captured(value)}`, typeof this.#names.valueOf(value) === 'string');
      return `${value.before}${mark}`;
    }
    if (value instanceof Fresh) {
      if (value.shell) return `${this.add(`$${value.shell.variable}`, true)}${value.shell.rest}`;
      return value.prefix === undefined ? this.#names.valueOf(value) : `${value.prefix}${this.add('$N', true)}`;
    }
    if (isList(value)) return value.map((item) => this.mark(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.mark(item as Symbolic)]));
  }

  add(variable: string, isText: boolean): string {
    this.#variables.push({ variable, isText });
    return `~mark${this.#variables.length - 1}~`;
  }

  /** The text as one shell word: what is literal in single quotes, variables in double quotes between them. */
  quoted(text: string): string {
    const pieces = text.split(/("?~mark\d+~"?)/);
    return pieces
      .filter((piece) => piece !== '')
      .map((piece) => {
        const match = /^("?)~mark(\d+)~("?)$/.exec(piece);
        const found = match && this.#variables[Number(match[2])];
        if (!match || !found) return singleQuoted(piece);
        const isBare = !found.isText && match[1] === '"' && match[3] === '"';
        const [before, after] = isBare ? ['', ''] : [match[1] ?? '', match[3] ?? ''];
        return `${before === '' ? '' : singleQuoted(before)}"${found.variable}"${after === '' ? '' : singleQuoted(after)}`;
      })
      .join('');
  }
}

function withVariable(caller: TrialCaller, marks: Marks, names: ShellNames): TrialCaller {
  if (!caller.credential) return caller;
  return { ...caller, credential: { ...caller.credential, value: marks.add(`$${names.credential(caller)}`, true) } };
}

/** Octets that are no text, as a POSIX shell makes them. */
function printed(octets: Uint8Array = new Uint8Array()): string {
  const format = Array.from(octets, (octet) => {
    if (octet > 0x7e || octet < 0x20) return `\\${octet.toString(8).padStart(3, '0')}`;
    return String.fromCharCode(octet).replace(/[%\\]/, '$&$&');
  });
  return `"$(printf ${singleQuoted(format.join(''))})"`;
}

/** A word for a POSIX shell, in quotes where it needs them. */
function singleQuoted(word: string): string {
  return word !== '' && /^[\w\-./:@%+,=]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
