import type { JsonMap } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Problem } from '../member.ts';
import { challengeOf } from './challenges.ts';
import { asHttpKey, asKey } from './in-openapi.ts';
import type { PlacedScheme, SchemeFacts, SchemeKind } from './kind.ts';
import { statedComponent } from './message-components.ts';
import { type Covering, lacking, ownMisses, readMessage, signMessage } from './message-signatures.ts';
import { ofSigner } from './near-misses.ts';
import { requestAlgorithm, requestAlgorithms } from './request-keys.ts';
import { type RequestSigning, readSigner } from './signing.ts';
import {
  commonProblems,
  isStatedText,
  signingMembers,
  toleranceMsOf,
  tooLittle,
  usualSigningMisses,
  wrongAt,
} from './signing-words.ts';
import { tokenMembers } from './token.ts';

/** HTTP Message Signatures (RFC 9421): what is covered, and by which algorithms, a document states; a body by its `Content-Digest` (RFC 9530). */
export const httpSignature = {
  word: 'http_signature',
  meaning: 'A signature over stated components of the request (RFC 9421), by a key that is named in it.',
  members: {
    algorithms: tokenMembers.algorithms,
    covers: {
      form: {
        type: 'array',
        items: { type: 'string' },
        description: 'What every signature covers at least: ["@method", "@target-uri", "content-digest"].',
      },
    },
    ...signingMembers,
  },
  usualHeader: 'Signature',
  proof: { by: 'signing', lacks, compile, forClients },
  hasStandardForm: true,
  problems,
  challenge: ({ realm }) => challengeOf('Signature', [['realm', realm]]),
  takes: (text) => readSigner(text) !== undefined,
  presented: (text) => ({ text }),
  invented: 'ninefold-verify:ninefold-verify-secret',
  formFlaw: () => undefined,
  nearMisses: (_facts, text) => ofSigner(text),
  toOpenApi: (scheme) => asKey(scheme, false, 'Signature'),
  isInOpenApi: () => false,
  // What has to be covered, no other format says.
  ofForeign: () => undefined,
  toAsyncApi: asHttpKey,
  compare: (before, after) => (isSame(statedOf(before), statedOf(after)) ? 'same' : 'other'),
} as const satisfies SchemeKind;

function statedOf({ own, algorithms = [] }: SchemeFacts) {
  const { covers, tolerance, replay } = own;
  return {
    covers: Array.isArray(covers) ? covers.filter(isStatedText) : [],
    algorithms: [...algorithms],
    tolerance: isStatedText(tolerance) ? tolerance : null,
    replay: isStatedText(replay) ? replay : null,
  };
}

/** Of RFC 9421: HMAC with SHA-512 is none of its. */
const offered = requestAlgorithms.filter((name) => name !== 'hmac-sha512');

function lacks(facts: SchemeFacts): string | undefined {
  const { covers, algorithms } = statedOf(facts);
  return covers.length > 0 && algorithms.length > 0 ? undefined : 'what is covered, and by which algorithms';
}

function problems(facts: SchemeFacts, words: readonly string[]): Problem[] {
  const { algorithms = [], own, name } = facts;
  const { covers } = own;
  const unknown = algorithms.filter((word) => !offered.some((one) => one === word));
  const list = Array.isArray(covers) ? covers : [];
  const strange = list.flatMap((text, index) =>
    isStatedText(text) && statedComponent(text)
      ? []
      : [
          wrongAt(
            `${JSON.stringify(text)} is no component that a request has.`,
            'Write `@method`, `@target-uri`, `@authority`, `@path`, `@query`, or a header in small letters.',
            'covers',
            String(index),
          ),
        ],
  );
  const said = list.filter(isStatedText);
  const wrong = [
    ...commonProblems(facts),
    ...(words.includes('algorithms') ? [] : [wrongAt(`Nothing says how \`${name}\` is signed.`, 'Add `algorithms: [ed25519]`.')]),
    ...unknown.map((word) =>
      wrongAt(
        `\`${word}\` is no algorithm of RFC 9421.`,
        `Write one of ${offered.join(', ')}.`,
        'algorithms',
        String(algorithms.indexOf(word)),
      ),
    ),
    // Of a member that is left open nothing is judged.
    ...(words.includes('covers') && (!Array.isArray(covers) || list.length > 0)
      ? []
      : [
          wrongAt(
            `Nothing says what a signature of \`${name}\` covers.`,
            'Add `covers: ["@method", "@target-uri", "content-digest"]`.',
          ),
        ]),
    ...strange,
    ...said.flatMap((text, index) =>
      said.indexOf(text) < index
        ? [wrongAt(`\`${text}\` stands there twice.`, 'Keep one of them.', 'covers', String(index))]
        : [],
    ),
  ];
  const isEnough = said.length === 0 || said.includes('@method') || said.includes('content-digest');
  return wrong.length > 0 ? wrong : tooLittle(name, isEnough, 'covers');
}

/** What stands in a request only where it has a body. */
const ofBodies: ReadonlySet<string> = new Set(['content-digest', 'content-type', 'content-length', 'content-encoding']);

function forClients(scheme: PlacedScheme): JsonMap {
  const { covers, algorithms } = statedOf(scheme);
  return { algorithms, covers };
}

function compile(scheme: PlacedScheme): RequestSigning {
  const { covers, algorithms: words, replay } = statedOf(scheme);
  const stated = covers.flatMap((text) => statedComponent(text) ?? []);
  const withoutBody = stated.filter(({ name }) => !ofBodies.has(name));
  const [first, ...others] = words.flatMap((word) => requestAlgorithm(word) ?? []);
  const covering: Covering = {
    wanted: (hasBody) => (hasBody ? stated : withoutBody),
    algorithms: [first ?? 'ed25519', ...others],
    isTakenOnce: replay !== null,
  };
  const toleranceMs = toleranceMsOf(scheme);
  const sign: RequestSigning['sign'] = (request, signer, moment) =>
    signMessage(request, signer, moment, covering.wanted((request.body?.length ?? 0) > 0));
  const has = (...names: readonly string[]) => stated.some(({ name }) => names.includes(name));
  const signs = new Set([
    ...(has('@method') ? ['method'] : []),
    ...(has('@target-uri', '@request-target', '@path') ? ['path'] : []),
    ...(has('@target-uri', '@request-target', '@query') ? ['query'] : []),
    ...(has('content-digest') ? ['body'] : []),
  ]);
  return {
    algorithms: covering.algorithms,
    toleranceMs,
    signs,
    isTakenOnce: covering.isTakenOnce,
    read: (head, text) => readMessage(covering, head, text),
    sign,
    misses: [
      ...usualSigningMisses(sign, { toleranceMs, signed: signs, carrier: 'signature' }),
      ...stated.map((left) => lacking(left, covering)),
      ...ownMisses(sign, covering),
    ],
  };
}
