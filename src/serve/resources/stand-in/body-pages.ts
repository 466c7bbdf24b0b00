import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { isCut } from '../../../parts/limits.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import type { BodyPages } from '../stand-in.ts';
import { type AskedMember, paginationAsked } from './open-pages.ts';

/**
 * Compiles how a list that is asked for by POST is cut into pages by members of its body, at its top or in the one map that is about pages: `{ limit, cursor }`,
 * `{ pagination: { per_page, starting_after } }`. Nothing where no member says so.
 */
export function compileBodyPages(endpoint: Endpoint, samples: Samples): BodyPages | undefined {
  const shape = endpoint.method === 'POST' ? statedValue(endpoint.request) : undefined;
  if (shape === undefined) return undefined;
  const own = membersOf(shape, samples);
  const around = own.filter(({ name, shape: inner }) => aboutPages.test(name) && membersOf(inner, samples).length > 0);
  const inside = around.flatMap(({ shape: inner }) => membersOf(inner, samples));
  const pagination = paginationAsked([...own, ...inside.filter(({ name }) => !own.some((one) => one.name === name))], samples);
  if (!isCut(pagination)) return undefined;
  const holders = around.map(({ name }) => name);
  return {
    // What is too much is as much as there may be.
    pagination: { ...pagination, overMax: 'clamp' },
    holders,
    sent({ request }) {
      if (!isFields(request)) return {};
      const maps = holders.map((name) => request[name]).filter(isFields);
      const sent: Record<string, Value> = Object.assign({}, ...maps, request);
      // Clients write null, or an empty text, for what they do not say.
      return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== ''));
    },
  };
}

const aboutPages = /^(?:pagination|paging|pages?|pager|options)$/i;

function membersOf(shape: Shape, samples: Samples): readonly AskedMember[] {
  return Object.entries(samples.membersOf(shape)).flatMap(([name, inner]) => (isPlainMap(inner) ? [{ name, shape: inner }] : []));
}
