/** How long a key set may take to arrive, and how large it may be. */
const timeoutMs = 5_000;
const bytesMost = 1024 * 1024;

/** Fetches a JSON document. Redirects are not followed: the address is the one that the document states. */
export async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}.`);
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body) {
    length += piece.length;
    if (length > bytesMost) throw new Error(`${url} answered more than ${bytesMost} bytes.`);
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}
