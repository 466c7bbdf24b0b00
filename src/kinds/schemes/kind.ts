import { quotedString } from '../http-token.ts';

/** One type of scheme: how a credential of it stands in a request, what shows that it is good, and how it is asked for. */
export interface SchemeKind {
  readonly type: 'api_key' | 'basic' | 'jwt' | 'oauth2' | 'signature';
  readonly meaning: string;
  /** What stands before the credential in `Authorization` where the document does not say; nothing elsewhere. */
  readonly prefix?: string;
  /**
   * What shows that a credential is good: that it was given out and is kept, hashed; a password kept in the same way; or
   * its own signature. Absent = there are no means for it here, and it is refused by name.
   */
  readonly proof?: 'key' | 'password' | 'token';
  /** What a 401 asks for (RFC 9110 section 11.6.1), as one challenge. */
  challenge(asked: Asked): string;
}

/** What a challenge speaks of. */
export interface Asked {
  readonly realm: string;
  readonly in: 'header' | 'query' | 'cookie';
  /** The name of the header, query parameter or cookie. */
  readonly name: string;
  readonly prefix: string | undefined;
  /** Whether a credential came and was not good. */
  readonly isBad: boolean;
}

/** A challenge by its scheme's name and its parameters. */
export function challengeOf(name: string, parameters: readonly (readonly [name: string, value: string])[]): string {
  return `${name} ${parameters.map(([key, value]) => `${key}=${quotedString(value)}`).join(', ')}`;
}

/** Whether the credential stands where HTTP has it. */
export function isInAuthorization(asked: Pick<Asked, 'in' | 'name'>): boolean {
  return asked.in === 'header' && asked.name.toLowerCase() === 'authorization';
}
