import type { VerifyReport } from './report.ts';

/** Whether a service broke a promise, or failed, and no baseline knows of it. */
export function isFailed({ breaches, crashes }: Pick<VerifyReport, 'breaches' | 'crashes'>): boolean {
  return [...breaches, ...crashes].some(({ isKnown }) => isKnown !== true);
}
