/**
 * Bytes that came in a request: a file of a form, or a body of any type that is neither JSON, a form nor text. It
 * stands in a value where the shape says `format: binary`; validation lets it pass there, in place of a string, and counts its
 * bytes as the string's length. In JSON it writes itself as base64.
 */
export class WireFile {
  /** The file's name without folders, where the sender gave one. */
  readonly filename: string | undefined;
  /** The media type it was sent with, parameters and all; `application/octet-stream` where it had none. */
  readonly type: string;
  readonly bytes: Uint8Array;

  constructor(filename: string | undefined, type: string, bytes: Uint8Array) {
    this.filename = filename;
    this.type = type;
    this.bytes = bytes;
  }

  toJSON(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString('base64');
  }
}
