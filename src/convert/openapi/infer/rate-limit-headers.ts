import { madeOrNew } from '../made.ts';
import type { InferenceRule } from './context.ts';

/** Headers and statuses tell that there are rates, never how many. */
export const rateLimitHeaders: InferenceRule = {
  name: 'rate-limit-headers',
  says: 'Headers such as `RateLimit-Limit`, and answers with 429, tell that there is a rate; how many and how long stays a question.',
  infer({ operations, tree, trail }) {
    const header = operations
      .flatMap(({ responses }) => responses.flatMap(({ headers }) => headers))
      .find(({ name }) => isRate(name));
    const status = operations.flatMap(({ responses }) => responses).find((response) => response.status === '429');
    const from = header?.map.at ?? status?.map.at;
    if (from === undefined) return;
    const what = header === undefined ? 'Answers with 429 are stated' : `Answers carry \`${header.name}\``;
    const limits = madeOrNew(tree.limits);
    limits.rate = { $open: `${what}: how many requests may be made in which time?` };
    tree.limits = limits;
    trail.from('/limits/rate', from);
  },
};

function isRate(name: string): boolean {
  return /^(?:x-)?rate-?limit(?:-limit|-remaining|-reset|-policy)?$/i.test(name);
}
