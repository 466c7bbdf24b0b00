/** The case cannot be carried out, and says nothing about its facts. */
export class Untestable extends Error {
  override readonly name = 'Untestable';
}
