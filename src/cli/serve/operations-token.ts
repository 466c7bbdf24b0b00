import { readFileSync } from 'node:fs';
import { Misuse } from '../verb.ts';

/** What can be guessed is no token. */
const lettersLeast = 32;

/** What an operator has to show, from the file that holds it; blanks around it are not part of it. @throws {Misuse} */
export function readOperationsToken(path: string): string {
  const token = textOf(path).trim();
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= lettersLeast) return token;
  throw new Misuse(
    `--operations-token-file ${path}: a token is one word of ${lettersLeast} letters, digits and signs or more; make one with: openssl rand -base64 33`,
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Misuse(
      `--operations-token-file ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        cause,
      },
    );
  }
}
