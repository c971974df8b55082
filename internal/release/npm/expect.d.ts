interface Result {
  pass: boolean;
  message: () => string;
}

/** Matchers for expect.extend of vitest and jest, on an Execution. */
export function toHaveSucceeded(this: any, received: unknown, output?: unknown): Result;
export function toHaveFailed(this: any, received: unknown, error?: string): Result;
export function toHaveAttempts(this: any, received: unknown, state: string, attempts: number): Result;
export function toHaveWaits(this: any, received: unknown, state: string, expected: (number | [number, number])[],
  options?: { tolerance?: number }): Result;

/** What the matchers add to an assertion. For vitest: declare module "vitest" { interface Assertion<T> extends StepbackMatchers {} } */
export interface StepbackMatchers<R = unknown> {
  /** The execution succeeded, with this output if it is given. */
  toHaveSucceeded(output?: unknown): R;
  /** The execution failed, timed out or was aborted, with this error if it is given. */
  toHaveFailed(error?: string): R;
  /** The task of a state was attempted this often. */
  toHaveAttempts(state: string, attempts: number): R;
  /** Seconds from each failed attempt to its retry, or [least, most] with jitter; each may take tolerance (1) longer. */
  toHaveWaits(state: string, expected: (number | [number, number])[], options?: { tolerance?: number }): R;
}
