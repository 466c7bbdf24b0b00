/** What is wrong with the challenges of a 401 (RFC 9110 section 11.6.1): there has to be one, by a scheme's name. */
export function challengeFlaw(field: string | undefined): string | undefined {
  if (field === undefined || field.trim() === '') return 'there is no WWW-Authenticate';
  const isChallenge = /^[!#$%&'*+.^_`|~\w-]+(?:\s+\S.*)?$/.test(field.trim());
  const first = field.trim().split(/\s+/)[0] ?? '';
  return isChallenge && !first.includes('=') ? undefined : `WWW-Authenticate is ${field}, which begins with no scheme`;
}
