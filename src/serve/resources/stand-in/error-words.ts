import { type ErrorCondition, ownAnswer } from '../../../parts/conditions.ts';
import { phrase } from '../../http/refusals.ts';

/** The listed word that says most of what happened; nothing where none says any of it. */
export function nearestWord(
  listed: readonly string[],
  { condition, status }: { readonly condition: ErrorCondition | undefined; readonly status: number },
): string | undefined {
  // What HTTP calls it, whatever status it is answered with.
  const own = condition === undefined ? status : ownAnswer(condition).status;
  const said = new Set([...wordsOf(condition ?? ''), ...wordsOf(phrase(own))]);
  const usual = new Set(own < 500 ? ['invalid', 'request', 'bad', 'client'] : ['internal', 'server', 'api', 'service']);
  let best: { readonly word: string; readonly score: number } | undefined;
  for (const word of listed) {
    const words = wordsOf(word);
    const score = words.filter((one) => said.has(one)).length * 3 + words.filter((one) => usual.has(one)).length;
    // Of two words that say as much, the one that says nothing else.
    const told = score === 0 ? 0 : score - words.length / 10;
    if (told > (best?.score ?? 0)) best = { word, score: told };
  }
  return best?.word;
}

function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return [...new Set(parted.split(/[^a-z]+/).filter((word) => word !== ''))];
}
