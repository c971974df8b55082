"use strict";
const { compatible } = require("@stepback/asl");

const validatePath = (path, context) => compatible.validatePath(path, context);

const AslPathValidatorConfig = {
  format_names: {
    path: "asl_path",
    reference_path: "asl_ref_path",
    payload_template: "asl_payload_template",
    result_path: "asl_result_path",
  },
  silent: true,
};

/** Adds a format for each kind of path to an Ajv instance. */
function registerAll(ajv, config = AslPathValidatorConfig) {
  for (const context of Object.keys(AslPathValidatorConfig.format_names)) {
    ajv.addFormat(config.format_names[context], (path) => {
      const result = validatePath(path, context);
      if (!config.silent && !result.isValid) {
        ajv.logger.error(`asl_path_validator: code:${result.code}. pathType:${context}. input: ${path}`);
      }
      return result.isValid;
    });
  }
}

module.exports = { validatePath, AslPathValidatorConfig, registerAll };
