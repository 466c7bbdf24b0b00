/**
 * Whether a number is a multiple of another as they are written, in decimal digits (JSON Schema Validation section 6.2.1): 19.99
 * is one of 0.01, although the division of the doubles that stand for them leaves something over.
 */
export function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  const quotient = Number(value) / Number(factor);
  if (typeof value === 'number' && Number.isInteger(quotient) && Number.isSafeInteger(quotient)) return true;
  const dividend = decimal(value);
  const divisor = decimal(factor);
  if (dividend === undefined || divisor === undefined || divisor.digits === 0n) return false;
  const scale = Math.min(dividend.exponent, divisor.exponent);
  const whole = dividend.digits * 10n ** BigInt(dividend.exponent - scale);
  return whole % (divisor.digits * 10n ** BigInt(divisor.exponent - scale)) === 0n;
}

/** The digits of a number and the power of ten that they are counted in; nothing for one that is infinite or none. */
function decimal(value: number | bigint): { readonly digits: bigint; readonly exponent: number } | undefined {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? [];
  if (whole === '') return undefined;
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(power) - fraction.length };
}
