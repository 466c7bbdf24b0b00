import type { HandshakeKind } from './kind.ts';

/** A ping by POST, which has to be taken. */
export const ping = {
  word: 'ping',
  meaning: 'A ping is posted, `{ type: ping }`, and has to be answered with success.',
  members: {},
  problems: () => [],
  made: () => ({ method: 'POST', parameters: {}, headers: {}, body: { type: 'ping' }, answers: [] }),
} as const satisfies HandshakeKind;
