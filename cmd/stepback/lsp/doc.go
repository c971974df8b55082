// Package lsp implements the verb lsp: a server of the Language Server Protocol over standard input and output, through
// which editors show the findings of validate and retries review while a definition is written. The protocol's messages
// and types are those of glsp, and its transport is jsonrpc2.
//
// A single worker computes diagnostics. A change of a document cancels the work on its previous version, so the worker
// never falls behind the keys. Other requests are answered in the order in which they arrive.
package lsp
