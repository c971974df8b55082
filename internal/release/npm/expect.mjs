import matchers from "./expect.cjs";

export const { toHaveSucceeded, toHaveFailed, toHaveAttempts, toHaveWaits } = matchers;
