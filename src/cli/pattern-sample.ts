import { type Instruction, readPattern } from '../parts/expressions/read-pattern.ts';

/** A shortest text in which a pattern is found, made of plain characters; undefined where there is none, or none so simple. */
export function sampleOfPattern(pattern: string): string | undefined {
  const steps = readPattern(pattern);
  const text = typeof steps === 'string' ? undefined : shortestWay(steps);
  return text !== undefined && isFound(pattern, text) ? text : undefined;
}

/** Goes through the steps of a pattern in rounds, a character a round, until one way has come to the end. */
function shortestWay(steps: readonly Instruction[]): string | undefined {
  const reached = new Set<number>();
  let texts = new Map<number, string>([[0, '']]);
  while (texts.size > 0) {
    const next = new Map<number, string>();
    // Entries that are added while the map is gone through are gone through as well.
    for (const [index, text] of texts) {
      if (reached.has(index)) continue;
      reached.add(index);
      const step = steps[index];
      if (step === undefined || step.op === 'end') return text;
      if (step.op === 'fork') for (const to of step.to) texts.set(to, texts.get(to) ?? text);
      else if (step.op === 'where') texts.set(index + 1, texts.get(index + 1) ?? text);
      else {
        const character = plainCharacters.find((one) => step.takes(one.codePointAt(0) ?? 0));
        if (character !== undefined && !next.has(index + 1)) next.set(index + 1, text + character);
      }
    }
    texts = next;
  }
  return undefined;
}

/** The printable characters of ASCII, the most usual ones first. */
const plainCharacters = [...'aA0', ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(126 - index))];

/** Whether JSON Schema's own engine agrees; where a pattern asks what stands around, the way through it may not. */
function isFound(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return false;
  }
}
