import type { Json, Place, Pointer } from './document.ts';
import type { Gathering } from './gathering.ts';
import { report } from './report.ts';

/** A number as it was written, held to what a JSON number (an IEEE 754 double) can keep: null where it is not finite. */
export function checkNumber(value: number, written: string, at: Pointer, place: Place, gathering: Gathering): Json {
  if (!Number.isFinite(value)) {
    report(gathering, 'document/number-not-finite', place, `\`${shown(written)}\` is no number that a document can hold.`, {
      at,
    });
    return null;
  }
  if (Number.isSafeInteger(value) || !integer.test(written) || isExact(value, written)) return value;
  const message = `\`${shown(written)}\` is beyond what a JSON number keeps exactly, and is read as ${value}.`;
  report(gathering, 'document/number-inexact', place, message, { at });
  return value;
}

const integer = /^[-+]?(?:\d+|0x[\da-f]+|0o[0-7]+)$/i;

function isExact(value: number, written: string): boolean {
  const sign = written.startsWith('-') ? -1n : 1n;
  const digits = written.replace(/^[-+]/, '');
  // A double of that size has at most 309 digits; a longer one is not finite.
  return digits.length <= 400 && BigInt(digits) * sign === BigInt(value);
}

function shown(written: string): string {
  return written.length > 40 ? `${written.slice(0, 37)}…` : written;
}
