/** How the bodies of an endpoint are decoded, and which of them stand in its query. */

import { keyOfFragmentStep } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { isNever } from '../../parts/possible-errors.ts';
import { toNamingSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Compilation } from '../exchange/compilation.ts';
import { compileBody, type DecodeBody, type DecodedBody } from '../http/body.ts';
import { isXml } from '../http/media-type.ts';
import type { Resolve } from '../http/schema.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';

/** The decoding of the bodies of an endpoint, compiled when the first of them comes. */
export function decoderOf(endpoint: Endpoint, shape: Shape, compilation: ViewCompilation): () => DecodeBody {
  const { spec } = compilation;
  const files = statedValue(spec.limits.size)?.file;
  const isLenient = compilation.standIn?.isLenient ?? false;
  const isUpdate = statedValue(endpoint.does)?.verb === 'update';
  let decode: DecodeBody | undefined;
  return () => {
    if (decode) return decode;
    const stated = endpoint.consumes ?? ['application/json', ...(isUpdate ? ['application/merge-patch+json'] : [])];
    const accepted = isLenient ? takenByStandIn(stated, shape) : stated;
    const schema = toNamingSchema(spec, shape, 'sent');
    decode = compileBody({
      accepted,
      shape: schema,
      resolve: resolverOf(compilation, schema),
      typeIgnored: isNever(spec, 'request.media') ? 'any' : isLenient || isNever(spec, 'request.untyped') ? 'absent' : 'none',
      takesRepeated: isLenient,
      takesTextAsJson: isLenient,
      takesOtherTypes: isLenient && accepted === stated,
      readsXml: isLenient && shape.type !== 'string' && accepted.includes(anyXml[0] ?? ''),
      empty: endpoint.emptySent === undefined ? 'value' : isUpdate ? 'null' : 'not sent',
      ...(files !== undefined && { fileBytes: files }),
    });
    return decode;
  };
}

type ReadBodyInQuery = (query: string, decoder: () => DecodeBody) => DecodedBody | undefined;

/** Compiles the reading of what some clients send in the query where a body is described: members of the body that are no parameters, as those of a form. */
export function compileBodyInQuery(
  { parameters }: Endpoint,
  { properties, resource }: Shape,
  spec: Spec,
): ReadBodyInQuery | undefined {
  const stated = statedValue(parameters) ?? {};
  const own = typeof resource === 'string' ? entriesOf(entryOf(spec.resources.all, resource)?.fields) : [];
  const members = isPlainMap(properties) ? Object.keys(properties) : own.map(([name]) => name);
  const names = new Set(members.filter((name) => !Object.hasOwn(stated, name)));
  if (names.size === 0) return undefined;
  return (query, decoder) => {
    if (query === '') return undefined;
    const sent = query.split('&').filter((pair) => names.has(nameIn(pair)));
    return sent.length === 0 ? undefined : decoder()(Buffer.from(sent.join('&'), 'latin1'), urlencoded);
  };
}

/** The name in a pair of a query, without what stands in brackets behind it. */
function nameIn(pair: string): string {
  const [name = ''] = /^[^=]*/.exec(pair) ?? [];
  try {
    return decodeURIComponent(name.replace(/(?:\[|%5B).*$/i, '').replaceAll('+', ' '));
  } catch {
    return name;
  }
}

function isJson(type: string): boolean {
  return /[/+]json\b|^\*\/\*/.test(type);
}

/** What a stand-in takes wherever JSON of some kind or a form is stated, or members are: clients write the same members in either. */
const anyJson = ['application/json', 'application/*+json'];
const urlencoded = 'application/x-www-form-urlencoded';
const forms = ['multipart/form-data', urlencoded];

/** Where XML is stated and is neither a text nor bytes, it is read by what its shape says of it, whichever XML it is called. */
const anyXml = ['application/xml', 'text/xml', 'application/*+xml'];

function takenByStandIn(stated: readonly string[], shape: Shape | undefined): readonly string[] {
  const xml = stated.some(isXml) && shape?.type !== 'string' ? anyXml : [];
  return xml.length > 0 || stated.some(isStructured) || hasMembers(shape) ? [...stated, ...xml, ...anyJson, ...forms] : stated;
}

/** Whether a body is described by its members, so that they can be sent whatever its media type is called (`application/form-data`). */
function hasMembers(shape: Shape | undefined): boolean {
  return shape !== undefined && (isPlainMap(shape.properties) || typeof shape.resource === 'string');
}

function isStructured(type: string): boolean {
  return isJson(type) || forms.some((form) => type.startsWith(form));
}

/** Finds what a schema refers to: a resource by its name, or one of the schema's own definitions. */
export function resolverOf({ named }: Compilation, { $defs }: Shape): Resolve {
  const own = isPlainMap($defs) ? $defs : {};
  return (ref) => {
    if (ref.startsWith('named:')) return named(ref.slice('named:'.length));
    const definition = own[keyOfFragmentStep(ref.replace('#/$defs/', ''))];
    return isPlainMap(definition) ? definition : undefined;
  };
}
