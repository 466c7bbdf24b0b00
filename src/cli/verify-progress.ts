import type { Progress } from '../verify/options.ts';
import { counted, shown, type Terminal } from './terminal.ts';

const everyMs = 100;

/** One line that says how far it is, where a person sees the output as it comes. */
export function startProgress(terminal: Terminal): { readonly show: (progress: Progress) => void; clear(): void } {
  let lastMs = 0;
  let isShown = false;
  return {
    show({ done, of, requests, broken, now }) {
      if (!terminal.isTTY || Date.now() - lastMs < everyMs) return;
      lastMs = Date.now();
      isShown = true;
      const line = `${done} of ${counted(of, 'case')}, ${counted(requests, 'request')}, ${broken} broken: ${shown(now)}`;
      terminal.write(`\r\u001b[K${line.slice(0, terminal.columns - 1)}`);
    },
    clear() {
      if (isShown) terminal.write('\r\u001b[K');
      isShown = false;
    },
  };
}
