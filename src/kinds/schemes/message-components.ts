import { isToken } from '../http-token.ts';
import type { SignedHead } from './signing.ts';
import { type Parameters, readDictionary, type StructuredMember, writeString } from './structured-fields.ts';

/** A covered component: a header field's name in small letters, or a derived one, with its parameters (RFC 9421 section 2). */
export interface Component {
  readonly name: string;
  /** Of `@query-param` alone: the parameter's name. */
  readonly parameter?: string;
  /** As it stands in the signature's input: `"@query-param";name="page"`. */
  readonly text: string;
}

const derived: ReadonlySet<string> = new Set([
  '@method',
  '@target-uri',
  '@authority',
  '@scheme',
  '@request-target',
  '@path',
  '@query',
  '@query-param',
]);

/** A component as a document states it: `@method`, `content-digest`, `@query-param;name="page"`; nothing where it is none that there are means for. */
export function statedComponent(text: string): Component | undefined {
  const [, name = '', parameter] = /^([^;]+)(?:;name="([^"\\]{1,128})")?$/.exec(text) ?? [];
  return componentOf(name, parameter);
}

function componentOf(name: string, parameter: string | undefined): Component | undefined {
  if (name.startsWith('@') ? !derived.has(name) : !isToken(name) || name !== name.toLowerCase()) return undefined;
  if ((name === '@query-param') !== (parameter !== undefined)) return undefined;
  return {
    name,
    ...(parameter !== undefined && { parameter }),
    text: parameter === undefined ? writeString(name) : `${writeString(name)};name=${writeString(parameter)}`,
  };
}

/** The covered components of a signature's input; nothing where one is named twice, or is none that there are means for. */
export function readComponents({ value }: StructuredMember): readonly Component[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const components: Component[] = [];
  // An inner list was found.
  for (const item of value as readonly { readonly value: unknown; readonly parameters: Parameters }[]) {
    const { value: name, parameters } = item;
    const named = parameters.get('name');
    const isPlain = parameters.size === (named === undefined ? 0 : 1);
    if (typeof name !== 'string' || name !== name.toLowerCase() || !isPlain) return undefined;
    if (named !== undefined && typeof named !== 'string') return undefined;
    const component = componentOf(name, named);
    if (!component || components.some(({ text }) => text === component.text)) return undefined;
    components.push(component);
  }
  return components;
}

/**
 * What is signed (RFC 9421 section 2.5): a line for each component, and the signature's parameters. `parameters` is the text of the
 * signature's input; nothing where a component is not there, or not once.
 */
export function signatureBase(
  head: SignedHead,
  scheme: 'https' | 'http',
  components: readonly Component[],
  parameters: string,
): Buffer | undefined {
  const lines: string[] = [];
  for (const component of components) {
    const value = componentValue(head, scheme, component);
    if (value === undefined || /[\r\n]/.test(value)) return undefined;
    lines.push(`${component.text}: ${value}`);
  }
  return Buffer.from([...lines, `"@signature-params": ${parameters}`].join('\n'), 'latin1');
}

/** Whether what is signed differs by the scheme of the address, of which a service behind a proxy sees nothing. */
export function readsScheme(components: readonly Component[]): boolean {
  return components.some(({ name }) => name === '@target-uri' || name === '@scheme' || name === '@authority');
}

function componentValue(head: SignedHead, scheme: 'https' | 'http', { name, parameter }: Component): string | undefined {
  if (!name.startsWith('@')) return head.header(name)?.trim();
  const authority = authorityOf(head, scheme);
  const target = head.query === '' ? head.path : `${head.path}?${head.query}`;
  if (name === '@method') return head.method;
  if (name === '@authority') return authority;
  if (name === '@scheme') return scheme;
  if (name === '@path') return head.path === '' ? '/' : head.path;
  if (name === '@query') return `?${head.query}`;
  if (name === '@request-target') return target;
  if (name === '@target-uri') return authority === undefined ? undefined : `${scheme}://${authority}${target}`;
  const found = new URLSearchParams(head.query).getAll(parameter ?? '');
  // One that comes twice is not covered (section 2.2.8).
  return found.length === 1 ? encoded(found[0] ?? '') : undefined;
}

/** In small letters, without the port that is usual (section 2.2.3). */
function authorityOf(head: SignedHead, scheme: 'https' | 'http'): string | undefined {
  return head
    .header('host')
    ?.toLowerCase()
    .replace(scheme === 'https' ? /:443$/ : /:80$/, '');
}

/** As a form writes it, but for blanks (section 2.2.8). */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The one signature of a request, with its input (RFC 9421 section 4); nothing where there is none, or more than one. */
export function readSignatureFields(
  input: string,
  signatures: string,
): { readonly input: StructuredMember; readonly signature: Uint8Array } | undefined {
  const [inputs, made] = [readDictionary(input), readDictionary(signatures)];
  const [label = ''] = inputs?.keys() ?? [];
  if (inputs?.size !== 1 || made?.size !== 1) return undefined;
  const [member, signature] = [inputs.get(label), made.get(label)?.value];
  return member && signature instanceof Uint8Array ? { input: member, signature } : undefined;
}
