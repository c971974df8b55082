/** A definition: text in JSON or YAML, a template that declares it (SAM, CloudFormation, serverless.yml), or an object. */
export type Definition = string | object;

export interface DefinitionOptions {
  /** Name in messages. The suffix .yaml, .yml or .json decides the format; otherwise the text does. */
  file?: string;
  /** State machine of a template that declares several. */
  machine?: string;
  /** Check as a state machine of type EXPRESS. */
  express?: boolean;
  /** Values of placeholders ${Name}. */
  substitutions?: Record<string, string>;
}

export interface Place {
  /** Location in Step Functions' notation, such as /States/Pay/Next. */
  location?: string;
  /** Counted from 1; column in characters. */
  line: number;
  column: number;
}

export interface Diagnostic extends Place {
  severity: "ERROR" | "WARNING" | "ADVICE";
  /** Code as AWS reports it, such as SCHEMA_VALIDATION_FAILED, or a rule of review. */
  code: string;
  message: string;
  /** What would be accepted. */
  hint?: string;
  /** Further places of the same finding. */
  also?: Place[];
}

export interface Validation {
  file: string;
  /** FAIL if there is an error, as in ValidateStateMachineDefinition. */
  result: "OK" | "FAIL";
  diagnostics: Diagnostic[];
  /** Placeholders without a value; the text they stand for is not checked. */
  placeholders?: string[];
}

/** Options that are not supported, or text that cannot be read at all. */
export class AslError extends Error {
  /** Error code of AWS's API if it refuses the same, such as "ValidationException" or "InvalidDefinition". */
  readonly code?: string;
}

/**
 * Loads the WebAssembly module. In Node it is optional: the first call of a function loads it. In a browser await it before
 * the first call; by default it fetches asl.wasm beside the script.
 */
export function load(from?: string | URL | Response | BufferSource | WebAssembly.Module): Promise<void>;

/** Checks a definition as AWS Step Functions does when a state machine is created, and the values on its paths. */
export function validate(definition: Definition, options?: DefinitionOptions): Validation;

export interface ReviewOptions extends DefinitionOptions {
  /** Executions started per second, for the rules about load; needs capacity. */
  rate?: number;
  /** Calls per second that the called services can handle. */
  capacity?: number;
}

/** Totals that the retries of a state can reach. */
export interface StateRetries {
  location: string;
  retries: number;
  attempts: number;
  longestWaitSeconds: number;
  /** Missing without a timeout. */
  attemptSeconds?: number;
  longestSeconds?: number;
}

export interface Review extends Validation {
  states: StateRetries[];
}

export interface Fixed {
  /** The text with its fixes. Comments and the other lines stay as they are. */
  text: string;
  fixed: number;
  /** Why a fix could not be made. */
  left?: string;
  /** Review of the fixed text. */
  review: Review;
}

export interface Rule {
  code: string;
  severity: "ERROR" | "WARNING" | "ADVICE";
  title: string;
  why: string;
}

/** Reviews the Retry and Catch blocks of a definition. A definition that AWS would refuse is not reviewed. */
export function review(definition: Definition, options?: ReviewOptions): Review;

/** Fixes the findings of review that can be fixed mechanically. */
export function fix(definition: Definition, options?: ReviewOptions): Fixed;

/** Draws a valid definition. */
export function graph(definition: Definition, options?: DefinitionOptions & { title?: string; format?: "svg" | "mermaid" | "dot" }): string;

/** Returns a rule of review, or all of them. */
export function explain(code: string): Rule;
export function explain(): Rule[];

/** JSON as text, as in AWS's API, or a value that is converted to it. A string is always JSON text. */
export type Json = string | number | boolean | null | object;

/** The request of AWS's TestState, whose definition is the first argument, and what this library adds to it. */
export interface TestStateOptions {
  /** State of a state machine, at any depth. Without it, the definition is a single state. */
  stateName?: string;
  /** Input of the state. Default {}. */
  input?: Json;
  /** INFO shows the outcome, DEBUG also the data after every step. TRACE adds nothing here. Default INFO. */
  inspectionLevel?: "INFO" | "DEBUG" | "TRACE";
  /** Result or error to use instead of calling the service. A Task state needs it: this library calls no service. */
  mock?: StateMock;
  /** Values of the state's variables. */
  variables?: Json;
  /** Context object, instead of a generated one; needs a mock. */
  context?: Json;
  stateConfiguration?: StateConfiguration;
  /** Role of the execution; it is not checked. */
  roleArn?: string;
  revealSecrets?: boolean;

  /** As in DefinitionOptions. */
  file?: string;
  machine?: string;
  substitutions?: Record<string, string>;
  /** Time of the virtual clock, on which a Wait state does not wait. Default: the current time. */
  now?: string | Date;
  /** Makes random values and generated names repeatable: an integer from 0. */
  seed?: number;
}

/** Either result or errorOutput. */
export interface StateMock {
  result?: Json;
  errorOutput?: { error?: string; cause?: string };
  /** How to check result against the response model of the service. Default STRICT. */
  fieldValidationMode?: "STRICT" | "PRESENT" | "NONE";
}

export interface StateConfiguration {
  /** Number of retries that every retrier has already made. */
  retrierRetryCount?: number;
  /** State inside a Map or Parallel state that raised the error. */
  errorCausedByState?: string;
  /** Number of failed iterations of a Map state. */
  mapIterationFailureCount?: number;
  /** What the ItemReader of a Map state reads. */
  mapItemReaderData?: Json;
}

/** The response of AWS's TestState. */
export interface StateTest {
  status: "SUCCEEDED" | "FAILED" | "RETRIABLE" | "CAUGHT_ERROR";
  /** JSON text. */
  output?: string;
  error?: string;
  cause?: string;
  /** State that would be entered next. */
  nextState?: string;
  /** With inspectionLevel DEBUG or TRACE. */
  inspectionData?: InspectionData;
}

/** The data after each step that the state reached, as JSON text. */
export interface InspectionData {
  input?: string;
  afterInputPath?: string;
  afterParameters?: string;
  afterArguments?: string;
  result?: string;
  afterResultSelector?: string;
  afterResultPath?: string;
  variables?: string;
  errorDetails?: { catchIndex?: number; retryIndex?: number; retryBackoffIntervalSeconds?: number };
  afterItemsPath?: string;
  afterItemSelector?: string;
  afterItemBatcher?: string;
  afterItemsPointer?: string;
  maxConcurrency?: number;
  toleratedFailureCount?: number;
  toleratedFailurePercentage?: number;
}

/** Runs a single state as AWS's TestState does, on a virtual clock. Throws an AslError with a code if AWS refuses the test. */
export function testState(definition: Definition, options?: TestStateOptions): StateTest;
