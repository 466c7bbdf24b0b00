/** What is signed of a delivery, each time that it is tried. */
export interface Signed {
  readonly id: string;
  /** Whole seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** How a delivery shows that it comes from the service. */
export interface Signature {
  /** The header fields for these secrets, the newest first; or what is wrong with the secrets. */
  sign(signed: Signed, secrets: readonly string[]): Readonly<Record<string, string>> | { readonly wrong: string };
}
