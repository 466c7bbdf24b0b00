import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { toNamingSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Exchange, Value } from '../exchange/exchange.ts';
import { isXml } from '../http/media-type.ts';
import { compileXmlWriting, type WriteXml } from '../http/xml-write.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { resolverOf } from './input.ts';

/** Writes what an answer shows as XML; nothing where the request is answered in something else. */
export type AnswerXml = (exchange: Exchange, value: Value) => { readonly type: string; readonly body: string } | undefined;

/** Compiles the answering in XML, where an answer that is a map or a list is stated in it alone, or is asked for in it; nothing where it is stated in none. */
export function compileXmlAnswer(shape: Shape, endpoint: Endpoint, compilation: ViewCompilation): AnswerXml | undefined {
  const produced = endpoint.produces ?? [];
  const types = produced.filter(isXml);
  const [first] = types;
  if (first === undefined) return undefined;
  const isAlone = types.length === produced.length;
  let write: WriteXml | undefined;
  return (exchange, value) => {
    const accept = String(exchange.call.headers.accept ?? '*/*');
    const chosen = exchange.plan.negotiate(accept);
    const asked = chosen !== undefined && isXml(chosen) && (isAlone || /xml/i.test(accept)) ? chosen : undefined;
    // Whoever takes JSON alone is told that there is none, and gets it all the same.
    const type = asked ?? (isAlone && !/json/i.test(accept) ? first : undefined);
    if (type === undefined || typeof value !== 'object' || value === null) return undefined;
    write ??= compileWriting(shape, endpoint, compilation);
    return { type, body: write(value) };
  };
}

function compileWriting(shape: Shape, { operation }: Endpoint, compilation: ViewCompilation): WriteXml {
  const { spec } = compilation;
  const schema = toNamingSchema(spec, shape, 'shown');
  const name = [shape.resource, operation.replaceAll(/\W+/g, '-')].find((one) => /^[A-Za-z_][\w.-]*$/.test(String(one ?? '')));
  return compileXmlWriting(schema, resolverOf(compilation, schema), {
    root: String(name ?? 'answer'),
    wrapsNamed: !saysWrapped(spec),
  });
}

const known = new WeakMap<Spec, boolean>();

/**
 * Whether a document says of any list that it is wrapped. Where none does, though items have names of their own, whoever wrote it knew no such word:
 * lists are wrapped there, as most of XML has them.
 */
function saysWrapped(spec: Spec): boolean {
  const there = known.get(spec);
  if (there !== undefined) return there;
  const resources = entriesOf(spec.resources.all).flatMap(([, { fields, shape }]) => [
    statedValue(shape),
    ...entriesOf(fields).map(([, field]) => statedValue(field.shape)),
  ]);
  const bodies = entriesOf(spec.endpoints.all).flatMap(([, { request, response }]) => [
    statedValue(request),
    ...(statedValue(response) ?? []).map((answer) => statedValue(answer.shape)),
  ]);
  const says = [...resources, ...bodies].some((one) => /"wrapped":/.test(JSON.stringify(one ?? null)));
  known.set(spec, says);
  return says;
}
