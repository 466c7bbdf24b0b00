import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const whole = crypto.scrypt;
const little = (password: string, salt: Buffer, length: number, options: crypto.ScryptOptions, done: Done) =>
  whole(password, salt, length, { ...options, N: 16 }, done);
type Done = (error: Error | null, key: Buffer) => void;

/**
 * Passwords cost the tests of this process little, whatever their hashes say of the work: each is hashed and compared by the same function.
 * What has to do the whole work is done in `wholeWork`.
 */
export function cheapPasswords(): void {
  // Only the form with options is asked for.
  crypto.scrypt = little as typeof crypto.scrypt;
  syncBuiltinESMExports();
}

export async function wholeWork(act: () => Promise<void>): Promise<void> {
  const before = crypto.scrypt;
  crypto.scrypt = whole;
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    crypto.scrypt = before;
    syncBuiltinESMExports();
  }
}
