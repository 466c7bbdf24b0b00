import type { Posted } from './posting.ts';

/** Whether a receiver took what it was sent: 2xx, and nothing else. */
export function isAccepted({ status }: Posted): boolean {
  return status !== undefined && status >= 200 && status < 300;
}
