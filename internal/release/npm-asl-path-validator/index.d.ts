export type AslPathContext = "path" | "reference_path" | "result_path" | "payload_template";

export type ValidationResult =
  | { isValid: true }
  | {
      isValid: false;
      code: "parse_error" | "exp_has_functions" | "exp_has_variable" | "exp_has_non_reference_path_ops";
      message?: string;
    };

export declare const validatePath: (path: string, context: AslPathContext) => ValidationResult;

export interface Config {
  format_names: Record<AslPathContext, string>;
  silent: boolean;
}

export declare const AslPathValidatorConfig: Config;

/** Adds a format for each kind of path to an Ajv instance. */
export declare const registerAll: (
  ajv: { addFormat(name: string, check: (text: string) => boolean): unknown; logger: unknown },
  config?: Config
) => void;
