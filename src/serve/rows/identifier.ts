import type { Value } from '../exchange.ts';

/** The text by which a row is known: of an integer its digits. Nothing for what no path could name. */
export function identifierText(value: Value): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'number' && Number.isInteger(value) ? String(BigInt(value)) : String(value);
  return text === '' || text === '.' || text === '..' || text.includes('\0') ? undefined : text;
}

/** What that text is as the value of a field: an integer exactly. A text that is none stays as it is, and fits no integer. */
export function identifierValue(text: string, isInteger: boolean): Value {
  if (!isInteger || !/^(?:0|-?[1-9]\d*)$/.test(text)) return text;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
