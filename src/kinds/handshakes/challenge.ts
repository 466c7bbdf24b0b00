import type { HandshakeKind } from './kind.ts';

/** A challenge by POST, which has to be given back: as the whole of the answer, or as its member `challenge`. */
export const challenge = {
  word: 'challenge',
  meaning:
    'A challenge is posted, `{ type: url_verification, challenge }`, and has to be given back, as the answer or as its member.',
  members: {},
  problems: () => [],
  made: () => ({
    method: 'POST',
    parameters: {},
    headers: {},
    body: { type: 'url_verification', challenge: '{challenge}' },
    answers: ['{challenge}', { challenge: '{challenge}' }],
  }),
} as const satisfies HandshakeKind;
