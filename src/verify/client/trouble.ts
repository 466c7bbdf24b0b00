import type { Trouble } from '../script/exchange.ts';
import { Late, TooLarge } from './ask.ts';

/** What kept an answer from coming, in words for people. */
export function troubleOf(error: unknown): Trouble {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof TooLarge) return { kind: 'too large', message };
  if (error instanceof Late) return { kind: 'timed out', message };
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
    return { kind: 'refused', message: 'the connection was refused' };
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return { kind: 'timed out', message: 'no answer came in time' };
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW' || error instanceof TypeError)
    return { kind: 'garbage', message: `the answer was no HTTP (${message})` };
  return { kind: 'broken off', message: `the connection was broken off (${message})` };
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : '';
}
