"use strict";
const { compatible } = require("@stepback/asl");

/** As in asl-validator, options without a member mean false. */
module.exports = function validator(definition, options = { checkPaths: true, checkArn: true }) {
  const errors = compatible.validateAsl(definition, { checkPaths: !!options.checkPaths, checkArn: !!options.checkArn });
  return {
    isValid: errors.length === 0,
    errors,
    errorsText: (separator = "\n") => errors.map((e) => `${e["Error code"]}: ${e.Message}`).join(separator),
  };
};
