// Package graph draws state machines. The states of a definition are in layers from the start to the end. Parallel
// and Map states are boxes around the states they contain, and catchers are bundled to one line per target. On top,
// the package draws the path, the attempts and the failures of an execution. It writes SVG, PNG, Mermaid and
// Graphviz's DOT.
//
// The layout is the package's own. In the Amazon States Language, no transition crosses the border of a Parallel or
// Map state, so each of them is laid out by itself and then becomes a node of that size. The package does no I/O,
// and the same machine always gives the same picture.
package graph
