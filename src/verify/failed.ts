import type { VerifyReport } from './report.ts';

/** Whether a service broke a promise that no baseline knows of. */
export function isFailed({ breaches }: Pick<VerifyReport, 'breaches'>): boolean {
  return breaches.some(({ isKnown }) => isKnown !== true);
}
