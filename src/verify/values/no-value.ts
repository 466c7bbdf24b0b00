/** No value of the shape is found by what we know. */
export class NoValue extends Error {
  override readonly name = 'NoValue';
}
