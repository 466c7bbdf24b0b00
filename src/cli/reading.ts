import { type CheckReport, check } from '../check/check.ts';
import { fromForeign } from '../convert/foreign.ts';
import { readDocument, Unreadable } from '../document/read.ts';
import { isKey } from '../parts/form.ts';
import { Misuse } from './verb.ts';

/**
 * Reads and checks the document of a command.
 * @throws {Misuse} where its own file cannot be read.
 */
export async function reportOn(path: string): Promise<CheckReport> {
  try {
    return check(await readDocument(path, { isKey, foreign: fromForeign }));
  } catch (error) {
    if (error instanceof Unreadable) throw new Misuse(error.message, { cause: error });
    throw error;
  }
}
