import { below } from '../../../document/pointer.ts';
import { readEffect } from '../../../parts/effects.ts';
import { endpointOf, type InferenceRule, placeOfEndpoint } from './context.ts';

/** `Lists your invoices, with the most recent appearing first.` */
export const newestFirst: InferenceRule = {
  name: 'newest-first',
  says: 'A list of which its summary or description says that the newest come first (most recent first, in reverse chronological order, from newest to oldest) begins with what was made last.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (effect?.verb !== 'list' || endpoint.order !== undefined || endpoint.ties !== undefined) continue;
      const { summary, description } = operation.map.value;
      if (![summary, description].some((words) => typeof words === 'string' && saysSo.test(words))) continue;
      endpoint.ties = 'newest';
      context.trail.infer(below(placeOfEndpoint(operation), 'ties'), newestFirst.name, operation.map.at, 0.8);
    }
  },
};

const saysSo =
  /\b(?:newest|latest|(?:most )?recent(?:ly created)?)(?: (?!last\b|oldest\b|and\b|or\b)\w+){0,2} first\b|\breverse[- ]chronological|\b(?:newest|latest|most recent) to (?:the )?oldest|\bdescending (?:order )?(?:by|of) (?:their |the )?(?:creation|created)/i;
