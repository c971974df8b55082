// Package markup executes pages whose escaping has been settled beforehand: html/template puts an escaper into every
// action of a template when the pages are generated, and a Set executes what it wrote.
//
// html/template itself is not in the program. It calls methods by their names, so that with it the linker has to keep
// every exported method there is, of all packages, which is a sixth of the command.
//
// The package reads templates as text/template/parse does, and follows html/template in everything that it takes:
// fields, map entries, variables, if, with, range, template, functions, and of html/template's own functions and, or,
// not, eq, ne, lt, le, gt, ge, index, len and printf. It never calls a method, never decides how something is escaped,
// and never writes a value that no escaper has seen.
package markup
