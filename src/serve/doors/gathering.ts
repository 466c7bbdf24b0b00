/** The bytes of a body as they come in, bounded in number and in how many pieces they are kept. */
export class Gathering {
  readonly #bytesMax: number;
  readonly #joined: Buffer[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes a piece; false where it is too much. */
  take(piece: Buffer): boolean {
    this.#bytes += piece.byteLength;
    if (this.#bytes > this.#bytesMax) return false;
    // A piece costs some two hundred bytes besides its own, and a client can send them of one byte each.
    if (this.#pieces.push(piece) === 1024) {
      this.#joined.push(Buffer.concat(this.#pieces));
      this.#pieces = [];
    }
    return true;
  }

  whole(): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1 && this.#joined.length === 0) return first;
    return Buffer.concat([...this.#joined, ...this.#pieces], this.#bytes);
  }
}
