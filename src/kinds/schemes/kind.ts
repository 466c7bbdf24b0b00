import type { Json, JsonMap } from '../../document/document.ts';
import type { Comparison } from '../comparison.ts';
import type { Members, Problem } from '../member.ts';
import type { RequestSigning } from './signing.ts';

/** What a document states of a scheme. */
export interface SchemeFacts {
  readonly name: string;
  readonly in: 'header' | 'query' | 'cookie';
  readonly prefix?: string;
  readonly generate?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly algorithms?: readonly string[];
  readonly jwks?: string;
  readonly secretEnv?: string;
  readonly flows: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly scopes: Readonly<Record<string, string>>;
  /** The values of the words that belong to kinds of schemes, as they are written. */
  readonly own: Readonly<Record<string, Json>>;
}

/** A scheme and where its credential stands: the name of the header, query parameter or cookie; absent where that is open. */
export interface PlacedScheme extends SchemeFacts {
  readonly carriedIn?: string;
}

/** One kind of scheme: how a credential of it stands in a request, what shows that it is good, and how it is asked for. */
export interface SchemeKind {
  /** The word, as `type` writes it. */
  readonly word: string;
  readonly meaning: string;
  /** The words beside a scheme's own that say something of this kind. */
  readonly members: Members;
  /** The header that carries a credential where the document does not say. */
  readonly usualHeader?: string;
  /** What stands before the credential in `Authorization` where the document does not say; nothing elsewhere. */
  readonly prefix?: string;
  /** What shows that a credential is good. Absent = there are no means for it here, and it is refused by name. */
  readonly proof?: Proof;
  /** Whether a standard says what a credential looks like; otherwise `generate` does. */
  readonly hasStandardForm: boolean;
  /** Whether a standard of its own has whoever is refused be told of it in `WWW-Authenticate` (RFC 6750 section 3, RFC 7617 section 2), where it stands in `Authorization`. */
  readonly hasStandardChallenge?: true;
  /** Whether tokens are given out by stated flows, with the scopes that the scheme lists and no others. */
  readonly hasFlows?: true;
  /** What is wrong with how it is stated; `words` are those that stand there, with or without a value. */
  problems(facts: SchemeFacts, words: readonly string[]): readonly Problem[];
  /** What a 401 asks for (RFC 9110 section 11.6.1), as one challenge. */
  challenge(asked: ChallengeSubject): string;
  /** Whether a text can be a credential of it, as somebody who has one gives it. */
  takes(text: string): boolean;
  /** What stands behind the prefix for a credential as somebody gives it, and the name that is in it, where one is. */
  presented(text: string): { readonly text: string; readonly name?: string };
  /** A credential of its form that nobody gave out. */
  readonly invented: string;
  /** What is wrong with the form of a credential that a service accepts. */
  formFlaw(facts: SchemeFacts, text: string): FormFlaw | undefined;
  /** Credentials that must not be good, made of one that is: all that can be made from outside. */
  nearMisses(facts: Pick<SchemeFacts, 'generate'>, text: string, forge: Forge): readonly NearMiss[];
  /** How OpenAPI writes it. */
  toOpenApi(scheme: PlacedScheme): InOpenApi;
  /** Whether a scheme of an export of our own, which does not say its kind, is of this one. */
  isInOpenApi(scheme: JsonMap): boolean;
  /** What a scheme of OpenAPI, Swagger or AsyncAPI says in this language; nothing where it is of another kind. */
  ofForeign(scheme: JsonMap): OfForeign | undefined;
  /** How AsyncAPI writes it; nothing where it has no word for it, or too much is open. */
  toAsyncApi(scheme: PlacedScheme): JsonMap | undefined;
  /** How a later scheme of this kind stands to an earlier one, for those who call; where it stands is compared for all kinds alike. */
  compare(before: SchemeFacts, after: SchemeFacts): Comparison;
}

/** That a credential was given out and is kept, hashed; a name and a password kept in the same way; its own signature; that the request is signed with it; or that the server that gave it out says so. */
export type Proof = KeyProof | PasswordProof | SignatureProof | { readonly by: 'token' | 'asking' };

export interface KeyProof {
  readonly by: 'key';
  /** The key in what stands behind the prefix, where that is not the key itself; nothing where there is none. */
  read?(text: string): string | undefined;
  /** What stands behind the prefix for a key. */
  write?(key: string): string;
  /** Whether a proxy tells it: from whoever is no trusted proxy it is not good. Such a key is brought along, in any form that is read. */
  readonly isToldByProxy?: true;
  /** What one looks like that is made for a run of the service, where the document does not say. */
  readonly form?: string;
}

export interface PasswordProof {
  readonly by: 'password';
  /** The name and the password in what stands behind the prefix; nothing where it is none. */
  read(text: string): { readonly name: string; readonly password: string } | undefined;
  /** What stands behind the prefix for a name and a password. */
  write(name: string, password: string): string;
  /** Why a name or a password cannot be sent, where it cannot. */
  flaw(name: string, password: string): string | undefined;
}

/** That a request is signed, with a secret or a private key that a caller has; what is kept of it is found by the key's identifier. */
export interface SignatureProof {
  readonly by: 'signing';
  /** What has to be stated before anything can be judged, and is not. */
  lacks(facts: SchemeFacts): string | undefined;
  /** How requests are signed as a scheme states it; what depends on the facts alone is worked out here, once. */
  compile(scheme: PlacedScheme): RequestSigning;
  /** What a client has to know to sign: the `algorithms`, and the `fields` with what an HMAC `signs` of a request, or what a message `covers`. */
  forClients(scheme: PlacedScheme): JsonMap;
}

/** What a challenge speaks of. */
export interface ChallengeSubject {
  readonly realm: string;
  readonly in: 'header' | 'query' | 'cookie';
  /** The name of the header, query parameter or cookie. */
  readonly name: string;
  readonly prefix: string | undefined;
  /** Whether a credential came and was not good. */
  readonly isBad: boolean;
}

/** What is promised of the form of a credential, and what was seen; or why nothing can be said of it. */
export type FormFlaw = { readonly promised: string; readonly seen: string } | { readonly moot: string };

/** The base64url of a signature over a text that somebody else than the issuer makes, by an algorithm of RFC 7518. */
export type Forge = (algorithm: string, signed: string) => string;

/** A credential that must not be good. */
export interface NearMiss {
  /** What was done to it: `its last character is another`. */
  readonly how: string;
  /** What stands behind the prefix. */
  readonly text: string;
  /** What a service that takes it does not keep: the form in which its scheme has to be read, or the scheme itself. */
  readonly breaks: 'schemes' | 'token formats';
}

/** A scheme as OpenAPI writes it. */
export interface InOpenApi {
  readonly written: JsonMap;
  /** The stated words that it says; all others are carried beside it. */
  readonly told: readonly string[];
  /** Whether it says its kind by itself. */
  readonly isKindTold: boolean;
  /** Whether an operation can ask for scopes of it. */
  readonly takesScopes: boolean;
}

/** What another format says of a scheme. */
export interface OfForeign {
  readonly stated: JsonMap;
  /** The keys of the source that say so. */
  readonly read: readonly string[];
}
