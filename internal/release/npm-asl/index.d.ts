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
export class AslError extends Error {}

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
