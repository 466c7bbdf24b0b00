import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { page } from '../../../kinds/pages/page.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext } from './context.ts';

/**
 * How a list is asked for its next page whose own example leads on by an address that counts pages, and of which no parameter says so: `next: https://…/things?page=2`.
 * How many rows a page has is said beside it (`per_page: 10`), where nobody asked for so many.
 */
export function pageStyleShown(context: InferenceContext, operation: SourceOperation, status: string): OpenMap | undefined {
  const { response } = endpointOf(context, operation);
  const answer = isMap(response) ? response[status] : undefined;
  if (answer === undefined || !isMap(answer)) return undefined;
  const [shown] = isMap(answer.examples) ? Object.values(answer.examples) : [];
  const example = answer.example ?? shown;
  if (example === undefined) return undefined;
  for (const address of leadingOn(example, 0)) {
    const asked = new URLSearchParams(address.replace(/^[^?]*\??/, ''));
    const word = [...asked.keys()].find((name) => counting.has(plainName(name)));
    if (word === undefined || asked.get(word) !== '2') continue;
    const stated = operation.parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name);
    const size = [...asked.keys(), ...stated].find((name) => sizes.has(plainName(name)));
    // What was asked for in the example is not what is usual.
    const usual = size !== undefined && asked.has(size) ? undefined : sizeIn(example, 0);
    return Object.assign(newMap(), {
      style: page.word,
      [page.parameters[0].word]: word,
      ...(size !== undefined && { size }),
      ...(usual !== undefined && Number.isInteger(usual) && usual > 0 && { default: usual }),
    });
  }
  return undefined;
}

const counting: ReadonlySet<string> = new Set(page.parameters[0].usualNames);
const sizes: ReadonlySet<string> = new Set(['perpage', 'pagesize']);
const depthMost = 3;

/** The addresses that are called after the next page. */
function leadingOn(value: Json, depth: number): readonly string[] {
  if (!isMap(value) || depth > depthMost) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const address = isMap(inner) ? inner.href : inner;
    return /^next/i.test(name) && typeof address === 'string' ? [address] : leadingOn(inner, depth + 1);
  });
}

/** How many rows its own members say that a page has. */
function sizeIn(value: Json, depth: number): number | undefined {
  if (!isMap(value) || depth > depthMost) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = sizes.has(plainName(name)) && typeof inner === 'number' ? inner : sizeIn(inner, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
