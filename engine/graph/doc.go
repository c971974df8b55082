// Package graph draws state machines: the states of a definition in layers from the start to the end, Parallel and
// Map states as boxes around the states they contain, catchers bundled to one line per target, and on top the path,
// the attempts and the failures of an execution. It writes SVG, PNG, Mermaid and Graphviz's DOT.
//
// The layout is the package's own. In the Amazon States Language no transition crosses the border of a Parallel or
// Map state, so each of them is laid out by itself and then becomes a node of that size. The package does no I/O, and
// the same machine always gives the same picture.
package graph
