declare namespace validator {
  interface ValidationOptions {
    readonly checkPaths: boolean;
    readonly checkArn: boolean;
  }
  interface StateMachineError {
    "Error code": string;
    Message: string;
    schemaError?: { instancePath: string; schemaPath: string };
    /** Location in Step Functions' notation; asl-validator has none. */
    location?: string;
    /** What would be accepted; asl-validator has none. */
    hint?: string;
  }
}

declare function validator(
  definition: object,
  options?: validator.ValidationOptions
): { isValid: boolean; errors: validator.StateMachineError[]; errorsText: (separator?: string) => string };

export = validator;
