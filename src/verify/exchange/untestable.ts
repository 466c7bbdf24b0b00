/** The case cannot be carried out, and says nothing about its facts. */
export class Untestable extends Error {
  override readonly name = 'Untestable';
}

/** There are as many rows as there may be: once cases are over that have them, it can be carried out, so that nothing else is tried instead. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

/** What comes of an attempt; nothing where it cannot be carried out, and something else can. */
export async function ifTestable<T>(attempt: Promise<T>): Promise<T | undefined> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof Untestable) return undefined;
    throw error;
  }
}
