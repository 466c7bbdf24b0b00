/** Adds header fields; two sources of links are one list (RFC 8288 section 3). */
export function addHeaders(headers: Record<string, string>, more: Readonly<Record<string, string>> | undefined): void {
  if (!more) return;
  for (const name in more) {
    const [known, value] = [headers[name], more[name] as string];
    if (known === undefined) headers[name] = value;
    else if (name === 'link' || name === 'vary') headers[name] = `${known}, ${value}`;
  }
}
