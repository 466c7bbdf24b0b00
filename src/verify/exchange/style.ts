/**
 * `plain`: only what is required, each value as ordinary as its shape lets it be; `full`: everything that the shape admits, some of
 * what is optional left out; `whole`: what is required as in `plain`, and all that is optional, so that rules about what is required
 * hardly ever refuse it.
 */
export type SampleStyle = 'plain' | 'full' | 'whole';
