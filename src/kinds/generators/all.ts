import { base64 } from './base64.ts';
import { hex } from './hex.ts';
import type { Generator } from './kind.ts';
import { number } from './number.ts';
import { random } from './random.ts';
import { ulidGenerator } from './ulid.ts';
import { uuid } from './uuid.ts';
import { uuidv7 } from './uuidv7.ts';

/** Every word that a template may hold. */
export const generators = [ulidGenerator, uuid, uuidv7, random, base64, hex, number] as const satisfies readonly Generator[];
