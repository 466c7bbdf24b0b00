/** Reads the answers of one connection that never has more than one request in flight. */
export class AnswerReader {
  status = 0;
  /** The bytes of a head that has not arrived whole. */
  #head: Buffer | undefined;
  /** Bytes of the body still to come; -1 between answers, Infinity in a chunked body. */
  #remaining = -1;
  /** The last bytes of a chunked body. */
  #tail = '';

  /** Takes the bytes that arrived, and says whether the answer is now whole. */
  take(bytes: Buffer, length: number): boolean {
    if (this.#remaining >= 0) return this.#takeBody(bytes, 0, length);
    const whole = this.#head === undefined ? bytes : Buffer.concat([this.#head, bytes.subarray(0, length)]);
    const end = this.#head === undefined ? length : whole.length;
    const headEnd = whole.indexOf('\r\n\r\n');
    if (headEnd < 0 || headEnd + 4 > end) {
      this.#head = Buffer.from(whole.subarray(0, end));
      return false;
    }
    this.#head = undefined;
    const head = whole.toString('latin1', 0, headEnd);
    this.status = Number(head.slice(9, 12));
    const stated = /\ncontent-length: *(\d+)/i.exec(head);
    const bodiless = this.status === 204 || this.status === 304;
    this.#remaining = stated !== null ? Number(stated[1]) : bodiless ? 0 : Number.POSITIVE_INFINITY;
    return this.#takeBody(whole, headEnd + 4, end);
  }

  #takeBody(bytes: Buffer, from: number, to: number): boolean {
    if (this.#remaining === Number.POSITIVE_INFINITY) {
      // The bodies asked for are JSON, in which the last chunk's line breaks cannot stand unescaped.
      this.#tail = (this.#tail + bytes.toString('latin1', from, to)).slice(-7);
      if (!this.#tail.endsWith('\r\n0\r\n\r\n')) return false;
      this.#tail = '';
      this.#remaining = -1;
      return true;
    }
    this.#remaining -= to - from;
    if (this.#remaining > 0) return false;
    this.#remaining = -1;
    return true;
  }
}
