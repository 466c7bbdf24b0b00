import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** Where webhooks may go that rows ask for. Whoever starts the service chooses its own addresses besides. */
export interface WebhookTargets {
  /** Whether to this machine and its network too. */
  readonly allowsPrivate: boolean;
  /** The hosts, `*.example.com` for all below one; nothing = all. */
  readonly hosts: readonly string[] | undefined;
  readonly isHttpsOnly: boolean;
  /** Whether who subscribes with an address of this machine or its network is refused; else it finds out that nothing comes. */
  readonly refusesPrivate: boolean;
}

const urlLengthMost = 2048;

/** What an address has to be that it is not; nothing where something can be sent to it. What its name leads to is found out when connecting. */
export function targetFlaw(text: string, { hosts, isHttpsOnly, refusesPrivate }: WebhookTargets): string | undefined {
  const url = text.length <= urlLengthMost ? URL.parse(text) : null;
  if (!url || (url.protocol !== 'https:' && (isHttpsOnly || url.protocol !== 'http:')))
    return `an address of ${isHttpsOnly ? 'https' : 'http or https'}`;
  if (url.username !== '' || url.password !== '') return 'an address without a name and password';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (refusesPrivate && (host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))))
    return 'an address that is public';
  if (hosts && !hosts.some((pattern) => isOf(host, pattern.toLowerCase()))) return `an address at ${hosts.join(', ')}`;
  return undefined;
}

function isOf(host: string, pattern: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
