import { isToken } from '../../kinds/http-token.ts';

/** What is wrong with the challenges of a 401 (RFC 9110 section 11.6.1): there has to be one, by a scheme's name. */
export function challengeFlaw(field: string | undefined): string | undefined {
  if (field === undefined || field.trim() === '') return 'there is no WWW-Authenticate';
  const [first = ''] = field.trim().split(/\s+/);
  return isToken(first) ? undefined : `WWW-Authenticate is ${field}, which begins with no scheme`;
}
