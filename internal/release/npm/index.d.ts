/** Returns the path of the stepback binary. Throws if the package of this platform is not installed. */
export function binary(): string;

export interface StartOptions {
  /** Data directory. By default data are kept in memory, or where a system has none for files in a temporary directory, and are gone after stop(). */
  data?: string;
  /**
   * Waits (Retry, Wait, timeouts, delays of queues) take no time; timestamps advance as if they had. Functions run for real,
   * and time stands still meanwhile. Default false.
   */
  virtualTime?: boolean;
  /**
   * Seconds that pass in each real second, from 0.01 to 3600: with 60, a wait of an hour takes a minute. Unlike in virtual
   * time, everything keeps its order and time passes while functions run, so their timeouts are that much shorter. Not
   * together with virtualTime. Default 1.
   */
  timeScale?: number;
  /**
   * An integer from 1. With the same seed, the executions that run() starts have the same jitter and random values in every
   * server, by their order. Not together with data. By default they differ each time.
   */
  seed?: number;
  /** Further arguments of `stepback serve`, such as ["--watch", "definitions"]. */
  args?: string[];
  /** Account ID of twelve digits that the server's own calls use. Default "000000000000". */
  account?: string;
  /** Region. Default "us-east-1". */
  region?: string;
}

/** Starts `stepback serve` on a free port. Rejects if the process ends before it serves. */
export function start(options?: StartOptions): Promise<Server>;

export interface Server {
  readonly endpoint: string;
  readonly virtualTime: boolean;
  readonly timeScale: number;
  readonly seed?: number;
  /** Variables with which an AWS SDK or the AWS CLI uses this server. */
  readonly env: Record<string, string>;
  /** Calls an operation of the Step Functions API. Rejects with an Error whose name is AWS's error code. */
  call(operation: string, request?: object): Promise<any>;
  /**
   * Runs an execution and waits until it ends. machine is a definition (an object, or text that begins with "{"), the
   * name of a state machine, or its ARN.
   */
  run(machine: object | string, input?: unknown): Promise<Execution>;
  /** Ends the server. Data that were not given a directory are removed. */
  stop(): Promise<void>;
}

export interface Execution {
  readonly arn: string;
  readonly status: "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";
  readonly output: any;
  readonly error?: string;
  readonly cause?: string;
  /** Events of the execution's history, as GetExecutionHistory returns them. */
  readonly events: any[];
  /** Number of times that the task of a state was attempted. */
  attempts(state: string): number;
  /** True if time was virtual, so that waits took exactly as long as they should. */
  readonly virtualTime: boolean;
  /** Seconds that passed in each real second. */
  readonly timeScale: number;
  /** Seconds from each failed attempt of a state to its retry. */
  waits(state: string): number[];
}
