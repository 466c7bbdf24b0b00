import { timingSafeEqual } from 'node:crypto';

/** How far the time of a signature may be from now; what Standard Webhooks advises receivers to allow. */
const toleranceSeconds = 300;

/** What is wrong with the time that a delivery says it was signed at. */
export function timeFlaw(name: string, text: string, nowSeconds: number | undefined): string | undefined {
  if (!/^\d+$/.test(text)) return `${name} is ${text}, which is no whole number of seconds`;
  if (nowSeconds === undefined || Math.abs(Number(text) - nowSeconds) <= toleranceSeconds) return undefined;
  return `${name} is ${text}, which is more than ${toleranceSeconds} s from ${Math.round(nowSeconds)}`;
}

/** Whether two signatures are the same, in a time that tells nothing of where they differ. */
export function isSameSignature(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
