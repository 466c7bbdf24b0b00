/** How long a second signal counts as the first: Ctrl-C reaches the whole process group, and npm hands it on once more. */
const echoMs = 1_000;

/**
 * Calls back on the first SIGINT or SIGTERM. A later one that is no echo of it ends the process with exit code 1 at once.
 * The handlers stay until the process ends, so that an echo cannot meet it without them; they do not keep it from ending.
 */
export function onStop(stop: (signal: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs === undefined) {
      firstMs = nowMs;
      stop(signal);
    } else if (nowMs - firstMs > echoMs) process.exit(1);
  };
  process.on('SIGINT', hear);
  process.on('SIGTERM', hear);
}
