/** How long another server may take to answer. */
const timeoutMs = 5_000;

/**
 * Fetches a JSON document of so many bytes at the most. Redirects are not followed: the address is the one that the document states.
 * @throws where the server answers otherwise than with such a document, or not in time.
 */
export async function fetchJson(url: string, bytesMost: number, asked: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, { ...asked, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
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
