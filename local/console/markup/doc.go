// Package markup executes templates that were escaped in advance: when the pages are generated, html/template puts an
// escaper into every action of a template, and a Set executes the result.
//
// The program does not contain html/template itself. That package calls methods by name, so that the linker would
// have to keep every exported method of all packages, a sixth of the command's size.
//
// Templates are parsed by text/template/parse. The package behaves like html/template in everything it supports:
// fields, map entries, variables, if, with, range, template, functions, and of html/template's own functions and, or,
// not, eq, ne, lt, le, gt, ge, index, len and printf. It never calls a method, never decides how something is
// escaped, and never writes a value that has not passed an escaper.
package markup
