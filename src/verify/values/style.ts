/** `plain`: only what is required, each value as ordinary as its shape lets it be; `full`: everything that the shape admits. */
export type Style = 'plain' | 'full';
