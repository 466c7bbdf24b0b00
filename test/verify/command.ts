import { main } from '../../src/cli.ts';

/** Carries out `ninefold` with these words, in a terminal without colour; gives its exit code and what it wrote. */
export async function command(words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const terminal = {
    isTTY: false,
    columns: 120,
    colour: false,
    write(text: string) {
      out += text;
    },
    complain(text: string) {
      err += text;
    },
  };
  const code = await main(words, terminal);
  return { code, out, err };
}
