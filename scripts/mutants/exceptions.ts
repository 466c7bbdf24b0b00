/** A mutant that changes nothing which can be told from outside: the line as it is, the line as it would be, and why. */
export interface Exception {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Known by their text, so that a file can be moved; they are counted apart and are neither killed nor survivors. */
export const exceptions: readonly Exception[] = [];

/** The exception that stands for a mutant. */
export function exceptionFor({ from, to }: { readonly from: string; readonly to: string }): Exception | undefined {
  return exceptions.find((exception) => exception.from === from && exception.to === to);
}
