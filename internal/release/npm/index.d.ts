/** Returns the path of the stepback binary. Throws if the package of this platform is not installed. */
export function binary(): string;

export interface StartOptions {
  /** Data directory. By default a temporary one, which stop() removes. */
  data?: string;
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
  /** Variables with which an AWS SDK or the AWS CLI uses this server. */
  readonly env: Record<string, string>;
  /** Calls an operation of the Step Functions API. Rejects with an Error whose name is AWS's error code. */
  call(operation: string, request?: object): Promise<any>;
  /**
   * Runs an execution and waits until it ends. machine is a definition (an object, or text that begins with "{"), the
   * name of a state machine, or its ARN.
   */
  run(machine: object | string, input?: unknown): Promise<Execution>;
  /** Ends the server and removes its temporary data. */
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
  /** Seconds from each failed attempt of a state to its retry. */
  waits(state: string): number[];
}
