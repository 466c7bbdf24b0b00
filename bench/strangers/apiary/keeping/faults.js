/** One deliberate fault at a time, named by APIARY_FAULT; none in an ordinary start. */
export const broken = (id) => process.env.APIARY_FAULT === id;
