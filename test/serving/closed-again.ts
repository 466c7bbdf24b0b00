/** A server that is left and closed whenever the process that started this one says so, and opened anew on another port, which is told. */
import { listen } from '../../src/serve/http/socket.ts';

let hear = (_said: unknown): void => {};
process.on('message', (said) => hear(said));

for (;;) {
  const { port, leave, close } = await listen(
    async (call) => {
      const body = await call.body(100);
      // Some are answered at once, some only while the server closes.
      await new Promise((resolve) => setTimeout(resolve, port % 7));
      return { status: 200, headers: {}, body };
    },
    // Whoever asks on may be slow to: it ends once all of them have been told.
    { port: 0, host: '127.0.0.1', restMs: 600_000, graceMs: 600_000 },
  );
  const closes = Promise.withResolvers<void>();
  hear = (said) => (said === 'close' ? closes.resolve() : leave());
  process.send?.(port);
  await closes.promise;
  await close();
}
