import type { Json } from '../../document/document.ts';
import { durationMs } from '../measures.ts';
import type { Problem } from '../member.ts';
import type { SchemeFacts } from './kind.ts';
import type { RequestSigning, RequestToSign, SigningMiss } from './signing.ts';

/** How far the time of a signature may be from now, where the document does not say: what Standard Webhooks advises. */
const usualToleranceMs = 300_000;
const toleranceMostMs = 3_600_000;

/** How far the time of a signature may be from now, in milliseconds. */
export function toleranceMsOf({ own: { tolerance } }: Pick<SchemeFacts, 'own'>): number {
  return (typeof tolerance === 'string' ? durationMs(tolerance) : undefined) ?? usualToleranceMs;
}

/** The code of everything that is wrong with how signed requests are stated. */
const code = 'authentication/request-signature';

/** What is wrong at a member, or with the whole where none is named. */
export function wrongAt(message: string, remedy: string, ...at: string[]): Problem {
  return { code, message, remedy, at, onKey: at.length === 0 };
}

/** What is wrong with the words that all kinds of signed requests have. */
export function commonProblems({ in: place, own }: SchemeFacts): Problem[] {
  const ms = typeof own.tolerance === 'string' ? durationMs(own.tolerance) : undefined;
  const isTolerable =
    own.tolerance === undefined || !isStatedText(own.tolerance) || (ms !== undefined && ms >= 1000 && ms <= toleranceMostMs);
  return [
    ...(place === 'header' ? [] : [wrongAt('A signature stands in a header.', 'Write `header`.', place)]),
    ...(isTolerable
      ? []
      : [wrongAt('A tolerance is from a second to an hour.', 'Write `5m`, or another duration up to `1h`.', 'tolerance')]),
  ];
}

/** What is wrong with a signature that holds for any method and any body; `at` is the member that says what it is over. */
export function tooLittle(name: string, isEnough: boolean, at: string): Problem[] {
  if (isEnough) return [];
  const message = `A signature of \`${name}\` is good for any method and any body.`;
  return [{ code: 'authentication/signs-little', message, at: [at] }];
}

/** The members that all kinds of signed requests have. */
export const signingMembers = {
  tolerance: {
    form: {
      type: 'string',
      description: 'How far the time of a signature may be from now, both ways: 5m unless said, 1h at the most.',
    },
  },
  replay: {
    form: { type: 'string', enum: ['refuse'], description: 'A nonce of a key is taken once: the same request again is refused.' },
  },
} as const;

export function isStatedText(value: Json | undefined): value is string {
  return typeof value === 'string';
}

/** What a signature of a scheme is over, and what holds it. */
interface Signed {
  readonly toleranceMs: number | undefined;
  /** Of `method`, `path`, `query` and `body`. */
  readonly signed: ReadonlySet<string>;
  /** The header field that holds the signature. */
  readonly carrier: string;
}

/** Misses that any signed request has: other times, parts that are sent otherwise than signed, and a signature that is cut off. */
export function usualSigningMisses(sign: RequestSigning['sign'], { toleranceMs, signed, carrier }: Signed): SigningMiss[] {
  const parts = otherParts.filter(({ part }) => signed.has(part));
  return [
    ...(toleranceMs === undefined ? [] : otherTimes(sign, toleranceMs + 60_000)),
    ...parts.map((part) => signedFor(sign, part)),
    altered(sign, carrier, 'its signature is cut off', () => ''),
    altered(sign, carrier, 'its signature is another', (end) => (end === 'aaaa' ? 'bbbb' : 'aaaa')),
  ];
}

function otherTimes(sign: RequestSigning['sign'], beyondMs: number): SigningMiss[] {
  const shifted = (ms: number): SigningMiss['sign'] => {
    return (request, signer, moment) => sign(request, signer, { ...moment, nowMs: moment.nowMs + ms });
  };
  return [
    { how: 'its time is over', isOver: true, sign: shifted(-beyondMs) },
    { how: 'its time is to come', sign: shifted(beyondMs) },
  ];
}

type Change = (request: RequestToSign) => RequestToSign | undefined;

interface OtherPart {
  readonly how: string;
  readonly part: string;
  readonly needs?: Pick<SigningMiss, 'needsBody' | 'needsQuery'>;
  readonly other: Change;
}

const otherParts: readonly OtherPart[] = [
  {
    how: 'it was signed for another method',
    part: 'method',
    other: (request) => ({ ...request, method: request.method === 'PUT' ? 'POST' : 'PUT' }),
  },
  {
    how: 'it was signed for another path',
    part: 'path',
    other: (request) => ({ ...request, target: request.target.replace(/(?=\?|$)/, '/ninefold-verify') }),
  },
  {
    how: 'it was signed for another query',
    part: 'query',
    other: (request) => ({ ...request, target: `${request.target}${request.target.includes('?') ? '&' : '?'}ninefold=verify` }),
  },
  {
    how: 'it was signed without its query',
    part: 'query',
    needs: { needsQuery: true },
    other: (request) => {
      const [path = '', query] = request.target.split('?', 2);
      return query ? { ...request, target: path } : undefined;
    },
  },
  {
    how: 'it was signed for another body',
    part: 'body',
    needs: { needsBody: true },
    other: ({ body, ...request }) => {
      return body && body.length > 0 ? { ...request, body: Buffer.concat([body, Buffer.from(' ')]) } : undefined;
    },
  },
];

function signedFor(sign: RequestSigning['sign'], { how, needs, other }: OtherPart): SigningMiss {
  return {
    how,
    ...needs,
    sign(request, signer, moment) {
      const changed = other(request);
      return changed && sign(changed, signer, moment);
    },
  };
}

/** The last four characters of a signature as others. */
function altered(sign: RequestSigning['sign'], carrier: string, how: string, edit: (end: string) => string): SigningMiss {
  return {
    how,
    sign(request, signer, moment) {
      const fields = sign(request, signer, moment);
      return { ...fields, [carrier]: (fields[carrier] ?? '').replace(/[A-Za-z0-9+/]{4}(?=[^A-Za-z0-9+/]*$)/, edit) };
    },
  };
}
