/** A value as text, as `String` has it; maps and lists as JSON, since what a service answers may have a `toString` of its own that is no function. */
export function asText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
