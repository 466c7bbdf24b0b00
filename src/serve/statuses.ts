import { STATUS_CODES } from './node-http.ts';

/** The standard phrase of a status. */
export function phrase(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
