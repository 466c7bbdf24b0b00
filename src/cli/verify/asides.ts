import type { VerifyReport } from '../../verify/report.ts';
import { sufficingWords } from './text.ts';

/** What pages say beside the verdicts, each under its heading: what was left out by name, what was left untried, and notes. */
export function asidesOf({ skips, untried, sufficing, notes }: VerifyReport): readonly (readonly [string, readonly string[]])[] {
  return [
    ['Skipped', skips.map(({ name, reason, until }) => `${name}, until ${until}: ${reason}`)],
    ['Left untried', untried.map(({ stated, trials }) => `${stated}: ${trials.join(', ')}`)],
    ['Notes', [...notes, ...(sufficing ? [`All would most likely have been tried with ${sufficingWords(sufficing)}.`] : [])]],
  ];
}
