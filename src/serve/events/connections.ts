/** How many connections one receiver gets. */
export const connectionsMax = 32;
