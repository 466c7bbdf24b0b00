import { apiKey } from './api-key.ts';
import { basic } from './basic.ts';
import { jwt } from './jwt.ts';
import type { SchemeKind } from './kind.ts';
import { oauth2 } from './oauth2.ts';
import { signature } from './signature.ts';

/** Every type of scheme that can be stated. */
export const schemeKinds: readonly SchemeKind[] = [apiKey, basic, jwt, oauth2, signature];
