import { STATUS_CODES } from 'node:http';

/** The standard phrase of a status. */
export function phrase(status: number): string {
  return STATUS_CODES[status] ?? 'Error';
}
