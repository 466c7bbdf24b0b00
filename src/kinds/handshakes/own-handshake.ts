import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { isToken } from '../http-token.ts';
import type { Problem } from '../member.ts';
import type { Handshake, HandshakeFacts, HandshakeKind } from './kind.ts';

const texts = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** A handshake of one's own: `{ method: GET, parameters: { hub.challenge: "{challenge}" }, answer: "{challenge}" }`. */
export const ownHandshake = {
  word: 'own-handshake',
  meaning: 'A request of one’s own, with `{challenge}` and `{id}` in it, and what has to be answered.',
  members: {
    method: { form: { type: 'string', enum: ['GET', 'POST'], description: 'POST unless stated.' } },
    parameters: { form: { ...texts, description: 'Parameters of its query: { hub.challenge: "{challenge}" }.' } },
    headers: { form: { ...texts, description: 'Header fields of it.' } },
    body: {
      form: {
        type: 'object',
        additionalProperties: {},
        description: 'The JSON that it carries, with {challenge} and {id} in its texts.',
      },
    },
    answer: {
      form: {
        anyOf: [{ type: 'string' }, texts],
        description: 'The whole of the answer, or members of its JSON; any success unless stated.',
      },
    },
  },
  problems,
  made,
} as const satisfies HandshakeKind;

const code = 'events/confirm';

/** What a request's own header fields are for: where it goes, its body and its connection (RFC 9110 sections 7.2, 7.6.1 and 8, RFC 9112). */
const ofRequests: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

function problems(facts: HandshakeFacts): Problem[] {
  const { method, body, headers, answer } = facts;
  const wrong = (message: string, at: readonly string[]): Problem => ({ code, message, at });
  const asked = JSON.stringify([facts.parameters ?? {}, headers ?? {}, body ?? {}]);
  const strange = [...JSON.stringify(facts).matchAll(/\{(\w+)\}/g)].find(([, word]) => word !== 'challenge' && word !== 'id');
  return [
    ...(strange ? [wrong(`\`${strange[0]}\` is no word of a handshake: there are \`{challenge}\` and \`{id}\`.`, [])] : []),
    ...(method === 'GET' && body !== undefined ? [wrong('A GET carries no body.', ['body'])] : []),
    ...(answer !== undefined && !JSON.stringify(answer).includes('{challenge}')
      ? [wrong('What is to be answered is the same each time, and known to everybody.', ['answer'])]
      : []),
    ...(answer !== undefined && JSON.stringify(answer).includes('{challenge}') && !asked.includes('{challenge}')
      ? [wrong('The challenge is to be answered, and is not asked.', ['answer'])]
      : []),
    ...Object.keys(isMap(headers) ? headers : {}).flatMap((name) => {
      if (!isToken(name)) return [wrong(`\`${name}\` is no header name.`, ['headers', name])];
      return ofRequests.has(name.toLowerCase()) ? [wrong(`\`${name}\` follows from the request itself.`, ['headers', name])] : [];
    }),
  ];
}

function made({ method, parameters, headers, body, answer }: HandshakeFacts): Handshake {
  return {
    method: method === 'GET' ? 'GET' : 'POST',
    parameters: textsIn(parameters),
    headers: textsIn(headers),
    ...(isMap(body) && { body: body as JsonMap }),
    answers: typeof answer === 'string' ? [answer] : isMap(answer) ? [textsIn(answer)] : [],
  };
}

function textsIn(value: Json | undefined): Record<string, string> {
  const entries = value !== undefined && isMap(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])));
}
